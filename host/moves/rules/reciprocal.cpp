// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/reciprocal.h"

#include <algorithm>

#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

/// True where the divisor has one value while the scope at `scope` runs, and has it before.
bool invariantIn(const State& state, const ir::Site& divisor, const ir::Path& scope) {
  const int depth = depthOf(scope);
  for (const ir::Index& index : divisor.access.indices) {
    const auto& terms = index.affine.terms();
    if (index.isGather()) return false;
    if (!DOJO_CLAUSE(terms.empty() || terms.back().var < depth)) return false;
  }
  if (!DOJO_CLAUSE(runsAlways(state.program(), divisor, depth))) return false;
  const std::vector<ir::Relation> same = ir::equalThen(depth, {});
  const std::vector<const ir::Site*> inside = state.accesses().below(scope);
  return DOJO_CLAUSE(std::none_of(inside.begin(), inside.end(), [&](const ir::Site* site) {
    return site->touch == ir::Touch::write && site->access.buffer == divisor.access.buffer &&
           ir::meet(state.accesses(), *site, divisor, same) != ir::Answer::no;
  }));
}

}  // namespace

Result<ReciprocalPlan> planReciprocal(const State& state, const ir::Path& leaf) {
  const ir::Node& node = *ir::find(state.program(), leaf);
  const bool quotient = node.isLeaf() && node.leaf().op == ir::Op::div &&
                        std::holds_alternative<ir::Access>(node.leaf().operands[1]);
  if (!quotient) {
    return refuse("move.shape", "a leaf `y = x / s` was expected, s an element", leaf);
  }
  const ir::BufferId dst = node.leaf().dst.buffer;
  DOJO_NEEDS(ir::isFloat(state.program().buffer(dst).dtype),
             refuse("move.shape", "only floats are divided by multiplying", leaf));
  DOJO_NEEDS(!state.reachesDecision(dst),
             refuse("move.numbers",
                    "the quotient decides a comparison or becomes an integer: its rounding may not "
                    "change",
                    leaf));
  const auto& access = std::get<ir::Access>(node.leaf().operands[1]);
  const std::vector<const ir::Site*> sites = state.accesses().below(leaf);
  const auto divisor = std::find_if(sites.begin(), sites.end(), [&](const ir::Site* site) {
    return site->touch == ir::Touch::read && site->access == access;
  });
  DOJO_CHECK(divisor != sites.end(), "a leaf without its own reads");
  ir::Path scope;
  for (std::size_t depth = 0; depth + 1 < leaf.size(); ++depth) {
    scope.push_back(leaf[depth]);
    if (invariantIn(state, **divisor, scope)) return ReciprocalPlan{leaf, scope};
  }
  return refuse("move.dependence", "the divisor changes in the innermost scope around it", leaf);
}

ir::Program applyReciprocal(const State& state, const ReciprocalPlan& plan,
                            const std::string& name) {
  ir::Program out = state.program();
  ir::Leaf& quotient = ir::find(out, plan.leaf)->leaf();
  const ir::DType type = out.buffer(quotient.dst.buffer).dtype;
  const ir::BufferId id = addTmp(out, name, type, {}, "register");
  const std::vector<const ir::Node*> around = scopesAround(state.program(), parent(plan.before));
  out.buffer(id).dims = innerDims(state.program(), around);
  ir::Leaf leaf;
  leaf.dst = innerElement(id, static_cast<int>(around.size()));
  leaf.op = ir::Op::div;
  leaf.operands = {ir::Constant(1.0), quotient.operands[1]};
  quotient.op = ir::Op::mul;
  quotient.operands[1] = leaf.dst;
  insert(out, plan.before, std::move(leaf));
  return out;
}

namespace rules {

namespace {

class Reciprocal : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "reciprocal",
        "computation",
        {{"P", ArgKind::place}, {"T", ArgKind::name, true}},
        "The division at P, `y = x / s`, becomes a multiplication by t = 1 / s, which is computed "
        "before the outermost scope that s doesn't change in. t is a new tmp T without storage in "
        "a register.",
        "Floats; s doesn't change in at least the innermost scope around P; the quotient reaches "
        "no comparison and no integer.",
        "divide",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]

64
| y[{0}] = x[{0}] / s[]
)",
        "reciprocal @0.0",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
tmp t0 f32 [] @register

t0[] = 1 / s[]
64
| y[{0}] = x[{0}] * t0[]
)"};
    return out;
  }

  void choices(const State& /*state*/, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isLeaf() && place.node->leaf().op == ir::Op::div) out.push_back({place.path});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (Status status = offered(state.target(), "register"); !status) return status;
    if (const auto name = newName(state.program(), args, 1); !name) return name.error();
    const Result<ReciprocalPlan> plan = planReciprocal(state, placeArg(args, 0));
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return applyReciprocal(state, planReciprocal(state, placeArg(args, 0)).value(),
                           newName(state.program(), args, 1).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ReciprocalPlan plan = planReciprocal(before, placeArg(args, 0)).value();
    ir::Path leaf = plan.leaf;
    ++leaf[plan.before.size() - 1];
    return {makeMove("divide", {leaf, newName(before.program(), args, 1).value()})};
  }
};

}  // namespace

const Rule& reciprocal() {
  static const Reciprocal rule;
  return rule;
}

}  // namespace rules

}  // namespace dojo::moves
