// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/rescale.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/numeric.h"
#include "ir/print.h"
#include "moves/clause.h"
#include "moves/order.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"
#include "moves/rules/sizes.h"

namespace dojo::moves {

namespace {

using ir::Site;
using Sites = std::vector<const Site*>;

/// `d = x - m` with elements x and m.
bool isDifference(const ir::Node& node) {
  if (!node.isLeaf() || node.leaf().op != ir::Op::sub || node.leaf().isReduction()) return false;
  return std::holds_alternative<ir::Access>(node.leaf().operands[0]) &&
         std::holds_alternative<ir::Access>(node.leaf().operands[1]);
}

/// `m max= x` with an element x.
bool isMaximum(const Site& site) {
  if (!site.node->isLeaf()) return false;
  const ir::Leaf& leaf = site.node->leaf();
  return leaf.assign == ir::Assign::max && leaf.op == ir::Op::copy &&
         std::holds_alternative<ir::Access>(leaf.operands[0]);
}

Sites without(const Sites& sites, ir::BufferId buffer) {
  Sites out;
  for (const Site* site : sites) {
    if (site->access.buffer != buffer) out.push_back(site);
  }
  return out;
}

/// The element that the first scope takes maxima into and the second subtracts.
std::optional<ir::Access> maximumOf(const State& state, const ir::Path& place) {
  for (const Site* read : state.accesses().below(sibling(place, 1))) {
    if (!isDifference(*read->node)) continue;
    const auto& subtracted = std::get<ir::Access>(read->node->leaf().operands[1]);
    for (const Site* site : state.accesses().below(place)) {
      if (site->touch == ir::Touch::write && site->access == subtracted && isMaximum(*site)) {
        return subtracted;
      }
    }
  }
  return std::nullopt;
}

class Planner {
 public:
  Planner(const State& state, const ir::Path& place)
      : state_(state), accesses_(state.accesses()), place_(place), next_(sibling(place, 1)) {}

  Result<RescalePlan> plan() {
    out_.place = place_;
    for (const auto& step : {&Planner::scopes, &Planner::maximum, &Planner::order,
                             &Planner::exponentials, &Planner::sums}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return std::move(out_);
  }

 private:
  Status scopes() {
    if (Status status = needsConstantExtent(state_, place_); !status) return status;
    if (Status status = needsNextSibling(state_, place_); !status) return status;
    if (Status status = needsConstantExtent(state_, next_); !status) return status;
    if (Status status = needsUnmapped(state_, place_); !status) return status;
    if (Status status = needsUnmapped(state_, next_); !status) return status;
    const ir::Node& first = *state_.visit(place_)->node;
    const ir::Node& second = *state_.visit(next_)->node;
    if (!(first.scope().extent == second.scope().extent)) {
      return refuse("move.extent", "the next scope has another extent", next_);
    }
    if (!first.guard.empty() || !second.guard.empty()) {
      return refuse("move.guard", "the scopes may not be guarded", place_);
    }
    return {};
  }

  /// The first scope only takes maxima of m, the second only subtracts it.
  Status maximum() {
    const std::optional<ir::Access> found = maximumOf(state_, place_);
    if (!found) {
      return refuse("move.shape",
                    "a scope with `m max= x` was expected, and after it one with `d = x - m`",
                    place_);
    }
    out_.maximum = *found;
    if (!ir::isFloat(state_.program().buffer(found->buffer).dtype)) {
      return refuse("move.shape", "only floats have exponentials", place_);
    }
    const int depth = depthOf(place_);
    for (const ir::Index& index : found->indices) {
      const auto& terms = index.affine.terms();
      if (index.isGather() || (!terms.empty() && terms.back().var >= depth)) {
        return refuse("move.shape", "the maximum isn't one element while the scopes run", place_);
      }
    }
    for (const Site* site : accesses_.below(place_)) {
      if (site->access.buffer != found->buffer) continue;
      DOJO_NEEDS(site->reduction && isMaximum(*site) && site->access == *found,
                 refuse("move.dependence", "the maximum is used for more here", site->path));
    }
    for (const Site* site : accesses_.below(next_)) {
      if (site->access.buffer != found->buffer) continue;
      const bool subtracted = isDifference(*site->node) && site->access == *found &&
                              ir::Operand(*found) == site->node->leaf().operands[1] &&
                              !(ir::Operand(*found) == site->node->leaf().operands[0]);
      DOJO_NEEDS(subtracted,
                 refuse("move.dependence",
                        "the maximum is used here for more than being subtracted", site->path));
      if (subtracted) out_.differences.push_back(site->path);
    }
    return {};
  }

  /// Apart from the maximum, the scopes may run as one.
  Status order() {
    const auto reversal =
        findReversal(state_, without(accesses_.below(place_), out_.maximum.buffer),
                     without(accesses_.below(next_), out_.maximum.buffer),
                     ir::equalThen(depthOf(place_), {ir::Relation::greater}),
                     {iteration(state_.program(), place_), iteration(state_.program(), next_)});
    DOJO_NEEDS(!reversal, dependenceError(state_, *reversal, place_));
    return {};
  }

  Status exponentials() {
    for (const ir::Path& path : out_.differences) {
      DOJO_NEEDS(isBounded(path),
                 refuse("move.numbers",
                        "what is subtracted from may be above the maximum so far, so that the "
                        "exponential may leave the range",
                        path));
      if (Status status = follow(path); !status) return status;
    }
    return {};
  }

  /// Whatever the leaf `d = x - m` reads as x has been taken into the maximum in this iteration.
  [[nodiscard]] bool isBounded(const ir::Path& path) const {
    const auto& x = std::get<ir::Access>(state_.visit(path)->node->leaf().operands[0]);
    Sites reads;
    Sites taken;
    for (const Site* site : accesses_.of(x.buffer)) {
      if (site->path == path && site->touch == ir::Touch::read) reads.push_back(site);
    }
    ir::Path last;
    for (const Site* site : accesses_.below(place_)) {
      if (site->access.buffer != x.buffer || site->touch != ir::Touch::read) continue;
      if (!isMaximum(*site) || site->reduction || site->node->leaf().dst != out_.maximum) continue;
      taken.push_back(site);
      last = site->path;
    }
    const int depth = depthOf(place_) + 1;
    const auto box = ir::boundingBox(state_.program(), reads, depth);
    if (!box || !touchesAll(state_.program(), taken, *box, depth)) return false;
    // It hasn't been overwritten since.
    const Block first = execution(place_);
    const Block second = execution(next_);
    const auto& sites = accesses_.of(x.buffer);
    return std::none_of(sites.begin(), sites.end(), [&](const Site* site) {
      return site->touch == ir::Touch::write &&
             ((first.contains(site->path) && last < site->path) || second.contains(site->path));
    });
  }

  /// From the difference by way of its exponential to the sums.
  Status follow(const ir::Path& path) {
    const ir::Leaf& difference = state_.visit(path)->node->leaf();
    const ir::DType type = state_.program().buffer(difference.dst.buffer).dtype;
    if (type != state_.program().buffer(out_.maximum.buffer).dtype) {
      return refuse("move.shape", "the difference has another dtype than the maximum", path);
    }
    LinearFlow flow;
    if (isReplaced(path)) {
      Result<LinearFlow> found = followLinear(state_, sibling(path, 1), path);
      if (!found) return found.error();
      flow = std::move(*found);
    } else {
      const Site* read = nullptr;
      for (const Site* site : accesses_.of(difference.dst.buffer)) {
        if (site->touch == ir::Touch::read) {
          DOJO_NEEDS(read == nullptr,
                     refuse("move.dependence", "the difference is read here too", site->path));
          read = site;
          continue;
        }
        DOJO_NEEDS(site->path == path,
                   refuse("move.dependence", "the difference is written here too", site->path));
      }
      const bool exponential = read != nullptr && read->node->leaf().op == ir::Op::exp &&
                               !state_.program().buffer(difference.dst.buffer).isArgument();
      if (!exponential) {
        return refuse("move.shape", "the difference has uses other than one exponential", path);
      }
      Result<LinearFlow> found = followLinear(state_, read->path);
      if (!found) return found.error();
      flow = std::move(*found);
      flow.reads.push_back(read);
    }
    const Block block = iteration(state_.program(), next_);
    if (Status status = staysWithin(state_, flow, block); !status) return status;
    for (const Site* sum : flow.sums) {
      if (state_.program().buffer(sum->access.buffer).dtype != type) {
        return refuse("move.shape", "the sum has another dtype than the maximum", sum->path);
      }
      Sites& others = sums_[sum->access.buffer];
      DOJO_NEEDS(std::find(others.begin(), others.end(), sum) == others.end(),
                 refuse("move.dependence", "two exponentials are factors of this term", sum->path));
      others.push_back(sum);
    }
    return {};
  }

  /// True where the next leaf puts the exponential in place of the difference.
  [[nodiscard]] bool isReplaced(const ir::Path& path) const {
    const ir::Node& difference = *state_.visit(path)->node;
    const ir::Visit* next = state_.visit(sibling(path, 1));
    if (next == nullptr || !next->node->isLeaf() || !(next->node->guard == difference.guard)) {
      return false;
    }
    const ir::Leaf& leaf = next->node->leaf();
    return !leaf.isReduction() && leaf.op == ir::Op::exp && leaf.dst == difference.leaf().dst &&
           leaf.operands[0] == ir::Operand(leaf.dst);
  }

  Status sums() {
    if (sums_.empty()) return refuse("move.shape", "the exponentials go into no sum", next_);
    for (const auto& [accumulator, sites] : sums_) {
      DOJO_NEEDS(!state_.reachesDecision(accumulator),
                 refuse("move.numbers",
                        "the sum decides a comparison or becomes an integer: its rounding may not "
                        "change",
                        place_));
      for (const Site* site : accesses_.below(place_)) {
        DOJO_NEEDS(site->access.buffer != accumulator,
                   refuse("move.dependence",
                          "'" + state_.program().buffer(accumulator).name +
                              "' is used here, while all of it is rescaled",
                          site->path));
      }
      Result<SumPlan> plan = planSum(state_, next_, accumulator, sites);
      if (!plan) return plan.error();
      const int height = 1 + static_cast<int>(std::count(plan->region.walked.begin(),
                                                         plan->region.walked.end(), true));
      if (Status status = needsDepth(place_, height); !status) return status;
      out_.sums.push_back(std::move(*plan));
    }
    return {};
  }

  const State& state_;
  const ir::Accesses& accesses_;
  const ir::Path& place_;
  ir::Path next_;
  RescalePlan out_;
  std::map<ir::BufferId, Sites> sums_;
};

ir::Leaf makeLeaf(ir::Access dst, ir::Op op, std::vector<ir::Operand> operands) {
  ir::Leaf out;
  out.dst = std::move(dst);
  out.op = op;
  out.operands = std::move(operands);
  return out;
}

/// `sum *= value`, or `sum += value`, on every element of the sum's accumulator, in a body with
/// `deeper` scopes more around it than the sum's.
ir::Node onAll(const ir::Program& program, const SumPlan& sum, ir::Op op, const ir::Access& value,
               int deeper) {
  const RegionNest walk = regionNest(program, sum.request(), sum.region);
  ir::Leaf leaf = makeLeaf(element(sum.accumulator, walk.outer), op, {});
  if (op == ir::Op::copy) {
    leaf.assign = ir::Assign::add;
  } else {
    leaf.operands.emplace_back(leaf.dst);
  }
  ir::Node node = std::move(leaf);
  node.guard = walk.guard;
  node = nest(walk.extents, std::move(node));
  ir::shiftVariables(node, depthOf(sum.place), deeper);
  ir::Node* inner = &node;
  while (inner->isScope()) inner = &inner->scope().body.front();
  inner->leaf().operands.emplace_back(value);
  return node;
}

}  // namespace

Result<RescalePlan> planRescale(const State& state, const ir::Path& place) {
  return Planner(state, place).plan();
}

ir::Program applyRescale(const ir::Program& program, const RescalePlan& plan,
                         const RescaleNames& names) {
  ir::Program out = program;
  const ir::DType type = program.buffer(plan.maximum.buffer).dtype;
  const std::vector<const ir::Node*> outside = scopesAround(program, parent(plan.place));
  const std::vector<const ir::Node*> inside = scopesAround(program, plan.place);
  const auto tmp = [&](std::size_t i, const std::vector<const ir::Node*>& around) {
    const ir::BufferId id =
        addTmp(out, names[i].empty() ? out.freshName() : names[i], type, {}, "register");
    out.buffer(id).dims = innerDims(program, around);
    return innerElement(id, static_cast<int>(around.size()));
  };
  const ir::Access factor = tmp(0, inside);
  const ir::Access reference = tmp(1, inside);
  const ir::Access check = tmp(2, outside);

  for (const ir::Path& path : plan.differences) {
    ir::find(out, path)->leaf().operands[1] = reference;
  }
  ir::Node second = extract(out, sibling(plan.place, 1));
  std::vector<ir::Node>& body = bodyOf(out, plan.place);
  body.insert(body.begin(), makeLeaf(factor, ir::Op::copy, {plan.maximum}));
  const ir::Constant lowest(-ir::formatOf(type).largest);
  body.emplace_back(makeLeaf(reference, ir::Op::max, {plan.maximum, lowest}));
  body.emplace_back(makeLeaf(factor, ir::Op::sub, {factor, reference}));
  body.emplace_back(makeLeaf(factor, ir::Op::exp, {factor}));
  for (const SumPlan& sum : plan.sums) {
    body.push_back(onAll(program, sum, ir::Op::mul, factor, 1));
  }
  for (ir::Node& node : second.scope().body) body.push_back(std::move(node));

  ir::Path place = sibling(plan.place, 1);
  insert(out, place, makeLeaf(check, ir::Op::sub, {plan.maximum, plan.maximum}));
  for (const SumPlan& sum : plan.sums) {
    insert(out, place = sibling(place, 1), onAll(program, sum, ir::Op::copy, check, 0));
  }
  return out;
}

}  // namespace dojo::moves
