// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "ir/canonical.h"
#include "ir/check.h"
#include "moves/arguments.h"
#include "moves/concurrency.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

class Dma final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "dma",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "The DMA engine does the copy that the nest of loops at P is.",
        .needs =
            "P is a nest of unmapped loops of constant extents, without guards inside, around "
            "one copy from memory to other memory that writes no element twice.",
        .inverse = "unmap",
        .before = R"(kernel near
in x f64 [16, 16] @dram
out y f64 [16]
tmp t f64 [~16, 16]

16
| 16
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)",
        .move = "dma @0.0",
        .after = R"(kernel near
in x f64 [16, 16] @dram
out y f64 [16]
tmp t f64 [~16, 16]

16
| 16:dma
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !state.target().offersMapping("dma")) return;
    const ir::Node* node = place.node;
    while (node->isScope() && node->scope().mapping.none() && node->scope().body.size() == 1) {
      node = node->scope().body.data();
    }
    if (node->isLeaf() && node->leaf().op == ir::Op::copy) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsMappable(state, place, ir::MapKind::dma); !status) return status;
    ir::Program mapped = rewrite(state, args);
    ir::canonicalize(mapped);
    if (const Status status = ir::checkStructure(mapped); !status) {
      return refuse("move.shape", status.error().message, place);
    }
    return proveConcurrency(mapped);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return withMapping(state, placeArg(args, 0),
                       {static_cast<std::uint16_t>(ir::MapKind::dma), {}});
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"unmap", args}};
  }
};

}  // namespace

const Rule& dma() {
  static const Dma rule;
  return rule;
}

}  // namespace dojo::moves::rules
