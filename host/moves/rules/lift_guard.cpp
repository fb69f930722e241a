// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/guards.h"

namespace dojo::moves::rules {

namespace {

class LiftGuard final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "lift_guard",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"i", ArgKind::number}},
        .effect =
            "Term i of the guard of the first child of the scope P moves from all children to P "
            "itself.",
        .needs =
            "Every child has the term, which doesn't mention P's variable; P's guard has no term "
            "on the same expression.",
        .inverse = "push_guard",
        .before = R"(kernel rows
in x f32 [8, 64]
inout y f32 [8, 64]

8
| 64
| | y[{0}, {1}] = x[{0}, {1}] * 3 if {0} in [2, 8)
)",
        .move = "lift_guard @0.0 0",
        .after = R"(kernel rows
in x f32 [8, 64]
inout y f32 [8, 64]

8
| 64 if {0} in [2, 8)
| | y[{0}, {1}] = x[{0}, {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Guard& guard = place.node->scope().body.front().guard;
    for (std::size_t i = 0; i < guard.size(); ++i) {
      out.push_back({place.path, static_cast<std::int64_t>(i)});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsScope(state, place); !status) return status;
    const Result<ir::GuardTerm> term = termAt(state, child(place, 0), numberArg(args, 1));
    if (!term) return term.error();
    DOJO_NEEDS(
        !term->expr.uses(depthOf(place)),
        refuse("move.guard", "the term depends on the variable of the scope", child(place, 0)));
    const ir::Node& node = *state.visit(place)->node;
    DOJO_NEEDS(!findTerm(node.guard, term->expr),
               refuse("move.guard", "the scope guards the same expression already", place));
    if (const int k = lacking(node.scope().body, *term); !DOJO_CLAUSE(k < 0)) {
      return refuse("move.guard", "this node of the scope doesn't have the term", child(place, k));
    }
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termAt(state, child(place, 0), numberArg(args, 1)).value();
    ir::Program out = state.program();
    ir::Node& node = *ir::find(out, place);
    for (ir::Node& inner : node.scope().body) inner.guard = without(std::move(inner.guard), term);
    node.guard.push_back(term);
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program& after) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termAt(before, child(place, 0), numberArg(args, 1)).value();
    return {Move{"push_guard", {place, *findTerm(ir::find(after, place)->guard, term.expr)}}};
  }

 private:
  /// The first child without the term, or -1.
  static int lacking(const std::vector<ir::Node>& body, const ir::GuardTerm& term) {
    const auto found = std::find_if(body.begin(), body.end(), [&](const ir::Node& node) {
      return std::find(node.guard.begin(), node.guard.end(), term) == node.guard.end();
    });
    return found == body.end() ? -1 : static_cast<int>(found - body.begin());
  }
};

}  // namespace

const Rule& liftGuard() {
  static const LiftGuard rule;
  return rule;
}

}  // namespace dojo::moves::rules
