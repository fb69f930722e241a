// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// May executions change places? The question of every move that reorders.
#pragma once

#include <optional>
#include <vector>

#include "ir/dependence.h"
#include "moves/coverage.h"
#include "moves/rule.h"

namespace dojo::moves {

/// True for two self-updates of one accumulator by one reduction operator, which may change places
/// because re-association is allowed; not where rounding may then change a decision
/// (State::reachesDecision).
[[nodiscard]] bool commute(const State& state, const ir::Site& a, const ir::Site& b);

/// Two sites that would touch one storage element in the wrong order.
struct Reversal {
  const ir::Site* first;
  const ir::Site* second;
};
/// A pair of one site of `first` and one of `second` that may meet under `relations` and matters:
/// one writes, they don't commute, and the buffer isn't localTo(`atoms`), the pieces of program
/// that stay whole while they are moved about.
[[nodiscard]] std::optional<Reversal> findReversal(const State& state,
                                                   const std::vector<const ir::Site*>& first,
                                                   const std::vector<const ir::Site*>& second,
                                                   const std::vector<ir::Relation>& relations,
                                                   const std::vector<Block>& atoms);
/// The refusal that a reversal leads to ("move.dependence").
[[nodiscard]] Error dependenceError(const State& state, const Reversal& reversal,
                                    const ir::Path& place);

}  // namespace dojo::moves
