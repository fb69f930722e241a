// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/clause.h"
#include "moves/coverage.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

/// True for tmps that differ by name alone, and have each an array of its own or both the same.
bool alike(const ir::Program& program, ir::BufferId a, ir::BufferId b) {
  ir::Buffer other = program.buffer(b);
  other.name = program.buffer(a).name;
  other.shares = program.buffer(a).shares;
  if (!(program.buffer(a) == other)) return false;
  return program.storageOf(a) == program.storageOf(b) ||
         (program.sharing(a).size() == 1 && program.sharing(b).size() == 1);
}

/// The place of the node that holds all uses of the buffer, those as a stream included; the empty
/// path where no single one does.
ir::Path homeOf(const ir::Accesses& accesses, ir::BufferId id) {
  const std::vector<const ir::Site*>& sites = accesses.of(id);
  if (sites.empty()) return {};
  ir::Path out = sites.front()->path;
  for (const ir::Site* site : sites) {
    const auto [mine, theirs] =
        std::mismatch(out.begin(), out.end(), site->path.begin(), site->path.end());
    out.erase(mine, out.end());
  }
  for (std::size_t depth = 1; depth < out.size(); ++depth) {
    const ir::Path around(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(depth));
    const auto& streams = ir::find(accesses.program(), around)->scope().mapping.streams;
    if (std::find(streams.begin(), streams.end(), id) != streams.end()) return around;
  }
  return out;
}

class JoinBuffers : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "join_buffers",
        "buffers",
        {{"B", ArgKind::buffer}, {"T", ArgKind::buffer}},
        "The tmp T goes away: what used it uses B, which is like it.",
        "One node holds every use of T and none of B, and no value of either goes into an "
        "execution of it or out.",
        "split_buffer",
        R"(kernel k
in x f32 [20]
out y f32 [20]
tmp t f32 [~20] @register
tmp t0 f32 [~20] @register

16
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
4
| t0[{0} + 16] = exp(x[{0} + 16])
| y[{0} + 16] = t0[{0} + 16] + 1
)",
        "join_buffers t t0",
        R"(kernel k
in x f32 [20]
out y f32 [20]
tmp t f32 [~20] @register

16
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
4
| t[{0} + 16] = exp(x[{0} + 16])
| y[{0} + 16] = t[{0} + 16] + 1
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Program& program = state.program();
    for (const ir::BufferId gone : state.buffersAt(place)) {
      if (program.buffer(gone).isArgument()) continue;
      for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        const auto kept = static_cast<ir::BufferId>(i);
        if (kept == gone || !alike(program, kept, gone)) continue;
        out.push_back({program.buffer(kept).name, program.buffer(gone).name});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Program& program = state.program();
    const ir::BufferId kept = bufferArg(state, args, 0), gone = bufferArg(state, args, 1);
    if (program.buffer(kept).isArgument() || program.buffer(gone).isArgument()) {
      return refuse("move.role", "arguments stay what they are");
    }
    if (kept == gone || !alike(program, kept, gone)) {
      return refuse("move.shape",
                    "two tmps of the same dtype, dims and location are needed, which "
                    "share storage only with each other or not at all");
    }
    const ir::Path home = homeOf(state.accesses(), gone);
    const std::vector<const ir::Site*>& sites = state.accesses().of(kept);
    const bool mixed = home.empty() || std::any_of(sites.begin(), sites.end(), [&](const auto* s) {
                         return execution(home).contains(s->path);
                       });
    DOJO_NEEDS(!mixed,
               refuse("move.shape", "no node holds every use of '" + program.buffer(gone).name +
                                        "' and none of '" + program.buffer(kept).name + "'"));
    for (const ir::BufferId id : {kept, gone}) {
      if (DOJO_CLAUSE(localTo(state.accesses(), id, {execution(home)}))) continue;
      return refuse("move.dependence",
                    "a value of '" + program.buffer(id).name + "' may go in or out here", home);
    }
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId kept = bufferArg(state, args, 0), gone = bufferArg(state, args, 1);
    // Canonical form drops what nothing uses.
    ir::renameBuffers(*ir::find(out, homeOf(state.accesses(), gone)),
                      [&](ir::BufferId used) { return used == gone ? kept : used; });
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Path home = homeOf(before.accesses(), bufferArg(before, args, 1));
    return {makeMove("split_buffer", {home, args[0], args[1]})};
  }
};

}  // namespace

const Rule& joinBuffers() {
  static const JoinBuffers rule;
  return rule;
}

}  // namespace dojo::moves::rules
