// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class SwapSiblings final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "swap_siblings",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect = "The node P and its next sibling change places.",
        .needs =
            "They are independent, but for updates of one accumulator by one reduction operator; "
            "they differ.",
        .inverse = "swap_siblings",
        .before = R"(kernel two_results
in x f32 [64]
out y f32 [64]
out z f32 [64]

64
| y[{0}] = exp(x[{0}])
| z[{0}] = x[{0}] * 3
)",
        .move = "swap_siblings @0.0",
        .after = R"(kernel two_results
in x f32 [64]
out y f32 [64]
out z f32 [64]

64
| z[{0}] = x[{0}] * 3
| y[{0}] = exp(x[{0}])
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (ir::find(state.program(), sibling(place.path, 1)) != nullptr) {
      out.push_back({place.path});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path nextPlace = sibling(place, 1);
    if (Status status = needsNextSibling(state, place); !status) return status;
    if (*state.visit(place)->node == *state.visit(nextPlace)->node) {
      return refuse("move.no-effect", "the node and its next sibling are equal", place);
    }
    const auto reversal =
        findReversal(state, state.accesses().below(place), state.accesses().below(nextPlace),
                     ir::equalThen(depthOf(place), {}), {execution(place), execution(nextPlace)});
    DOJO_NEEDS(!reversal, dependenceError(state, *reversal, place));
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    std::swap(*ir::find(out, place), *ir::find(out, sibling(place, 1)));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"swap_siblings", args}};
  }
};

}  // namespace

const Rule& swapSiblings() {
  static const SwapSiblings rule;
  return rule;
}

}  // namespace dojo::moves::rules
