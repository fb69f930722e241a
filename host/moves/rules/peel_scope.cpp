// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/sizes.h"

namespace dojo::moves::rules {

namespace {

class PeelScope final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "peel_scope",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"k", ArgKind::number}},
        .effect =
            "The scope P of N iterations becomes two siblings of its first k and its other N-k "
            "iterations. Both keep guard and mapping.",
        .needs = "N is a constant and 0 < k < N.",
        .inverse = "merge_peeled",
        .before = R"(kernel scale
in x f32 [65]
out y f32 [65]

65
| y[{0}] = x[{0}] * 3
)",
        .move = "peel_scope @0 64",
        .after = R"(kernel scale
in x f32 [65]
out y f32 [65]

64
| y[{0}] = x[{0}] * 3
1
| y[{0} + 64] = x[{0} + 64] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !place.node->scope().extent.isConstant()) return;
    for (const std::int64_t k : cuts(state.target(), place.node->scope().extent.count)) {
      out.push_back({place.path, k});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t k = numberArg(args, 1);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    const std::int64_t n = state.visit(place)->node->scope().extent.count;
    if (0 < k && k < n) return {};
    return refuse("move.extent",
                  "the cut " + std::to_string(k) + " is not inside the extent " + std::to_string(n),
                  place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t k = numberArg(args, 1);
    ir::Program out = state.program();
    ir::Node& first = *ir::find(out, place);
    ir::Node second = first;
    first.scope().extent.count = k;
    second.scope().extent.count -= k;
    const int depth = depthOf(place);
    for (ir::Node& node : second.scope().body) {
      ir::substitute(node, depth, ir::Affine::variable(depth) + ir::Affine(k));
    }
    insert(out, sibling(place, 1), std::move(second));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"merge_peeled", {args[0]}}};
  }
};

}  // namespace

const Rule& peelScope() {
  static const PeelScope rule;
  return rule;
}

}  // namespace dojo::moves::rules
