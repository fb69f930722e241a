// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/layout.h"

namespace dojo::moves::rules {

namespace {

/// The item at `from` goes to `to`; those between move up.
template <class T>
void moveItem(std::vector<T>& items, std::int64_t from, std::int64_t to) {
  const auto at = [&](std::int64_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from < to) {
    std::rotate(at(from), at(from + 1), at(to + 1));
  } else {
    std::rotate(at(to), at(from), at(from + 1));
  }
}

class ReorderDims final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "reorder_dims",
        .group = "buffers",
        .parameters = {{"B", ArgKind::buffer}, {"d", ArgKind::number}, {"k", ArgKind::number}},
        .effect =
            "Dim d of B becomes dim k; the dims between move up. Other elements are neighbours "
            "then: the last dim is the one without gaps.",
        .needs = "B is a tmp, or an argument declared packed.",
        .inverse = "reorder_dims",
        .before = R"(kernel k
in x f32 [8, 64]
out y f32 [64, 8]
tmp t f32 [8, 64]

8
| 64
| | t[{0}, {1}] = exp(x[{0}, {1}])
64
| 8
| | y[{0}, {1}] = t[{1}, {0}] + 1
)",
        .move = "reorder_dims t 0 1",
        .after = R"(kernel k
in x f32 [8, 64]
out y f32 [64, 8]
tmp t f32 [64, 8]

8
| 64
| | t[{1}, {0}] = exp(x[{0}, {1}])
64
| 8
| | y[{0}, {1}] = t[{0}, {1}] + 1
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    forEachLayoutAt(state, place, [&](const ir::Buffer& buffer) {
      const auto stores = [&](std::int64_t d) {
        const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
        return dim.stored() + dim.pad > 1;
      };
      for (std::int64_t d = 0; d < buffer.rank(); ++d) {
        for (std::int64_t k = 0; k < buffer.rank(); ++k) {
          // Neighbours have changed places after either of two moves.
          if (d == k || d == k + 1 || !stores(d) || !stores(k)) continue;
          out.push_back({buffer.name, d, k});
        }
      }
    });
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Buffer& buffer = state.program().buffer(bufferArg(state, args, 0));
    if (Status status = needsOurLayout(buffer); !status) return status;
    if (Status status = needsDim(buffer, numberArg(args, 1)); !status) return status;
    return needsDim(buffer, numberArg(args, 2));
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const std::int64_t from = numberArg(args, 1);
    const std::int64_t to = numberArg(args, 2);
    ir::Buffer& buffer = out.buffer(id);
    if (buffer.packed) {
      buffer.packing = buffer.callerStrides();
      moveItem(buffer.packing, from, to);
    }
    moveItem(buffer.dims, from, to);
    forEachUse(out, id,
               [&](const ir::Visit&, ir::Access& access) { moveItem(access.indices, from, to); });
    return out;
  }

  [[nodiscard]] Trace inverse(const State&, const std::vector<Arg>& args,
                              const ir::Program&) const override {
    return {makeMove("reorder_dims", {args[0], args[2], args[1]})};
  }
};

}  // namespace

const Rule& reorderDims() {
  static const ReorderDims rule;
  return rule;
}

}  // namespace dojo::moves::rules
