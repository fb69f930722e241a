// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves::rules {

namespace {

class MaterializeDim : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {"materialize_dim",
                                 "buffers",
                                 {{"B", ArgKind::buffer}, {"d", ArgKind::number}},
                                 "Gives dim d of the tmp B a storage element for each index again.",
                                 "Every value that is read was written under the same index.",
                                 "reuse_dim",
                                 R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
)",
                                 "materialize_dim t 0",
                                 R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

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
        if (buffer.dims[static_cast<std::size_t>(d)].fold != 0) {
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
    if (dim.fold == 0) {
      return refuse("move.dim", "this dim of '" + buffer.name + "' has its storage already");
    }
    const std::int64_t others = buffer.storageElements() / (dim.fold + dim.pad);
    if (dim.extent + dim.pad > ir::kMaxElements / others / ir::sizeBytes(buffer.dtype)) {
      return refuse("move.size", "'" + buffer.name + "' would be too large");
    }
    const ir::Site* harmed = foldHarms(state.accesses(), id, static_cast<int>(d), dim.fold);
    DOJO_NEEDS(harmed == nullptr,
               refuse("move.dependence",
                      "the value read here may have been written under another index of '" +
                          buffer.name + "'",
                      harmed->path));
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::Buffer& buffer = out.buffer(bufferArg(out, args, 0));
    buffer.dims[static_cast<std::size_t>(std::get<std::int64_t>(args[1]))].fold = 0;
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Buffer& buffer = before.program().buffer(bufferArg(before.program(), args, 0));
    const std::int64_t fold =
        buffer.dims[static_cast<std::size_t>(std::get<std::int64_t>(args[1]))].fold;
    if (fold == 1) return {makeMove("reuse_dim", {args[0], args[1]})};
    return {makeMove("reuse_dim", {args[0], args[1], fold})};
  }
};

}  // namespace

const Rule& materializeDim() {
  static const MaterializeDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
