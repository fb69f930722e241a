// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "moves/arguments.h"
#include "moves/placement.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

constexpr unsigned kVector = static_cast<unsigned>(ir::MapKind::vector);

class Vectorize final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "vectorize",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "Maps the scope P to `vector`: its iterations become lanes.",
        .needs =
            "Not mapped, and no vector scope around or inside; on fixed-width targets a constant "
            "extent of at most lanes (of the widest dtype inside) times the target's grouping; no "
            "dependence between iterations other than reductions.",
        .inverse = "unmap",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)",
        .move = "vectorize @0.0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8:vector
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isScope() && place.node->scope().mapping.none()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsMappable(state, place, ir::MapKind::vector); !status) return status;
    const ir::Node& node = *state.visit(place)->node;
    if (const auto missing = notInVectors(state.program(), node, state.target())) {
      return refuse("move.dtype",
                    "the target's vectors don't compute with " + std::string(ir::name(*missing)),
                    place);
    }
    if (!state.target().vector.scalable) {
      if (Status status = needsConstantExtent(state, place); !status) return status;
      const std::int64_t most = std::int64_t{registerLanes(state.program(), node, state.target())} *
                                state.target().vector.grouping;
      if (node.scope().extent.count > most) {
        return refuse("move.extent",
                      "the extent " + std::to_string(node.scope().extent.count) + " is above the " +
                          std::to_string(most) + " lanes that the target has here",
                      place);
      }
    }
    return proveConcurrent(state, place, ir::MapKind::vector);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return withMapping(state, placeArg(args, 0), {static_cast<std::uint16_t>(kVector), {}});
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"unmap", args}};
  }
};

}  // namespace

const Rule& vectorize() {
  static const Vectorize rule;
  return rule;
}

}  // namespace dojo::moves::rules
