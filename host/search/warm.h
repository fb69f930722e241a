// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Bringing a schedule over from the same kernel at another shape.
#pragma once

#include "moves/move.h"
#include "search/position.h"

namespace dojo::search {

/// `start` with the moves of the trace as far as they're possible here: where a number doesn't fit
/// (a factor that doesn't divide), the nearest that divides the extent in question takes its place;
/// what is refused even so is left out.
[[nodiscard]] Position fitted(const Position& start, const moves::Trace& trace);

}  // namespace dojo::search
