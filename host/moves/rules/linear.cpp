// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/linear.h"

#include <algorithm>

#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

using ir::Site;

/// How often the operands name the buffer.
std::ptrdiff_t usesOf(const ir::Leaf& leaf, ir::BufferId buffer) {
  return std::count_if(leaf.operands.begin(), leaf.operands.end(), [&](const ir::Operand& operand) {
    const auto* access = std::get_if<ir::Access>(&operand);
    return access != nullptr && access->buffer == buffer;
  });
}

/// True where the leaf's right side is the buffer's element times something else, or over it.
bool isLinearIn(const ir::Leaf& leaf, ir::BufferId buffer) {
  if (usesOf(leaf, buffer) != 1) return false;
  const auto* first = std::get_if<ir::Access>(&leaf.operands[0]);
  switch (leaf.op) {
    case ir::Op::copy:
    case ir::Op::neg:
    case ir::Op::mul:
      return true;
    case ir::Op::div:
      return first != nullptr && first->buffer == buffer;
    default:
      return false;
  }
}

bool isSum(ir::Assign assign) { return assign == ir::Assign::add || assign == ir::Assign::fma; }

class Follower {
 public:
  Follower(const State& state, const ir::Path& leaf, const std::optional<ir::Path>& overwritten)
      : state_(state), first_(leaf), overwritten_(overwritten) {}

  Result<LinearFlow> follow() {
    waiting_.push_back(first_);
    while (!waiting_.empty()) {
      const ir::Path next = waiting_.back();
      waiting_.pop_back();
      if (Status status = enter(next); !status) return status.error();
    }
    return std::move(flow_);
  }

 private:
  Status enter(const ir::Path& path) {
    const ir::Leaf& leaf = state_.visit(path)->node->leaf();
    const ir::Buffer& buffer = state_.program().buffer(leaf.dst.buffer);
    if (std::find(entered_.begin(), entered_.end(), path) != entered_.end()) {
      return refuse("move.dependence", "the value is a factor of this leaf twice", path);
    }
    entered_.push_back(path);
    const ir::Leaf& start = state_.visit(first_)->node->leaf();
    DOJO_NEEDS(buffer.dtype == state_.program().buffer(start.dst.buffer).dtype,
               refuse("move.shape", "the value becomes one of another dtype here", path));
    if (isSum(leaf.assign)) {
      flow_.sums.push_back(siteOf(path, leaf.dst.buffer, ir::Touch::write));
      return {};
    }
    const bool inside = leaf.assign == ir::Assign::set && !buffer.isArgument();
    DOJO_NEEDS(inside, refuse("move.dependence", "the value goes elsewhere than into a sum", path));
    if (!inside) return {};
    for (const Site* site : state_.accesses().of(leaf.dst.buffer)) {
      if (Status status = use(path, *site); !status) return status;
    }
    return {};
  }

  /// One access of the tmp that the leaf at `maker` writes.
  Status use(const ir::Path& maker, const Site& site) {
    if (site.touch == ir::Touch::write) {
      const bool own = site.path == maker || (overwritten_ && site.path == *overwritten_);
      DOJO_NEEDS(own, refuse("move.dependence",
                             "'" + state_.program().buffer(site.access.buffer).name +
                                 "' holds other values too",
                             site.path));
      return {};
    }
    // What the first leaf itself reads there has been overwritten after.
    if (overwritten_ && site.path == first_ && maker == first_) return {};
    const bool linear = isLinearIn(site.node->leaf(), site.access.buffer);
    DOJO_NEEDS(linear, refuse("move.dependence",
                              "the value is used here for more than a factor in a sum", site.path));
    if (!linear) return {};
    flow_.reads.push_back(&site);
    waiting_.push_back(site.path);
    return {};
  }

  const Site* siteOf(const ir::Path& path, ir::BufferId buffer, ir::Touch touch) const {
    const std::vector<const Site*> sites = state_.accesses().below(path);
    const auto found = std::find_if(sites.begin(), sites.end(), [&](const Site* site) {
      return site->touch == touch && site->access.buffer == buffer;
    });
    return *found;
  }

  const State& state_;
  const ir::Path& first_;
  const std::optional<ir::Path>& overwritten_;
  LinearFlow flow_;
  std::vector<ir::Path> waiting_, entered_;
};

/// `d = 0`.
bool setsToZero(const Site& site) {
  if (!site.node->isLeaf()) return false;
  const ir::Leaf& leaf = site.node->leaf();
  if (leaf.isReduction() || leaf.op != ir::Op::copy) return false;
  const auto* constant = std::get_if<ir::Constant>(&leaf.operands[0]);
  return constant != nullptr && *constant == ir::Constant(0.0);
}

bool hasTermsOf(const ir::Leaf& leaf, ir::BufferId buffer) {
  return std::any_of(leaf.operands.begin(), leaf.operands.end(), [&](const ir::Operand& operand) {
    const auto* access = std::get_if<ir::Access>(&operand);
    return access != nullptr && access->buffer == buffer;
  });
}

/// The children [first, last) of the body around `place` write the buffer, and nothing but zeros.
bool isZeroFrom(const State& state, const ir::Path& place, int first, ir::BufferId buffer) {
  const Block block{parent(place), first, place.back()};
  const auto& sites = state.accesses().of(buffer);
  return std::all_of(sites.begin(), sites.end(), [&](const Site* site) {
    return site->touch == ir::Touch::read || !block.contains(site->path) || setsToZero(*site);
  });
}

}  // namespace

Result<LinearFlow> followLinear(const State& state, const ir::Path& leaf,
                                const std::optional<ir::Path>& overwritten) {
  return Follower(state, leaf, overwritten).follow();
}

Status staysWithin(const State& state, const LinearFlow& flow, const Block& block) {
  for (const Site* read : flow.reads) {
    DOJO_NEEDS(
        coveredIn(state.accesses(), *read, block),
        refuse("move.dependence",
               "the value read here may have been made when the factor was another", read->path));
  }
  return {};
}

CacheRequest SumPlan::request() const {
  CacheRequest out;
  out.place = parent(place);
  out.buffer = accumulator;
  return out;
}

Result<SumPlan> planSum(const State& state, const ir::Path& place, ir::BufferId accumulator,
                        const std::vector<const Site*>& sums) {
  const ir::Program& program = state.program();
  const std::string& name = program.buffer(accumulator).name;
  for (const Site* site : state.accesses().below(place)) {
    if (site->access.buffer != accumulator) continue;
    // A sum's own terms may not be made of sums that aren't complete, either.
    const bool own = std::any_of(sums.begin(), sums.end(), [&](const Site* sum) {
      return sum->path == site->path && !hasTermsOf(sum->node->leaf(), accumulator);
    });
    DOJO_NEEDS(own, refuse("move.dependence",
                           "'" + name +
                               "' is read, or something else added to it, before the sum "
                               "is complete",
                           site->path));
  }
  SumPlan out;
  out.place = place;
  out.accumulator = accumulator;
  Result<Region> region = regionOf(program, out.request(), sums);
  if (!region) return region.error();
  out.region = std::move(*region);
  const int depth = depthOf(place);
  const std::optional<Definition> start =
      regionDefinition(state.accesses(), out.request(), place.back(), out.region, depth);
  if (!start) {
    return refuse("move.unwritten",
                  "'" + name + "' isn't set to zero in the same body before the sum", place);
  }
  DOJO_NEEDS(isZeroFrom(state, place, start->firstChild, accumulator),
             refuse("move.dependence", "'" + name + "' doesn't start at zero", place));
  DOJO_NEEDS(touchesAll(program, sums, out.region.box, depth),
             refuse("move.region", "some elements of '" + name + "' may get no term", place));
  return out;
}

}  // namespace dojo::moves
