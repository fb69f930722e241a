// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/updates.h"

namespace dojo::moves::rules {

namespace {

class CloseUpdate final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "close_update",
        .group = "computation",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The assignment `d = d + e` at P (or with another operator of reductions, or an fma) "
            "becomes the update `d += e`.",
        .needs = "d is one operand, of an fma the added one, and no other is an element of it.",
        .inverse = "open_update",
        .before = R"(kernel k
in x f32 [64]
in w f32 [64]
inout y f32 [64]

64
| y[{0}] = fma(x[{0}], w[{0}], y[{0}])
)",
        .move = "close_update @0.0",
        .after = R"(kernel k
in x f32 [64]
in w f32 [64]
inout y f32 [64]

64
| y[{0}] fma+= x[{0}] * w[{0}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isLeaf() && closed(place.node->leaf())) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Node& node = *state.visit(placeArg(args, 0))->node;
    if (node.isLeaf() && closed(node.leaf())) return {};
    return refuse("move.shape", "no assignment that updates what it assigns to stands here",
                  placeArg(args, 0));
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::Node& node = *ir::find(out, placeArg(args, 0));
    node.leaf() = *closed(node.leaf());
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"open_update", args}};
  }
};

}  // namespace

const Rule& closeUpdate() {
  static const CloseUpdate rule;
  return rule;
}

}  // namespace dojo::moves::rules
