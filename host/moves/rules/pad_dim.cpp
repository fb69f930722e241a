// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/layout.h"

namespace dojo::moves::rules {

namespace {

class PadDim final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "pad_dim",
        .group = "buffers",
        .parameters = {{"B", ArgKind::buffer}, {"d", ArgKind::number}, {"n", ArgKind::number}},
        .effect =
            "n unused elements follow those of dim d of B, so that neighbours in the dims before "
            "lie elsewhere; 0 takes them away.",
        .needs = "B is a tmp, or an argument declared packed; it stays below 2^40 bytes.",
        .inverse = "pad_dim",
        .before = R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]
tmp t f32 [8, 64]

8
| 64
| | t[{0}, {1}] = exp(x[{0}, {1}])
8
| 64
| | y[{0}, {1}] = t[{0}, {1}] + 1
)",
        .move = "pad_dim t 1 16",
        .after = R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]
tmp t f32 [8, 64 pad 16]

8
| 64
| | t[{0}, {1}] = exp(x[{0}, {1}])
8
| 64
| | y[{0}, {1}] = t[{0}, {1}] + 1
)"};
    return info;
  }

  /// One element, a vector, a line of 64 bytes; where a dim before it has storage.
  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    forEachLayoutAt(state, place, [&](const ir::Buffer& buffer) {
      const int bytes = ir::sizeBytes(buffer.dtype);
      std::vector<std::int64_t> sizes = {0, 1, state.target().lanes(bytes), 64 / bytes};
      std::sort(sizes.begin(), sizes.end());
      sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
      bool strided = false;
      for (std::int64_t d = 0; d < buffer.rank(); ++d) {
        const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
        for (const std::int64_t n : sizes) {
          if (n == 0 ? dim.pad != 0 : dim.pad == 0 && strided) out.push_back({buffer.name, d, n});
        }
        strided = strided || dim.stored() > 1;
      }
    });
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Buffer& buffer = state.program().buffer(bufferArg(state, args, 0));
    const std::int64_t d = numberArg(args, 1);
    const std::int64_t n = numberArg(args, 2);
    if (Status status = needsOurLayout(buffer); !status) return status;
    if (Status status = needsDim(buffer, d); !status) return status;
    if (n < 0) return refuse("move.arguments", "a pad of " + std::to_string(n) + " isn't possible");
    const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
    if (n == dim.pad) return refuse("move.dim", "the dim is padded so already");
    const std::int64_t others = buffer.storageElements() / (dim.stored() + dim.pad);
    const std::int64_t most = ir::kMaxElements / others / ir::sizeBytes(buffer.dtype);
    if (n <= most - dim.stored()) return {};
    return refuse("move.size", "'" + buffer.name + "' would be too large");
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    dimOf(out, args).pad = numberArg(args, 2);
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program&) const override {
    ir::Program program = before.program();
    return {makeMove("pad_dim", {args[0], args[1], dimOf(program, args).pad})};
  }

 private:
  static ir::Dim& dimOf(ir::Program& program, const std::vector<Arg>& args) {
    ir::Buffer& buffer = program.buffer(bufferArg(program, args, 0));
    return buffer.dims[static_cast<std::size_t>(numberArg(args, 1))];
  }
};

}  // namespace

const Rule& padDim() {
  static const PadDim rule;
  return rule;
}

}  // namespace dojo::moves::rules
