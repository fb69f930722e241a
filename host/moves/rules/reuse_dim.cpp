// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves::rules {

namespace {

class ReuseDim : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "reuse_dim",
        "buffers",
        {{"B", ArgKind::buffer}, {"d", ArgKind::number}, {"n", ArgKind::number, true}},
        "Drops the storage of dim d of the tmp B: every index falls on one element (`~512`), or "
        "with n on one of n elements (`512~n`, index mod n).",
        "Each value dies before its storage is written again, counting iterations that run at "
        "once.",
        "materialize_dim",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
)",
        "reuse_dim t 0",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (const ir::BufferId id : state.buffersAt(place)) {
      const ir::Buffer& buffer = state.program().buffer(id);
      if (buffer.isArgument()) continue;
      for (int d = 0; d < buffer.rank(); ++d) {
        if (buffer.dims[static_cast<std::size_t>(d)].fold == 0) {
          out.push_back({buffer.name, std::int64_t{d}});
        }
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state.program(), args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const auto d = std::get<std::int64_t>(args[1]);
    if (Status status = needsTmpDim(buffer, d); !status) return status;
    const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
    if (dim.fold != 0) {
      return refuse("move.dim",
                    "the storage of this dim of '" + buffer.name + "' is reused already");
    }
    const std::int64_t fold = foldOf(args);
    if (fold < 1 || (fold > 1 && fold >= dim.extent)) {
      return refuse("move.arguments", "the storage kept must be 1 or less than the dim's extent, " +
                                          std::to_string(dim.extent));
    }
    const ir::Site* harmed = foldHarms(state.accesses(), id, static_cast<int>(d), fold);
    DOJO_NEEDS(harmed == nullptr,
               refuse("move.dependence",
                      "the value read here may be overwritten before: its storage would be shared "
                      "with other indices of '" +
                          buffer.name + "'",
                      harmed->path));
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    dimOf(out, args).fold = foldOf(args);
    return out;
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("materialize_dim", {args[0], args[1]})};
  }

 private:
  static std::int64_t foldOf(const std::vector<Arg>& args) {
    return args.size() > 2 ? std::get<std::int64_t>(args[2]) : 1;
  }
  static ir::Dim& dimOf(ir::Program& program, const std::vector<Arg>& args) {
    ir::Buffer& buffer = program.buffer(bufferArg(program, args, 0));
    return buffer.dims[static_cast<std::size_t>(std::get<std::int64_t>(args[1]))];
  }
};

}  // namespace

const Rule& reuseDim() {
  static const ReuseDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
