// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"
#include "ir/storage.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

/// The index is a constant once the scopes mapped `unroll` and `vector` are expanded.
bool constantWhenExpanded(const ir::Affine& index, const std::vector<const ir::Node*>& enclosing) {
  for (const ir::Term& term : index.terms()) {
    const ir::Scope& scope = enclosing[static_cast<std::size_t>(term.var)]->scope();
    const bool expanded = scope.mapping.has(ir::MapKind::unroll) ||
                          scope.mapping.has(ir::MapKind::vector) || scope.extent == ir::Extent(1);
    if (!expanded || !scope.extent.isConstant()) return false;
  }
  return true;
}

class SetLocation : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "set_location",
        "buffers",
        {{"B", ArgKind::buffer}, {"loc", ArgKind::name}},
        "Keeps the tmp B in another memory: heap, stack, register, or one that the target names.",
        "The target has it and B fits, as it does where it is now; B has an array of its own; "
        "register: every index in a dim with storage is constant after unrolling and vectorising.",
        "set_location",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] + 1
)",
        "set_location t register",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64] @register

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
      for (const std::string& location : state.target().locations) {
        if (location != buffer.location) out.push_back({buffer.name, location});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Program& program = state.program();
    const ir::BufferId id = bufferArg(program, args, 0);
    const ir::Buffer& buffer = program.buffer(id);
    const auto& location = std::get<std::string>(args[1]);
    if (buffer.isArgument()) {
      return refuse("move.role", "'" + buffer.name + "' is an argument: the caller places it");
    }
    if (Status status = offered(state.target(), location); !status) return status;
    if (buffer.location == location) {
      return refuse("move.location", "'" + buffer.name + "' is there already");
    }
    DOJO_NEEDS(program.sharing(id).size() == 1,
               refuse("move.sharing", "'" + buffer.name +
                                          "' shares the storage of another tmp: separate_storage " +
                                          buffer.name + " first"));
    if (Status status = fits(state, id, location); !status) return status;
    if (!fits(state, id, buffer.location)) {
      return refuse("move.location", "'" + buffer.name + "' couldn't come back to its " +
                                         buffer.location + ", which it doesn't fit as it is");
    }
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    out.buffer(bufferArg(out, args, 0)).location = std::get<std::string>(args[1]);
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Buffer& buffer = before.program().buffer(bufferArg(before.program(), args, 0));
    return {makeMove("set_location", {args[0], buffer.location})};
  }

 private:
  static Status fits(const State& state, ir::BufferId id, const std::string& location) {
    if (location == "stack") return fitsStack(state, id);
    if (location == "register") return fitsRegisters(state, id);
    return {};
  }

  static Status fitsStack(const State& state, ir::BufferId id) {
    const ir::Program& program = state.program();
    std::int64_t bytes = program.buffer(id).storageBytes();
    const std::vector<std::int64_t> sizes = ir::storageSizes(program);
    for (std::size_t other = 0; other < sizes.size(); ++other) {
      const ir::Buffer& buffer = program.buffers[other];
      const bool counts = buffer.location == "stack" && buffer.shares < 0;
      if (!counts || other == static_cast<std::size_t>(id)) continue;
      bytes += sizes[other] * ir::sizeBytes(buffer.dtype);
    }
    if (bytes <= state.target().stackBytes) return {};
    return refuse("move.location", "the stack would hold " + std::to_string(bytes) +
                                       " bytes, and the target allows " +
                                       std::to_string(state.target().stackBytes));
  }

  static Status fitsRegisters(const State& state, ir::BufferId id) {
    const ir::Program& program = state.program();
    const ir::Buffer& buffer = program.buffer(id);
    for (const ir::Site* site : state.accesses().of(id)) {
      for (int d = 0; d < buffer.rank(); ++d) {
        const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(d)];
        if (dim.fold == 1 || dim.extent == 1) continue;
        const ir::Index& index = site->access.indices[static_cast<std::size_t>(d)];
        if (index.isGather() || !constantWhenExpanded(index.affine, site->enclosing)) {
          return refuse("move.location",
                        "a register needs constant indices, and " +
                            ir::printAccess(program, site->access) +
                            " has one that varies at run time: unroll or vectorize the scope, or "
                            "reuse the dim",
                        site->path);
        }
      }
    }
    return {};
  }
};

}  // namespace

const Rule& setLocation() {
  static const SetLocation rule;
  return rule;
}

}  // namespace dojo::moves::rules
