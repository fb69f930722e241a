// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

/// True where guard or extent of a scope, not its body, mention the variable.
bool headMentions(const ir::Node& scope, int var) {
  ir::Scope head{scope.scope().extent, {}, {}};
  ir::Node node(std::move(head));
  node.guard = scope.guard;
  return ir::mentionsVariable(node, var);
}

class SwapScopes final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "swap_scopes",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The scope P and the scope that is all of its body change places. Each keeps its "
            "guard and mapping.",
        .needs =
            "Perfectly nested; guard and extent of the inner scope don't depend on the variable "
            "of P; the only reversed dependences are self-updates by one reduction operator.",
        .inverse = "swap_scopes",
        .before = R"(kernel column_sums
in x f32 [8, 64]
inout s f32 [64]

64
| 8
| | s[{0}] += x[{1}, {0}]
)",
        .move = "swap_scopes @0",
        .after = R"(kernel column_sums
in x f32 [8, 64]
inout s f32 [64]

8
| 64
| | s[{1}] += x[{0}, {1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (isPerfectPair(*place.node)) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path innerPlace = child(place, 0);
    if (Status status = needsScope(state, place); !status) return status;
    const ir::Node& outer = *state.visit(place)->node;
    if (!isPerfectPair(outer)) {
      return refuse("move.shape", "the body of the scope is not one scope alone", place);
    }
    const int depth = depthOf(place);
    const ir::Node& inner = outer.scope().body.front();
    DOJO_NEEDS(!headMentions(inner, depth),
               refuse("move.shape", "the inner scope depends on the variable of the outer one",
                      innerPlace));
    const auto sites = state.accesses().below(place);
    const auto reversal = findReversal(
        state, sites, sites, ir::equalThen(depth, {ir::Relation::less, ir::Relation::greater}),
        {iteration(state.program(), innerPlace)});
    DOJO_NEEDS(!reversal, dependenceError(state, *reversal, place));
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const int depth = depthOf(place);
    ir::Program out = state.program();
    ir::Node& outer = *ir::find(out, place);
    ir::Node& inner = outer.scope().body.front();
    for (ir::Node& node : inner.scope().body) {
      ir::forEachAffine(node, [&](ir::Affine& expr) {
        expr = expr.renamed([&](int var) {
          if (var == depth) return depth + 1;
          return var == depth + 1 ? depth : var;
        });
      });
    }
    std::swap(outer.guard, inner.guard);
    std::swap(outer.scope().extent, inner.scope().extent);
    std::swap(outer.scope().mapping, inner.scope().mapping);
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"swap_scopes", args}};
  }
};

}  // namespace

const Rule& swapScopes() {
  static const SwapScopes rule;
  return rule;
}

}  // namespace dojo::moves::rules
