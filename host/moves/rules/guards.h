// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the moves on single terms of guards share. A term is named by its position in the guard, as
/// the text shows it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"

namespace dojo::moves {

/// The term of that number, or a refusal ("move.guard") where the node at `place` has none.
[[nodiscard]] Result<ir::GuardTerm> termAt(const State& state, const ir::Path& place,
                                           std::int64_t number);
/// The number of the term on this expression, if the guard has one; canonical guards have at most
/// one.
[[nodiscard]] std::optional<std::int64_t> findTerm(const ir::Guard& guard, const ir::Affine& expr);
/// The guard without that term.
[[nodiscard]] ir::Guard without(ir::Guard guard, const ir::GuardTerm& term);

/// True where the node would run as often with this term in its guard as without: the ranges of the
/// variables, the guards around it and its other terms imply it.
[[nodiscard]] bool implied(const State& state, const ir::Visit& visit, const ir::GuardTerm& term);

}  // namespace dojo::moves
