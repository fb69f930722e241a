// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/updates.h"

namespace dojo::moves::rules {

namespace {

class OpenUpdate final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "open_update",
        .group = "computation",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The update `d += e` at P (or another, or `d fma+= a * b`) becomes the assignment `d = "
            "d + e`.",
        .needs = "e is an operand, or the product of a contraction, and no element of d.",
        .inverse = "close_update",
        .before = R"(kernel k
in x f32 [64]
in w f32 [64]
inout y f32 [64]

64
| y[{0}] fma+= x[{0}] * w[{0}]
)",
        .move = "open_update @0.0",
        .after = R"(kernel k
in x f32 [64]
in w f32 [64]
inout y f32 [64]

64
| y[{0}] = fma(x[{0}], w[{0}], y[{0}])
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isLeaf() && opened(place.node->leaf())) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Node& node = *state.visit(placeArg(args, 0))->node;
    if (node.isLeaf() && opened(node.leaf())) return {};
    return refuse("move.shape", "no update that is one operation stands here", placeArg(args, 0));
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::Node& node = *ir::find(out, placeArg(args, 0));
    node.leaf() = *opened(node.leaf());
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"close_update", args}};
  }
};

}  // namespace

const Rule& openUpdate() {
  static const OpenUpdate rule;
  return rule;
}

}  // namespace dojo::moves::rules
