// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/partials.h"

namespace dojo::moves::rules {

namespace {

class Privatize : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "privatize",
        "computation",
        {{"P", ArgKind::place},
         {"Q", ArgKind::place},
         {"loc", ArgKind::name, true},
         {"B", ArgKind::buffer, true},
         {"T", ArgKind::name, true},
         {"n", ArgKind::number, true}},
        "The reduction into B in the body of P goes to partial accumulators, a new tmp T at loc "
        "(heap) indexed by P's variable: set to the identity before Q, combined into B after Q. "
        "Q is P or a scope around it; B may be left out where P reduces into one buffer only. With "
        "n, Q is a run of n siblings, and the scopes at P's place in each share the accumulators.",
        "In Q, B is touched by reductions of one operator alone, and in P not indexed by its "
        "variable; elements that are combined have values; sums and products of floats reach no "
        "comparison and no integer.",
        "combine",
        R"(kernel k
in x f32 [64]
out y f32 []

y[] = 0
4
| 16
| | y[] += x[{0}*16 + {1}]
)",
        "privatize @1.0 @1 register",
        R"(kernel k
in x f32 [64]
out y f32 []
tmp t0 f32 [16] @register

y[] = 0
16
| t0[{0}] = 0
4
| 16
| | t0[{1}] += x[{0}*16 + {1}]
16
| y[] += t0[{0}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !place.node->scope().extent.isConstant()) return;
    const std::vector<ir::BufferId> accumulators = accumulatorsOf(state, place.path);
    for (ir::Path around = place.path; !around.empty(); around.pop_back()) {
      for (const ir::BufferId id : accumulators) {
        for (const std::string& location : state.target().locations) {
          std::vector<Arg> args = {place.path, around, location};
          if (accumulators.size() > 1) args.emplace_back(state.program().buffer(id).name);
          out.push_back(std::move(args));
        }
        const std::int64_t run = runOf(state, place.path, around, id);
        for (std::int64_t n = 2; n <= run; ++n) {
          out.push_back({place.path, around, state.target().locations.front(),
                         state.program().buffer(id).name, state.program().freshName(), n});
        }
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<PartialRequest> request = requestOf(state, args);
    if (!request) return request.error();
    const Result<PartialPlan> plan = planPartials(state.accesses(), *request);
    if (!plan) return plan.error();
    const bool exact = plan->assign == ir::Assign::max || plan->assign == ir::Assign::min ||
                       !ir::isFloat(state.program().buffer(request->accumulator).dtype);
    DOJO_NEEDS(exact || !state.reachesDecision(request->accumulator),
               refuse("move.numbers",
                      "the sum decides a comparison or becomes an integer: its rounding may not "
                      "change",
                      request->scope));
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const PartialRequest request = requestOf(state, args).value();
    return applyPartials(state.program(), request, planPartials(state.accesses(), request).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const PartialRequest request = requestOf(before, args).value();
    ir::Path scope = request.scope;
    ++scope[request.around.size() - 1];
    return {makeMove("combine", {scope, request.name})};
  }

 private:
  /// How many siblings from `around` on reduce into the accumulator in scopes such as `scope`.
  static std::int64_t runOf(const State& state, ir::Path scope, const ir::Path& around,
                            ir::BufferId accumulator) {
    constexpr std::int64_t kMost = 4;
    std::int64_t out = 0;
    for (int& position = scope[around.size() - 1]; out < kMost; ++position, ++out) {
      if (scopeAt(state.program(), scope) == nullptr) break;
      const std::vector<ir::BufferId> accumulators = accumulatorsOf(state, scope);
      if (std::find(accumulators.begin(), accumulators.end(), accumulator) == accumulators.end()) {
        break;
      }
    }
    return out;
  }

  static Result<PartialRequest> requestOf(const State& state, const std::vector<Arg>& args) {
    PartialRequest out;
    out.scope = placeArg(args, 0);
    out.around = placeArg(args, 1);
    if (Status status = needsConstantExtent(state, out.scope); !status) return status.error();
    if (out.around.size() > out.scope.size() ||
        !std::equal(out.around.begin(), out.around.end(), out.scope.begin())) {
      return refuse("move.place", "Q must be P or a scope around it", out.around);
    }
    out.location = optionalText(args, 2).value_or("heap");
    if (Status status = offered(state.target(), out.location); !status) return status.error();
    if (const auto name = optionalText(args, 3)) {
      out.accumulator = bufferArg(state.program(), args, 3);
    } else {
      const std::vector<ir::BufferId> candidates = accumulatorsOf(state, out.scope);
      if (candidates.size() != 1) {
        return refuse("move.shape",
                      candidates.empty()
                          ? "nothing in the scope is reduced into without its variable"
                          : "the scope reduces into several buffers: name one",
                      out.scope);
      }
      out.accumulator = candidates[0];
    }
    Result<std::string> name = newName(state.program(), args, 4);
    if (!name) return name.error();
    out.name = std::move(*name);
    if (args.size() > 5) {
      const std::int64_t n = numberArg(args, 5);
      const auto* run = ir::siblings(state.program(), out.around);
      if (n < 1 || n > static_cast<std::int64_t>(run->size()) - out.around.back()) {
        return refuse("move.shape", "there are fewer siblings from Q on", out.around);
      }
      out.count = static_cast<int>(n);
    }
    return out;
  }
};

}  // namespace

const Rule& privatize() {
  static const Privatize rule;
  return rule;
}

}  // namespace dojo::moves::rules
