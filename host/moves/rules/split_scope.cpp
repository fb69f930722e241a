// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/sizes.h"

namespace dojo::moves::rules {

namespace {

class SplitScope final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "split_scope",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"f", ArgKind::number}},
        .effect =
            "The scope P of N iterations becomes N/f iterations of f. A guard of P stays on the "
            "outer scope.",
        .needs = "N is a constant that f divides; P is not mapped.",
        .inverse = "collapse_scopes",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

64
| y[{0}] = x[{0}] * 3
)",
        .move = "split_scope @0 16",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

4
| 16
| | y[{0}*16 + {1}] = x[{0}*16 + {1}] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !place.node->scope().extent.isConstant()) return;
    const std::int64_t n = place.node->scope().extent.count;
    for (const std::int64_t f : factors(state.target())) {
      if (f < n) out.push_back({place.path, f});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t f = numberArg(args, 1);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    const ir::Node& node = *state.visit(place)->node;
    const std::int64_t n = node.scope().extent.count;
    DOJO_NEEDS(
        f >= 1 && n % f == 0,
        refuse("move.extent",
               std::to_string(f) + " does not divide the extent " + std::to_string(n), place));
    if (Status status = needsUnmapped(state, place); !status) return status;
    return needsDepth(place, height(node) + 1);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t f = numberArg(args, 1);
    const int depth = depthOf(place);
    ir::Program out = state.program();
    ir::Scope& outer = ir::find(out, place)->scope();
    ir::Scope inner{f, {}, std::move(outer.body)};
    for (ir::Node& node : inner.body) {
      ir::shiftVariables(node, depth + 1, 1);
      ir::substitute(node, depth, ir::Affine::variable(depth, f) + ir::Affine::variable(depth + 1));
    }
    outer.extent.count /= f;
    outer.body.clear();
    outer.body.emplace_back(std::move(inner));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"collapse_scopes", {args[0]}}};
  }
};

}  // namespace

const Rule& splitScope() {
  static const SplitScope rule;
  return rule;
}

}  // namespace dojo::moves::rules
