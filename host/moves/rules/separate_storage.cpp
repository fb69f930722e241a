// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

class SeparateStorage : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {"separate_storage",
                                 "buffers",
                                 {{"B", ArgKind::buffer}},
                                 "The tmp B gets an array of its own again.",
                                 "B shares the storage of another tmp.",
                                 "share_storage",
                                 R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]
tmp s f32 [64] shares t

64
| t[{0}] = exp(x[{0}])
64
| s[{0}] = x[{0}] + t[{0}]
64
| y[{0}] = x[{0}] * s[{0}]
)",
                                 "separate_storage s",
                                 R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]
tmp s f32 [64]

64
| t[{0}] = exp(x[{0}])
64
| s[{0}] = x[{0}] + t[{0}]
64
| y[{0}] = x[{0}] * s[{0}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (const ir::BufferId id : state.buffersAt(place)) {
      if (state.program().sharing(id).size() > 1) out.push_back({state.program().buffer(id).name});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state.program(), args, 0);
    if (state.program().sharing(id).size() > 1) return {};
    return refuse("move.sharing",
                  "'" + state.program().buffer(id).name + "' has its storage for itself");
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::BufferId rest = others(out, id).front();
    for (const ir::BufferId other : others(out, id)) {
      out.buffer(other).shares = other == rest ? -1 : rest;
    }
    out.buffer(id).shares = -1;
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Program& program = before.program();
    const ir::BufferId rest = others(program, bufferArg(program, args, 0)).front();
    return {makeMove("share_storage", {program.buffer(rest).name, args[0]})};
  }

 private:
  /// What stays in the storage without the buffer.
  static std::vector<ir::BufferId> others(const ir::Program& program, ir::BufferId id) {
    std::vector<ir::BufferId> out = program.sharing(id);
    std::erase(out, id);
    return out;
  }
};

}  // namespace

const Rule& separateStorage() {
  static const SeparateStorage rule;
  return rule;
}

}  // namespace dojo::moves::rules
