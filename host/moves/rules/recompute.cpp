// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/print.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/recomputing.h"

namespace dojo::moves::rules {

namespace {

class Recompute : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "recompute",
        "computation",
        {{"B", ArgKind::buffer},
         {"P", ArgKind::place},
         {"T", ArgKind::name, true},
         {"U", ArgKind::name, true},
         {"V", ArgKind::name, true}},
        "The element of B that the leaf P reads is made again right before P, by copies of the "
        "leaves that made it, and of those beside them that they need, into new tmps (T, U, V in "
        "the order in which they are written) without storage in registers.",
        "B is written by plain leaves of one body at one element, whose scopes write it once; what "
        "they read is still there at P, or made by a leaf beside them.",
        "reuse",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
out z f32 []
tmp e f32 [64]

z[] = 0
64
| e[{0}] = exp(x[{0}])
| z[] += e[{0}]
64
| y[{0}] = e[{0}] / s[]
)",
        "recompute e @2.0",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
out z f32 []
tmp e f32 [64]
tmp t0 f32 [~64] @register

z[] = 0
64
| e[{0}] = exp(x[{0}])
| z[] += e[{0}]
64
| t0[{0}] = exp(x[{0}])
| y[{0}] = t0[{0}] / s[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf()) return;
    std::vector<ir::BufferId> seen;
    for (const ir::Operand& operand : place.node->leaf().operands) {
      const auto* access = std::get_if<ir::Access>(&operand);
      if (access == nullptr || state.program().buffer(access->buffer).role == ir::Role::in)
        continue;
      if (std::find(seen.begin(), seen.end(), access->buffer) != seen.end()) continue;
      seen.push_back(access->buffer);
      out.push_back({state.program().buffer(access->buffer).name, place.path});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (Status status = offered(state.target(), "register"); !status) return status;
    for (std::size_t i = 2; i < args.size(); ++i) {
      if (const auto name = newName(state.program(), args, i); !name) return name.error();
      if (std::find(args.begin() + 2, args.begin() + static_cast<std::ptrdiff_t>(i), args[i]) !=
          args.begin() + static_cast<std::ptrdiff_t>(i)) {
        return refuse("move.name", "two tmps can't have one name");
      }
    }
    const Result<RecomputePlan> plan = planOf(state, args);
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    std::vector<std::string> names;
    for (std::size_t i = 2; i < args.size(); ++i) names.push_back(textArg(args, i));
    return applyRecompute(state.program(), planOf(state, args).value(), names);
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& after) const override {
    const RecomputePlan plan = planOf(before, args).value();
    const auto count = static_cast<int>(plan.makers.size());
    // The last leaf made writes the value's tmp.
    const ir::Leaf& last = ir::find(after, sibling(plan.use, count - 1))->leaf();
    return {makeMove("reuse", {after.buffer(last.dst.buffer).name,
                               ir::printAccess(before.program(), plan.value)})};
  }

 private:
  static Result<RecomputePlan> planOf(const State& state, const std::vector<Arg>& args) {
    return planRecompute(state, bufferArg(state, args, 0), placeArg(args, 1));
  }
};

}  // namespace

const Rule& recompute() {
  static const Recompute rule;
  return rule;
}

}  // namespace dojo::moves::rules
