// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/clause.h"
#include "moves/coverage.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

class SplitBuffer : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "split_buffer",
        "buffers",
        {{"P", ArgKind::place}, {"B", ArgKind::buffer}, {"T", ArgKind::name, true}},
        "The uses of the tmp B at or below P get a tmp T of their own, like B.",
        "B is used elsewhere too, and no value of B goes into an execution of P or out of it.",
        "join_buffers",
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
)",
        "split_buffer @1 t",
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
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const std::size_t count = state.program().buffers.size();
    std::vector<bool> written(count);
    for (const ir::Site* site : state.accesses().below(place.path)) {
      if (site->touch == ir::Touch::write) {
        written[static_cast<std::size_t>(site->access.buffer)] = true;
      }
    }
    for (std::size_t id = 0; id < count; ++id) {
      const ir::Buffer& buffer = state.program().buffers[id];
      if (written[id] && !buffer.isArgument()) out.push_back({place.path, buffer.name});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::BufferId id = bufferArg(state, args, 1);
    const std::string& name = state.program().buffer(id).name;
    if (state.program().buffer(id).isArgument()) {
      return refuse("move.role", "'" + name + "' is an argument", place);
    }
    const Block block = execution(place);
    const std::vector<const ir::Site*>& sites = state.accesses().of(id);
    const auto inside = static_cast<std::size_t>(
        std::count_if(sites.begin(), sites.end(),
                      [&](const ir::Site* site) { return block.contains(site->path); }));
    if (inside == 0 || inside == sites.size()) {
      return refuse("move.shape", "'" + name + "' isn't used both here and elsewhere", place);
    }
    DOJO_NEEDS(localTo(state.accesses(), id, {block}),
               refuse("move.dependence", "a value of '" + name + "' may go in or out here", place));
    Result<std::string> fresh = newName(state.program(), args, 2);
    return fresh ? Status() : fresh.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    const ir::BufferId id = bufferArg(state, args, 1);
    ir::Buffer copy = out.buffer(id);
    copy.name = newName(out, args, 2).value();
    if (out.sharing(id).size() > 1) copy.shares = id;
    out.buffers.push_back(std::move(copy));
    const auto fresh = static_cast<ir::BufferId>(out.buffers.size() - 1);
    ir::renameBuffers(*ir::find(out, placeArg(args, 0)),
                      [&](ir::BufferId used) { return used == id ? fresh : used; });
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("join_buffers", {args[1], newName(before.program(), args, 2).value()})};
  }
};

}  // namespace

const Rule& splitBuffer() {
  static const SplitBuffer rule;
  return rule;
}

}  // namespace dojo::moves::rules
