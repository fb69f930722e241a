// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/rescale.h"

namespace dojo::moves::rules {

namespace {

class OnlineRescale : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "online_rescale",
        "computation",
        {{"P", ArgKind::place},
         {"F", ArgKind::name, true},
         {"R", ArgKind::name, true},
         {"Z", ArgKind::name, true}},
        "The scope P, which takes maxima of m, and the next one, which sums up exponentials of "
        "x - m, become one: whenever m has grown, all sums of exponentials so far are multiplied "
        "by the new tmp F = exp(old m - m). While m is -inf the new tmp R, the lowest finite "
        "number, stands for it, so that exponentials of -inf are 0; in the end the new tmp Z makes "
        "sums NaN that are so in two passes, because m is infinite.",
        "Constant equal extents without guards and mappings; P only takes maxima of elements x "
        "into m, one element, and the next scope only subtracts it from elements that P has taken; "
        "each difference goes into one exponential, and that, in the same iteration, nowhere but "
        "into sums, in each term of which it is a factor once; the sums start at zero in the body "
        "around, get no other terms, at least one in each element, and reach no comparison and no "
        "integer; all are floats of one dtype; apart from m the scopes may be joined.",
        "two_pass",
        R"(kernel k
in x f32 [64]
out s f32 []
tmp m f32 []
tmp e f32 [~64] @register

m[] = -inf
s[] = 0
4
| 16
| | m[] max= x[{0}*16 + {1}]
4
| 16
| | e[{0}*16 + {1}] = x[{0}*16 + {1}] - m[]
| | e[{0}*16 + {1}] = exp(e[{0}*16 + {1}])
| | s[] += e[{0}*16 + {1}]
)",
        "online_rescale @2",
        R"(kernel k
in x f32 [64]
out s f32 []
tmp m f32 []
tmp t0 f32 [~4] @register
tmp t1 f32 [~4] @register
tmp e f32 [~64] @register
tmp t2 f32 [] @register

m[] = -inf
s[] = 0
4
| t0[{0}] = m[]
| 16
| | m[] max= x[{0}*16 + {1}]
| t1[{0}] = max(m[], -3.4028235e38)
| t0[{0}] = t0[{0}] - t1[{0}]
| t0[{0}] = exp(t0[{0}])
| s[] = s[] * t0[{0}]
| 16
| | e[{0}*16 + {1}] = x[{0}*16 + {1}] - t1[{0}]
| | e[{0}*16 + {1}] = exp(e[{0}*16 + {1}])
| | s[] += e[{0}*16 + {1}]
t2[] = m[] - m[]
s[] += t2[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Scope* next = scopeAt(state.program(), sibling(place.path, 1));
    if (next == nullptr || !(place.node->scope().extent == next->extent)) return;
    out.push_back({place.path});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (Status status = offered(state.target(), "register"); !status) return status;
    for (std::size_t i = 1; i < args.size(); ++i) {
      if (const auto name = newName(state.program(), args, i); !name) return name.error();
      for (std::size_t j = 1; j < i; ++j) {
        if (args[i] == args[j]) return refuse("move.name", "two tmps can't have one name");
      }
    }
    const Result<RescalePlan> plan = planRescale(state, placeArg(args, 0));
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    RescaleNames names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = optionalText(args, i + 1).value_or("");
    }
    return applyRescale(state.program(), planRescale(state, placeArg(args, 0)).value(), names);
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("two_pass", {args[0]})};
  }
};

}  // namespace

const Rule& onlineRescale() {
  static const OnlineRescale rule;
  return rule;
}

}  // namespace dojo::moves::rules
