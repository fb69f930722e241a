// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/padding.h"

namespace dojo::moves::rules {

namespace {

class UnpadCache final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unpad_cache",
        .group = "buffers",
        .parameters = {{"B", ArgKind::buffer}},
        .effect =
            "Removes the tmp B that is a padded copy of a region: what it copies is used instead, "
            "under guards that keep off where it has padding.",
        .needs = "B has the form that pad_cache gives it.",
        .inverse = "pad_cache",
        .before = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t0 f32 [66]

66
| t0[{0}] = -inf
| t0[{0}] = x[{0} - 1] if {0} - 1 in [0, 64)
64
| y[{0}] = 0
| 3
| | y[{0}] max= t0[{0} + {1}]
)",
        .move = "unpad_cache t0",
        .after = R"(kernel k
in x f32 [64]
out y f32 [64]

64
| y[{0}] = 0
| 3
| | y[{0}] max= x[{0} + {1} - 1] if {0} + {1} - 1 in [0, 64)
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (const ir::BufferId id : state.buffersAt(place)) {
      const ir::Buffer& buffer = state.program().buffer(id);
      if (!buffer.isArgument()) out.push_back({buffer.name});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state, args, 0);
    if (unpad(state, id)) return {};
    return refuse("move.shape", "'" + state.program().buffer(id).name +
                                    "' is more than a padded copy as pad_cache makes it (undo "
                                    "what was done to its copy nest first)");
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return unpad(state, bufferArg(state, args, 0))->program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return unpad(before, bufferArg(before, args, 0))->back;
  }
};

}  // namespace

const Rule& unpadCache() {
  static const UnpadCache rule;
  return rule;
}

}  // namespace dojo::moves::rules
