// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/bias.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

class BiasOperand final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "bias_operand",
        .group = "computation",
        .parameters = {{"P", ArgKind::place},
                       {"k", ArgKind::number},
                       {"U", ArgKind::name, true},
                       {"S", ArgKind::name, true}},
        .effect =
            "The sum `t += x * y` of signed bytes x (operand k) at P becomes that of x + 128, "
            "unsigned bytes in U, times y, less 128 times the sum S of y: for instructions that "
            "multiply unsigned with signed bytes.",
        .needs =
            "Integers; x is an argument with values, y is written before the outermost scope "
            "around "
            "P begins; P stands alone in loops of constant extents; no guards around it.",
        .inverse = "unbias_operand",
        .before = R"(kernel k
in a i8 [8, 64]
in b i8 [64]
out c i32 [8]

8
| c[{0}] = 0
| 64
| | c[{0}] += a[{0}, {1}] * b[{1}]
)",
        .move = "bias_operand @0.1.0 0",
        .after = R"(kernel k
in a i8 [8, 64]
in b i8 [64]
out c i32 [8]
tmp t0 u8 [8, 64]
tmp t1 i32 []

8
| 64
| | t0[{0}, {1}] = cast(a[{0}, {1}])
| | t0[{0}, {1}] = t0[{0}, {1}] + 128
t1[] = 0
64
| t1[] += b[{0}]
8
| c[{0}] = 0
| 64
| | c[{0}] += b[{1}] * t0[{0}, {1}]
| c[{0}] += t1[] * -128
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf()) return;
    const ir::Leaf& leaf = place.node->leaf();
    if (leaf.assign != ir::Assign::add || leaf.op != ir::Op::mul) return;
    for (std::int64_t k = 0; k < 2; ++k) {
      const auto* x = std::get_if<ir::Access>(&leaf.operands[static_cast<std::size_t>(k)]);
      if (x != nullptr && state.program().buffer(x->buffer).dtype == ir::DType::i8) {
        out.push_back({place.path, k});
      }
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<BiasPlan> plan = planOf(state, args);
    return plan ? Status() : plan.error();
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return applyBias(state.program(), planOf(state, args).value());
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program& after) const override {
    // What was put before the outermost scope.
    const auto added = static_cast<int>(after.body.size() - before.program().body.size());
    const BiasPlan plan = planOf(before, args).value();
    ir::Path place = plan.place;
    place.front() += plan.root.size() == 1 ? added - 1 : added;
    return {makeMove("unbias_operand", {place})};
  }

 private:
  static Result<BiasPlan> planOf(const State& state, const std::vector<Arg>& args) {
    return planBias(state, placeArg(args, 0), numberArg(args, 1),
                    optionalText(args, 2).value_or(""), optionalText(args, 3).value_or(""));
  }
};

}  // namespace

const Rule& biasOperand() {
  static const BiasOperand rule;
  return rule;
}

}  // namespace dojo::moves::rules
