// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

constexpr unsigned kParallel = static_cast<unsigned>(ir::MapKind::parallel);

class Parallelize final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "parallelize",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "Maps the scope P to `parallel`: its iterations are spread over the harts.",
        .needs =
            "Constant extent, not mapped; no parallel scope around or inside, and no vector scope "
            "around; no dependence between iterations (reductions need privatize first).",
        .inverse = "unmap",
        .before = R"(kernel row_sums
in x f32 [8, 64]
out s f32 [8]

8
| s[{0}] = 0
| 64
| | s[{0}] += x[{0}, {1}]
)",
        .move = "parallelize @0",
        .after = R"(kernel row_sums
in x f32 [8, 64]
out s f32 [8]

8:parallel
| s[{0}] = 0
| 64
| | s[{0}] += x[{0}, {1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isScope() && place.node->scope().mapping.none()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    if (Status status = needsMappable(state, place, ir::MapKind::parallel); !status) return status;
    return proveConcurrent(state, place, ir::MapKind::parallel);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return withMapping(state, placeArg(args, 0), {static_cast<std::uint16_t>(kParallel), {}});
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"unmap", args}};
  }
};

}  // namespace

const Rule& parallelize() {
  static const Parallelize rule;
  return rule;
}

}  // namespace dojo::moves::rules
