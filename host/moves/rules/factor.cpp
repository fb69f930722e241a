// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/factor.h"

#include <algorithm>

#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

using ir::Site;

const Site* readAt(const State& state, const ir::Path& leaf, const ir::Access& access) {
  for (const Site* site : state.accesses().below(leaf)) {
    if (site->touch == ir::Touch::read && site->access == access) return site;
  }
  return nullptr;
}

/// The children of one body from the one with the leaf to the one with the sum.
Block between(const ir::Path& leaf, const ir::Path& sum) {
  const std::size_t most = std::min(leaf.size(), sum.size()) - 1;
  std::size_t shared = 0;
  while (shared < most && leaf[shared] == sum[shared]) ++shared;
  const ir::Path scope(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(shared));
  return Block{scope, leaf[shared], sum[shared] + 1};
}

Status staysTheSame(const State& state, const ir::Path& leaf, const ir::Access& factor,
                    const Block& block) {
  const auto depth = static_cast<int>(block.scope.size());
  for (const ir::Index& index : factor.indices) {
    const auto& terms = index.affine.terms();
    if (index.isGather() || (!terms.empty() && terms.back().var >= depth)) {
      return refuse("move.dependence", "the factor isn't the same for all terms of the sum", leaf);
    }
  }
  const Site* read = readAt(state, leaf, factor);
  for (const Site* site : state.accesses().of(factor.buffer)) {
    if (site->touch != ir::Touch::write || !block.contains(site->path)) continue;
    const bool apart =
        ir::meet(state.accesses(), *site, *read, ir::equalThen(depth, {})) == ir::Answer::no;
    DOJO_NEEDS(apart, refuse("move.dependence",
                             "the factor " + ir::printAccess(state.program(), factor) +
                                 " is written here, before the sum is complete",
                             site->path));
  }
  return {};
}

}  // namespace

Result<SumOf> sumOf(const State& state, const LinearFlow& flow, const ir::Path& leaf) {
  if (flow.sums.size() != 1) {
    return refuse("move.shape", "one sum was expected that the value goes into", leaf);
  }
  const Site& sum = *flow.sums.front();
  const Site* before = nullptr;
  for (const Site* site : state.accesses().below(sum.path)) {
    if (site->reduction && site->touch == ir::Touch::read) before = site;
  }
  DOJO_CHECK(before != nullptr, "a sum that doesn't read its accumulator");
  const std::optional<Definition> start = definitionOf(state.accesses(), *before);
  if (!start) {
    return refuse("move.unwritten",
                  "no body was found in which '" + state.program().buffer(sum.access.buffer).name +
                      "' is set before the sum",
                  sum.path);
  }
  return SumOf{sum.access.buffer, ir::Path(sum.path.begin(), sum.path.begin() + start->fixed + 1)};
}

Result<FactorPlan> planFactor(const State& state, const ir::Path& leaf, std::int64_t operand) {
  const ir::Node& node = *ir::find(state.program(), leaf);
  const bool shape = node.isLeaf() &&
                     ((node.leaf().op == ir::Op::mul && operand >= 0) ||
                      (node.leaf().op == ir::Op::div && operand == 1)) &&
                     operand < 2;
  if (!shape ||
      std::holds_alternative<ir::Affine>(node.leaf().operands[static_cast<std::size_t>(operand)])) {
    return refuse("move.shape",
                  "a product was expected, and which of its operands is the factor (0 or 1), or a "
                  "quotient with 1",
                  leaf);
  }
  const ir::BufferId dst = node.leaf().dst.buffer;
  const ir::DType type = state.program().buffer(dst).dtype;
  if (!ir::isFloat(type)) return refuse("move.shape", "only floats are factored out", leaf);
  DOJO_NEEDS(type != ir::DType::f16,
             refuse("move.numbers", "without the factor the sum may leave the range of f16", leaf));
  Result<LinearFlow> flow = followLinear(state, leaf);
  if (!flow) return flow.error();
  const Result<SumOf> sum = sumOf(state, *flow, leaf);
  if (!sum) return sum.error();
  DOJO_NEEDS(!state.reachesDecision(sum->accumulator),
             refuse("move.numbers",
                    "the sum decides a comparison or becomes an integer: its rounding may not "
                    "change",
                    leaf));
  const Block block = between(leaf, sum->place);
  if (Status status = staysWithin(state, *flow, block); !status) return status.error();
  const ir::Operand& factor = node.leaf().operands[static_cast<std::size_t>(operand)];
  if (const auto* access = std::get_if<ir::Access>(&factor)) {
    if (Status status = staysTheSame(state, leaf, *access, block); !status) return status.error();
  }
  Result<SumPlan> plan = planSum(state, sum->place, sum->accumulator, flow->sums);
  if (!plan) return plan.error();
  return FactorPlan{leaf, static_cast<std::size_t>(operand), std::move(*plan)};
}

ir::Program applyFactor(const ir::Program& program, const FactorPlan& plan) {
  const RegionNest walk = regionNest(program, plan.sum.request(), plan.sum.region);
  ir::Program out = program;
  ir::Leaf& term = ir::find(out, plan.leaf)->leaf();
  ir::Leaf whole;
  whole.dst = element(plan.sum.accumulator, walk.outer);
  whole.op = term.op;
  whole.operands = {whole.dst, term.operands[plan.operand]};
  term.op = ir::Op::copy;
  term.operands.erase(term.operands.begin() + static_cast<std::ptrdiff_t>(plan.operand));
  if (term.assign == ir::Assign::fma) term.assign = ir::Assign::add;
  ir::Node node = std::move(whole);
  node.guard = walk.guard;
  insert(out, sibling(plan.sum.place, 1), nest(walk.extents, std::move(node)));
  return out;
}

}  // namespace dojo::moves
