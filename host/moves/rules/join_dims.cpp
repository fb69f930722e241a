// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/layout.h"

namespace dojo::moves::rules {

namespace {

class JoinDims final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "join_dims",
        .group = "buffers",
        .parameters = {{"B", ArgKind::buffer}, {"d", ArgKind::number}},
        .effect = "Dims d and d + 1 of B, of N and f, become one of N*f; no element moves.",
        .needs =
            "B is a tmp, or an argument declared packed whose caller has the two dims as one; "
            "dim d + 1 isn't padded, and its storage isn't reused unless that of d is; no gathers "
            "in the two; and split_dim finds the same indices again.",
        .inverse = "split_dim",
        .before = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [4, 16]

4
| 16
| | t[{0}, {1}] = exp(x[{0}*16 + {1}])
4
| 16
| | y[{0}*16 + {1}] = t[{0}, {1}] + 1
)",
        .move = "join_dims t 0",
        .after = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

4
| 16
| | t[{0}*16 + {1}] = exp(x[{0}*16 + {1}])
4
| 16
| | y[{0}*16 + {1}] = t[{0}*16 + {1}] + 1
)"};
    return info;
  }

  /// Dims of one index hold nothing that joining would bring together.
  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    forEachLayoutAt(state, place, [&](const ir::Buffer& buffer) {
      for (std::int64_t d = 0; d + 1 < buffer.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        if (buffer.dims[i].extent == 1 || buffer.dims[i + 1].extent == 1) continue;
        const auto dim = joined(buffer, d);
        if (dim && dim->fold != 1) out.push_back({buffer.name, d});
      }
    });
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const std::int64_t d = numberArg(args, 1);
    if (Status status = needsOurLayout(buffer); !status) return status;
    if (Status status = needsDim(buffer, d); !status) return status;
    if (Status status = needsDim(buffer, d + 1); !status) return status;
    if (!joined(buffer, d)) {
      return refuse("move.dim", "the two dims of '" + buffer.name +
                                    "' don't lie in storage, or with the caller, as one would");
    }
    const std::int64_t f = buffer.dims[static_cast<std::size_t>(d) + 1].extent;
    for (const ir::Site* site : state.accesses().of(id)) {
      const ir::Index& outer = site->access.indices[static_cast<std::size_t>(d)];
      const ir::Index& inner = site->access.indices[static_cast<std::size_t>(d) + 1];
      if (!outer.isGather() && !inner.isGather() &&
          splitIndex(state.program(), site->enclosing, site->node->guard,
                     outer.affine * f + inner.affine,
                     f) == SplitIndex{outer.affine, inner.affine}) {
        continue;
      }
      return refuse("move.index",
                    "the indices of " + ir::printAccess(state.program(), site->access) +
                        " couldn't be split again",
                    site->path);
    }
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const auto d = static_cast<std::ptrdiff_t>(numberArg(args, 1));
    ir::Buffer& buffer = out.buffer(id);
    const std::int64_t f = buffer.dims[static_cast<std::size_t>(d) + 1].extent;
    const ir::Dim dim = joined(buffer, d).value();
    if (buffer.packed) {
      buffer.packing = buffer.callerStrides();
      // A dim of one index doesn't say where its neighbours would be.
      buffer.packing.erase(buffer.packing.begin() + d + (f == 1 ? 1 : 0));
    }
    buffer.dims[static_cast<std::size_t>(d)] = dim;
    buffer.dims.erase(buffer.dims.begin() + d + 1);
    forEachUse(out, id, [&](const ir::Visit&, ir::Access& access) {
      ir::Index& outer = access.indices[static_cast<std::size_t>(d)];
      outer = outer.affine * f + access.indices[static_cast<std::size_t>(d) + 1].affine;
      access.indices.erase(access.indices.begin() + d + 1);
    });
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program&) const override {
    const ir::Buffer& buffer = before.program().buffer(bufferArg(before, args, 0));
    const std::int64_t f = buffer.dims[static_cast<std::size_t>(numberArg(args, 1)) + 1].extent;
    return {makeMove("split_dim", {args[0], args[1], f})};
  }

 private:
  /// Dims d and d + 1 as one, where they lie so in storage and with the caller.
  static std::optional<ir::Dim> joined(const ir::Buffer& buffer, std::int64_t d) {
    const auto i = static_cast<std::size_t>(d);
    const ir::Dim& outer = buffer.dims[i];
    const ir::Dim& inner = buffer.dims[i + 1];
    if (buffer.packed && outer.extent > 1 && inner.extent > 1) {
      const std::vector<std::int64_t> caller = buffer.callerStrides();
      if (caller[i] != caller[i + 1] * inner.extent) return std::nullopt;
    }
    return joinDims(outer, inner);
  }
};

}  // namespace

const Rule& joinDims() {
  static const JoinDims rule;
  return rule;
}

}  // namespace dojo::moves::rules
