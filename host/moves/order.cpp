// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/order.h"

#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/clause.h"

namespace dojo::moves {

namespace {

/// fma+= and += are one operator.
ir::Assign reductionClass(ir::Assign assign) {
  return assign == ir::Assign::fma ? ir::Assign::add : assign;
}

}  // namespace

bool commute(const State& state, const ir::Site& a, const ir::Site& b) {
  if (!DOJO_CLAUSE(a.reduction && b.reduction)) return false;
  const ir::Assign op = reductionClass(a.node->leaf().assign);
  if (!DOJO_CLAUSE(op == reductionClass(b.node->leaf().assign))) return false;
  const bool exact = op == ir::Assign::max || op == ir::Assign::min ||
                     !ir::isFloat(state.program().buffer(a.access.buffer).dtype);
  return exact || DOJO_CLAUSE(!state.reachesDecision(a.access.buffer));
}

std::optional<Reversal> findReversal(const State& state, const std::vector<const ir::Site*>& first,
                                     const std::vector<const ir::Site*>& second,
                                     const std::vector<ir::Relation>& relations,
                                     const std::vector<Block>& atoms) {
  enum class Local : std::uint8_t { unasked, no, yes };
  std::vector<Local> local(state.program().buffers.size(), Local::unasked);
  for (const ir::Site* a : first) {
    for (const ir::Site* b : second) {
      if (!ir::mayConflict(*a, *b) || commute(state, *a, *b)) continue;
      Local& known = local[static_cast<std::size_t>(a->access.buffer)];
      if (known == Local::yes) break;
      if (ir::meet(state.accesses(), *a, *b, relations) == ir::Answer::no) continue;
      if (known == Local::unasked) {
        const bool is = localTo(state.accesses(), a->access.buffer, atoms);
        known = is ? Local::yes : Local::no;
      }
      if (known == Local::no) return Reversal{a, b};
      break;
    }
  }
  return std::nullopt;
}

Error dependenceError(const State& state, const Reversal& reversal, const ir::Path& place) {
  const ir::Site& a = *reversal.first;
  const ir::Site& b = *reversal.second;
  const auto says = [&](const ir::Site& site) {
    return std::string(site.touch == ir::Touch::write ? "the write" : "the read") + " of " +
           ir::printAccess(state.program(), site.access) + " at " + ir::toString(site.path);
  };
  return refuse("move.dependence", says(a) + " and " + says(b) + " would change order", place);
}

}  // namespace dojo::moves
