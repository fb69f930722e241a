// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves::rules {

namespace {

/// The depth k where every access of the buffer has index {k} in dim `dim`, in scopes of the dim's
/// extent; -1 where it isn't so.
int variableIn(const State& state, ir::BufferId id, std::size_t dim) {
  const std::int64_t extent = state.program().buffer(id).dims[dim].extent;
  int out = -1;
  for (const ir::Site* site : state.accesses().of(id)) {
    const ir::Index& index = site->access.indices[dim];
    const auto& terms = index.affine.terms();
    if (index.isGather() || terms.size() != 1 || terms[0].coef != 1 ||
        index.affine.constant() != 0 || (out >= 0 && terms[0].var != out)) {
      return -1;
    }
    out = terms[0].var;
    const ir::Extent& around = site->enclosing[static_cast<std::size_t>(out)]->scope().extent;
    if (!DOJO_CLAUSE(around.isConstant() && around.count == extent)) return -1;
  }
  return out;
}

class DropDim : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "drop_dim",
        "buffers",
        {{"B", ArgKind::buffer}, {"d", ArgKind::number}},
        "Takes dim d, which has no storage, away from the tmp B and from all that use it.",
        "The dim is `~N`, and every access indexes it by the variable of the scope of N iterations "
        "at one depth; every value is read in the iteration that made it.",
        "add_dim",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
tmp t f32 [~64]

64
| t[{0}] = exp(s[])
| y[{0}] = x[{0}] * t[{0}]
)",
        "drop_dim t 0",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
tmp t f32 []

64
| t[] = exp(s[])
| y[{0}] = x[{0}] * t[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (const ir::BufferId id : state.buffersAt(place)) {
      const ir::Buffer& buffer = state.program().buffer(id);
      if (buffer.isArgument()) continue;
      for (int d = 0; d < buffer.rank(); ++d) {
        if (buffer.dims[static_cast<std::size_t>(d)].fold == 1) {
          out.push_back({buffer.name, std::int64_t{d}});
        }
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const std::int64_t d = numberArg(args, 1);
    if (Status status = needsTmpDim(buffer, d); !status) return status;
    const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
    DOJO_NEEDS(
        dim.fold == 1 && dim.pad == 0,
        refuse("move.dim", "this dim of '" + buffer.name + "' has storage: reuse_dim first"));
    const int var = variableIn(state, id, static_cast<std::size_t>(d));
    if (var < 0) {
      return refuse("move.index", "not every access of '" + buffer.name +
                                      "' has the variable of one depth there");
    }
    const ir::Site* across = readsAcross(state.accesses(), id, var);
    if (DOJO_CLAUSE(across == nullptr)) return {};
    return refuse("move.dependence",
                  "that the value read here was made in the same iteration isn't proved, and "
                  "couldn't be without the dim",
                  across->path);
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const auto d = static_cast<std::ptrdiff_t>(numberArg(args, 1));
    std::vector<ir::Dim>& dims = out.buffer(id).dims;
    dims.erase(dims.begin() + d);
    for (ir::Node& node : out.body) {
      ir::forEachAccessMutable(node, [&](ir::Access& access) {
        if (access.buffer == id) access.indices.erase(access.indices.begin() + d);
      });
    }
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const int var = variableIn(before, bufferArg(before, args, 0),
                               static_cast<std::size_t>(numberArg(args, 1)));
    return {makeMove("add_dim", {args[0], args[1], std::int64_t{var}})};
  }
};

}  // namespace

const Rule& dropDim() {
  static const DropDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
