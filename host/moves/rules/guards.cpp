// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/guards.h"

#include <algorithm>

#include "moves/arguments.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

Result<ir::GuardTerm> termAt(const State& state, const ir::Path& place, std::int64_t number) {
  const ir::Guard& guard = state.visit(place)->node->guard;
  const auto count = static_cast<std::int64_t>(guard.size());
  if (number < 0 || number >= count) {
    return refuse("move.guard",
                  "the guard has " + std::to_string(count) + " terms, numbered from 0", place);
  }
  return guard[static_cast<std::size_t>(number)];
}

std::optional<std::int64_t> findTerm(const ir::Guard& guard, const ir::Affine& expr) {
  const auto found = std::find_if(guard.begin(), guard.end(),
                                  [&](const ir::GuardTerm& term) { return term.expr == expr; });
  if (found == guard.end()) return std::nullopt;
  return found - guard.begin();
}

ir::Guard without(ir::Guard guard, const ir::GuardTerm& term) {
  std::erase(guard, term);
  return guard;
}

bool implied(const State& state, const ir::Visit& visit, const ir::GuardTerm& term) {
  return alwaysWithin(state.program(), visit.enclosing, without(visit.node->guard, term), term.expr,
                      term.lo, term.hi);
}

}  // namespace dojo::moves
