// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/flow.h"
#include "moves/rules/guards.h"

namespace dojo::moves::rules {

namespace {

class PushGuard final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "push_guard",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"i", ArgKind::number}},
        .effect = "Term i of the guard of the scope P moves from P to each of its children.",
        .needs =
            "No child has a term on the same expression; a data-dependent extent can be read "
            "without the term.",
        .inverse = "lift_guard",
        .before = R"(kernel rows
in x f32 [8, 64]
inout y f32 [8, 64]

8
| 64 if {0} in [2, 8)
| | y[{0}, {1}] = x[{0}, {1}] * 3
)",
        .move = "push_guard @0.0 0",
        .after = R"(kernel rows
in x f32 [8, 64]
inout y f32 [8, 64]

8
| 64
| | y[{0}, {1}] = x[{0}, {1}] * 3 if {0} in [2, 8)
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Guard& guard = place.node->guard;
    for (std::size_t i = 0; i < guard.size(); ++i) {
      out.push_back({place.path, static_cast<std::int64_t>(i)});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsScope(state, place); !status) return status;
    const Result<ir::GuardTerm> term = termAt(state, place, numberArg(args, 1));
    if (!term) return term.error();
    const ir::Visit& visit = *state.visit(place);
    const ir::Scope& scope = visit.node->scope();
    if (const int k = guarding(scope.body, *term); !DOJO_CLAUSE(k < 0)) {
      return refuse("move.guard", "the node guards the same expression already", child(place, k));
    }
    if (scope.extent.isConstant()) return {};
    const ir::Guard others = without(visit.node->guard, *term);
    const auto stays = [&](const ir::Access& access) {
      const ir::Buffer& buffer = state.program().buffer(access.buffer);
      for (std::size_t d = 0; d < access.indices.size(); ++d) {
        if (!alwaysWithin(state.program(), visit.enclosing, others, access.indices[d].affine, 0,
                          buffer.dims[d].extent)) {
          return false;
        }
      }
      return true;
    };
    if (DOJO_CLAUSE(stays(scope.extent.range->first) && stays(scope.extent.range->last))) return {};
    return refuse("move.bounds", "the extent would be read out of bounds without the term", place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termAt(state, place, numberArg(args, 1)).value();
    ir::Program out = state.program();
    ir::Node& node = *ir::find(out, place);
    node.guard = without(std::move(node.guard), term);
    for (ir::Node& inner : node.scope().body) inner.guard.push_back(term);
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program& after) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termAt(before, place, numberArg(args, 1)).value();
    const ir::Guard& guard = ir::find(after, child(place, 0))->guard;
    return {Move{"lift_guard", {place, *findTerm(guard, term.expr)}}};
  }

 private:
  /// The first child with a term on the same expression, or -1.
  static int guarding(const std::vector<ir::Node>& body, const ir::GuardTerm& term) {
    const auto found = std::find_if(body.begin(), body.end(), [&](const ir::Node& node) {
      return findTerm(node.guard, term.expr).has_value();
    });
    return found == body.end() ? -1 : static_cast<int>(found - body.begin());
  }
};

}  // namespace

const Rule& pushGuard() {
  static const PushGuard rule;
  return rule;
}

}  // namespace dojo::moves::rules
