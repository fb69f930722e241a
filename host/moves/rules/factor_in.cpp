// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/canonical.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/factor.h"

namespace dojo::moves::rules {

namespace {

struct FactoredIn {
  ir::Program program;
  Trace back;
};

class FactorIn : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "factor_in",
        "computation",
        {{"P", ArgKind::place}, {"fma", ArgKind::name, true}},
        "The product or quotient of a whole sum with `a` right after it goes: each term gets the "
        "factor, in the leaf P, `t = e` (or `s += e`), which becomes `t = e * a`; with `fma`, "
        "`s += e` becomes `s fma+= e * a`.",
        "P and the sum have the form that factor_out gives them.",
        "factor_out",
        R"(kernel k
in x f32 [64]
in a f32 []
out y f32 []

y[] = 0
64
| y[] += x[{0}]
y[] = a[] * y[]
)",
        "factor_in @1.0",
        R"(kernel k
in x f32 [64]
in a f32 []
out y f32 []

y[] = 0
64
| y[] += x[{0}] * a[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf() || place.node->leaf().op != ir::Op::copy) return;
    const ir::Leaf& leaf = place.node->leaf();
    if (!ir::isFloat(state.program().buffer(leaf.dst.buffer).dtype)) return;
    if (leaf.assign != ir::Assign::set && leaf.assign != ir::Assign::add) return;
    out.push_back({place.path});
    if (leaf.assign == ir::Assign::add) out.push_back({place.path, std::string("fma")});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<FactoredIn> found = factoredIn(state, args);
    return found ? Status() : found.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return factoredIn(state, args).value().program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return factoredIn(before, args).value().back;
  }

 private:
  static Result<FactoredIn> factoredIn(const State& state, const std::vector<Arg>& args) {
    const ir::Path& place = placeArg(args, 0);
    const bool contracted = optionalText(args, 1).has_value();
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf() || node.leaf().op != ir::Op::copy ||
        (contracted && node.leaf().assign != ir::Assign::add)) {
      return refuse("move.shape", "a leaf `t = e` or `s += e` was expected", place);
    }
    if (contracted && textArg(args, 1) != "fma") {
      return refuse("move.arguments", "only 'fma' may be asked for, not '" + textArg(args, 1) + "'",
                    place);
    }
    const Result<LinearFlow> flow = followLinear(state, place);
    if (!flow) return flow.error();
    const Result<SumOf> sum = sumOf(state, *flow, place);
    if (!sum) return sum.error();
    const ir::Path after = sibling(sum->place, 1);
    const ir::Leaf* whole = wholeAt(state.program(), after, sum->accumulator);
    if (whole == nullptr || (contracted && whole->op != ir::Op::mul)) {
      return refuse("move.shape", "no product or quotient of the whole sum follows it", sum->place);
    }
    const std::size_t level = after.size() - 1;
    if (place.size() > level && std::equal(after.begin(), after.end() - 1, place.begin()) &&
        place[level] >= after[level]) {
      return refuse("move.shape", "the value goes into a sum of the next iteration", place);
    }
    FactoredIn out{state.program(), {}};
    ir::Leaf& term = ir::find(out.program, place)->leaf();
    term.op = whole->op;
    const bool second = whole->operands[0] == ir::Operand(whole->dst);
    term.operands.push_back(whole->operands[second ? 1 : 0]);
    if (contracted) term.assign = ir::Assign::fma;
    static_cast<void>(extract(out.program, after));
    ir::canonicalize(out.program);

    // The way back must give this program again.
    const State without(out.program, state.target());
    for (const std::int64_t operand : {0, 1}) {
      const Result<FactorPlan> plan = planFactor(without, place, operand);
      if (!plan) continue;
      ir::Program again = applyFactor(out.program, *plan);
      ir::canonicalize(again);
      if (!(again == state.program())) continue;
      out.back.push_back(makeMove("factor_out", {place, operand}));
      return out;
    }
    return refuse("move.shape", "the factor doesn't stand as factor_out puts it", after);
  }

  /// `s = s * a` or `s = s / a`, alone in scopes.
  static const ir::Leaf* wholeAt(const ir::Program& program, const ir::Path& place,
                                 ir::BufferId accumulator) {
    const ir::Node* node = ir::find(program, place);
    while (node != nullptr && node->isScope()) {
      node = node->scope().body.size() == 1 ? &node->scope().body[0] : nullptr;
    }
    if (node == nullptr) return nullptr;
    const ir::Leaf& leaf = node->leaf();
    if (leaf.assign != ir::Assign::set || leaf.dst.buffer != accumulator) return nullptr;
    const ir::Operand self = leaf.dst;
    const bool product = leaf.op == ir::Op::mul;
    if (!product && leaf.op != ir::Op::div) return nullptr;
    return leaf.operands[0] == self || (product && leaf.operands[1] == self) ? &leaf : nullptr;
  }
};

}  // namespace

const Rule& factorIn() {
  static const FactorIn rule;
  return rule;
}

}  // namespace dojo::moves::rules
