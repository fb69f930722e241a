// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/factor.h"

namespace dojo::moves::rules {

namespace {

class FactorOut : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "factor_out",
        "computation",
        {{"P", ArgKind::place}, {"k", ArgKind::number}},
        "The leaf P, `t = e * a` or `t = e / a` with `a` as operand k (or a sum `s += e * a` "
        "itself), becomes `t = e`: after the sum that t goes into, all of it is multiplied or "
        "divided by `a`.",
        "Floats other than f16, of one dtype from t to the sum; t reaches nothing but one sum, in "
        "each term of which it is a factor once; the sum starts at zero in the body where it ends, "
        "gets no other terms, at least one in each element, and isn't read in between; `a` keeps "
        "its value from P to the end of the sum; the sum reaches no comparison and no integer.",
        "factor_in",
        R"(kernel k
in x f32 [64]
in a f32 []
out y f32 []

y[] = 0
64
| y[] += x[{0}] * a[]
)",
        "factor_out @1.0 1",
        R"(kernel k
in x f32 [64]
in a f32 []
out y f32 []

y[] = 0
64
| y[] += x[{0}]
y[] = a[] * y[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf()) return;
    const ir::Leaf& leaf = place.node->leaf();
    const bool product = leaf.op == ir::Op::mul;
    if (!product && leaf.op != ir::Op::div) return;
    if (!ir::isFloat(state.program().buffer(leaf.dst.buffer).dtype)) return;
    if (product) out.push_back({place.path, std::int64_t{0}});
    out.push_back({place.path, std::int64_t{1}});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<FactorPlan> plan = planFactor(state, placeArg(args, 0), numberArg(args, 1));
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return applyFactor(state.program(),
                       planFactor(state, placeArg(args, 0), numberArg(args, 1)).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Leaf& leaf = ir::find(before.program(), placeArg(args, 0))->leaf();
    std::vector<Arg> back = {args[0]};
    if (leaf.assign == ir::Assign::fma) back.emplace_back(std::string("fma"));
    return {makeMove("factor_in", std::move(back))};
  }
};

}  // namespace

const Rule& factorOut() {
  static const FactorOut rule;
  return rule;
}

}  // namespace dojo::moves::rules
