// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves::rules {

namespace {

/// The extent of the scope at depth `var` around every access of the buffer; 0 where there isn't
/// one of a single constant extent.
std::int64_t extentAround(const State& state, ir::BufferId id, std::int64_t var) {
  std::int64_t out = 0;
  for (const ir::Site* site : state.accesses().of(id)) {
    if (var < 0 || var >= static_cast<std::int64_t>(site->enclosing.size())) return 0;
    const ir::Extent& extent = site->enclosing[static_cast<std::size_t>(var)]->scope().extent;
    if (!extent.isConstant() || (out != 0 && extent.count != out)) return 0;
    out = extent.count;
  }
  return out;
}

class AddDim : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "add_dim",
        "buffers",
        {{"B", ArgKind::buffer}, {"d", ArgKind::number}, {"k", ArgKind::number}},
        "Gives the tmp B a dim without storage at position d, which every access indexes by {k}.",
        "Every use of B stands in a scope at depth k of one constant extent, and every value is "
        "read in the iteration that made it.",
        "drop_dim",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 []

64
| t[] = exp(x[{0}])
| y[{0}] = t[] + 1
)",
        "add_dim t 0 0",
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
      for (std::size_t k = 0; k < place.enclosing.size(); ++k) {
        out.push_back({buffer.name, std::int64_t{buffer.rank()}, static_cast<std::int64_t>(k)});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const std::int64_t d = numberArg(args, 1), var = numberArg(args, 2);
    if (buffer.isArgument()) {
      return refuse("move.role", "'" + buffer.name + "' is an argument: its layout isn't ours");
    }
    if (d < 0 || d > buffer.rank() || buffer.rank() >= ir::kMaxRank) {
      return refuse("move.dim", "'" + buffer.name + "' has " + std::to_string(buffer.rank()) +
                                    " dims, numbered from 0");
    }
    const std::int64_t extent = extentAround(state, id, var);
    if (extent == 0) {
      return refuse("move.shape", "not every use of '" + buffer.name +
                                      "' stands in a scope of one constant extent at that depth");
    }
    std::int64_t elements = extent;
    for (const ir::Dim& dim : buffer.dims) {
      if (dim.extent > ir::kMaxElements / elements) {
        return refuse("move.size", "'" + buffer.name + "' would have too many elements");
      }
      elements *= dim.extent;
    }
    const ir::Site* across = readsAcross(state.accesses(), id, static_cast<int>(var));
    if (DOJO_CLAUSE(across == nullptr)) return {};
    return refuse("move.dependence", "the value read here may come from another iteration",
                  across->path);
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const auto d = static_cast<std::ptrdiff_t>(numberArg(args, 1));
    const auto var = static_cast<int>(numberArg(args, 2));
    ir::Dim dim;
    dim.extent = extentAround(state, id, var);
    dim.fold = 1;
    std::vector<ir::Dim>& dims = out.buffer(id).dims;
    dims.insert(dims.begin() + d, dim);
    for (ir::Node& node : out.body) {
      ir::forEachAccessMutable(node, [&](ir::Access& access) {
        if (access.buffer != id) return;
        access.indices.insert(access.indices.begin() + d, ir::Index(ir::Affine::variable(var)));
      });
    }
    return out;
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("drop_dim", {args[0], args[1]})};
  }
};

}  // namespace

const Rule& addDim() {
  static const AddDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
