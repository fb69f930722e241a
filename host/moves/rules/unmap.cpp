// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string_view>

#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

/// The move that gives a scope this mapping; empty where there is none.
std::string_view moveFor(const ir::Mapping& mapping) {
  switch (mapping.bits) {
    case static_cast<unsigned>(ir::MapKind::unroll):
      return "unroll";
    case static_cast<unsigned>(ir::MapKind::vector):
      return "vectorize";
    case static_cast<unsigned>(ir::MapKind::parallel):
      return "parallelize";
    default:
      return "";
  }
}

class Unmap final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unmap",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "Takes the mapping of the scope P away: its iterations run one after the other.",
        .needs = "P is mapped, and a move can map it so again.",
        .inverse = "unroll, vectorize, parallelize",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8:vector
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)",
        .move = "unmap @0.0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isScope() && !place.node->scope().mapping.none()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsScope(state, place); !status) return status;
    if (!moveFor(scopeAt(state.program(), place)->mapping).empty()) return {};
    return refuse("move.mapping", "the scope has no mapping that a move gives", place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return withMapping(state, placeArg(args, 0), {});
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Scope* scope = scopeAt(before.program(), placeArg(args, 0));
    return {Move{std::string(moveFor(scope->mapping)), args}};
  }
};

}  // namespace

const Rule& unmap() {
  static const Unmap rule;
  return rule;
}

}  // namespace dojo::moves::rules
