// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

/// Copies of leaves that the node becomes; saturates at kMaxElements.
std::int64_t instances(const ir::Node& node) {
  if (node.isLeaf()) return 1;
  std::int64_t sum = 0;
  for (const ir::Node& inner : node.scope().body) sum += instances(inner);
  if (!node.scope().mapping.has(ir::MapKind::unroll)) return sum;
  const std::int64_t n = node.scope().extent.count;
  return sum > ir::kMaxElements / n ? ir::kMaxElements : sum * n;
}

class Unroll final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unroll",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "Maps the scope P to `unroll`: its body is copied as often as it has iterations.",
        .needs =
            "Constant extent, not mapped; the copies of all unrolled scopes here stay within the "
            "target's limit.",
        .inverse = "unmap",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

16
| 4
| | y[{0}*4 + {1}] = x[{0}*4 + {1}] * 3
)",
        .move = "unroll @0.0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

16
| 4:unroll
| | y[{0}*4 + {1}] = x[{0}*4 + {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Scope& scope = place.node->scope();
    if (scope.mapping.none() && scope.extent.isConstant()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    if (Status status = needsMappable(state, place, ir::MapKind::unroll); !status) return status;
    const ir::Visit& visit = *state.visit(place);
    const std::int64_t limit = state.target().unrollLimit;
    std::int64_t budget = limit / visit.node->scope().extent.count;
    for (const ir::Node* around : visit.enclosing) {
      if (around->scope().mapping.has(ir::MapKind::unroll)) budget /= around->scope().extent.count;
    }
    if (limit == 0 || instances(*visit.node) <= budget) return {};
    return refuse(
        "move.limit",
        "the program would have more than " + std::to_string(limit) + " unrolled operations here",
        place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return withMapping(state, placeArg(args, 0),
                       {static_cast<std::uint16_t>(ir::MapKind::unroll), {}});
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"unmap", args}};
  }
};

}  // namespace

const Rule& unroll() {
  static const Unroll rule;
  return rule;
}

}  // namespace dojo::moves::rules
