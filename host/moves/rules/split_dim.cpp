// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/layout.h"
#include "moves/rules/sizes.h"

namespace dojo::moves::rules {

namespace {

class SplitDim final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "split_dim",
        .group = "buffers",
        .parameters = {{"B", ArgKind::buffer}, {"d", ArgKind::number}, {"f", ArgKind::number}},
        .effect = "Dim d of B, of N, becomes two, of N/f and f; no element moves.",
        .needs =
            "B is a tmp, or an argument declared packed; f divides N and what the dim stores; "
            "every index in it is f times an affine one plus one that stays in [0, f), no gather.",
        .inverse = "join_dims",
        .before = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

4
| 16
| | t[{0}*16 + {1}] = exp(x[{0}*16 + {1}])
4
| 16
| | y[{0}*16 + {1}] = t[{0}*16 + {1}] + 1
)",
        .move = "split_dim t 0 16",
        .after = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [4, 16]

4
| 16
| | t[{0}, {1}] = exp(x[{0}*16 + {1}])
4
| 16
| | y[{0}*16 + {1}] = t[{0}, {1}] + 1
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    forEachLayoutAt(state, place, [&](const ir::Buffer& buffer) {
      if (buffer.rank() >= ir::kMaxRank) return;
      for (std::int64_t d = 0; d < buffer.rank(); ++d) {
        const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
        if (dim.fold == 1) continue;
        for (const std::int64_t f : factors(state.target())) {
          if (f < dim.extent && splitDims(dim, f)) out.push_back({buffer.name, d, f});
        }
      }
    });
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const std::int64_t d = numberArg(args, 1);
    const std::int64_t f = numberArg(args, 2);
    if (Status status = needsOurLayout(buffer); !status) return status;
    if (Status status = needsDim(buffer, d); !status) return status;
    if (buffer.rank() >= ir::kMaxRank) {
      return refuse("move.dim", "'" + buffer.name + "' would have too many dims");
    }
    if (!splitDims(buffer.dims[static_cast<std::size_t>(d)], f)) {
      return refuse("move.extent", std::to_string(f) + " does not divide the dim of '" +
                                       buffer.name + "', its storage and its padding");
    }
    for (const ir::Site* site : state.accesses().of(id)) {
      const ir::Index& index = site->access.indices[static_cast<std::size_t>(d)];
      if (!index.isGather() &&
          splitIndex(state.program(), site->enclosing, site->node->guard, index.affine, f)) {
        continue;
      }
      return refuse("move.index",
                    "an index of " + ir::printAccess(state.program(), site->access) + " is not " +
                        std::to_string(f) + " times an affine one plus one that stays below",
                    site->path);
    }
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const auto d = static_cast<std::ptrdiff_t>(numberArg(args, 1));
    const std::int64_t f = numberArg(args, 2);
    ir::Buffer& buffer = out.buffer(id);
    const auto parts = splitDims(buffer.dims[static_cast<std::size_t>(d)], f).value();
    if (buffer.packed) {
      buffer.packing = buffer.callerStrides();
      buffer.packing.insert(buffer.packing.begin() + d,
                            buffer.packing[static_cast<std::size_t>(d)]);
      buffer.packing[static_cast<std::size_t>(d)] *= f;
    }
    buffer.dims[static_cast<std::size_t>(d)] = parts.second;
    buffer.dims.insert(buffer.dims.begin() + d, parts.first);
    forEachUse(out, id, [&](const ir::Visit& visit, ir::Access& access) {
      ir::Index& index = access.indices[static_cast<std::size_t>(d)];
      const SplitIndex split =
          splitIndex(state.program(), visit.enclosing, visit.node->guard, index.affine, f).value();
      index = split.inner;
      access.indices.insert(access.indices.begin() + d, split.outer);
    });
    return out;
  }

  [[nodiscard]] Trace inverse(const State&, const std::vector<Arg>& args,
                              const ir::Program&) const override {
    return {makeMove("join_dims", {args[0], args[1]})};
  }
};

}  // namespace

const Rule& splitDim() {
  static const SplitDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
