// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/parse.h"
#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/guards.h"

namespace dojo::moves::rules {

namespace {

class AddGuard final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "add_guard",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"term", ArgKind::text}},
        .effect =
            "The guard of P gets a term, written as in the program. Offered are the terms of its "
            "siblings and of the scopes around it.",
        .needs =
            "The ranges of the variables, the guards around P and its own imply the term; P's "
            "guard has no term on the same expression.",
        .inverse = "drop_guard",
        .before = R"(kernel border
in x f32 [64]
inout y f32 [64]

66
| 2 if {0} in [1, 65)
| | y[{0} - 1] *= x[{0} - 1]
)",
        .move = "add_guard @0.0.0 \"{0} in [1, 65)\"",
        .after = R"(kernel border
in x f32 [64]
inout y f32 [64]

66
| 2 if {0} in [1, 65)
| | y[{0} - 1] *= x[{0} - 1] if {0} in [1, 65)
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    std::vector<ir::GuardTerm> terms;
    const auto offer = [&](const ir::Node& node) {
      for (const ir::GuardTerm& term : node.guard) {
        if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
      }
    };
    for (const ir::Node* outer : place.enclosing) offer(*outer);
    for (const ir::Node& sibling : *ir::siblings(state.program(), place.path)) offer(sibling);
    for (const ir::GuardTerm& term : terms) out.push_back({place.path, ir::printGuardTerm(term)});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const Result<ir::GuardTerm> term = termArg(state, args);
    if (!term) return term.error();
    const ir::Visit& visit = *state.visit(place);
    DOJO_NEEDS(!findTerm(visit.node->guard, term->expr),
               refuse("move.guard", "the node guards the same expression already", place));
    if (DOJO_CLAUSE(implied(state, visit, *term))) return {};
    return refuse("move.guard", "with " + ir::printGuardTerm(*term) + " the node may run less",
                  place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::find(out, placeArg(args, 0))->guard.push_back(termArg(state, args).value());
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program& after) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termArg(before, args).value();
    return {Move{"drop_guard", {place, *findTerm(ir::find(after, place)->guard, term.expr)}}};
  }

 private:
  static Result<ir::GuardTerm> termArg(const State& state, const std::vector<Arg>& args) {
    std::vector<ir::Interval> ranges;
    for (const ir::Node* outer : state.visit(placeArg(args, 0))->enclosing) {
      ranges.push_back(ir::variableRange(state.program(), outer->scope()));
    }
    Result<ir::GuardTerm> term = ir::parseGuardTerm(textArg(args, 1), ranges);
    if (term) return term;
    return refuse("move.arguments", term.error().message, placeArg(args, 0));
  }
};

}  // namespace

const Rule& addGuard() {
  static const AddGuard rule;
  return rule;
}

}  // namespace dojo::moves::rules
