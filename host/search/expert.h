// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The schedule that somebody who knows the target would write first: one recipe for every kernel,
/// driven by dependences, by what is reused, and by the target's registers and lanes. It looks at
/// accesses alone: names and the order of dims and loops don't matter.
///
/// 1. Fuse a nest with the one that reads what it made, except into a contraction.
/// 2. Take what doesn't change out of loops, divisions by it included.
/// 3. Read guarded operands of contractions from padded copies.
/// 4. Block every reduction that is contiguous along its result: rows by vectors of accumulators;
/// by
///    an instruction of the target's own where one does such sums. What their vectors read in steps
///    is laid out by remainders.
/// 5. Vectorise the other innermost loops, along what is contiguous.
/// 6. Ask guards as far out as they're the same, bring temporaries near, and spread the outermost
///    loops over the harts.
///
/// Where the target has no vectors, blocks are of scalars, as many as its registers hold, and 5
/// puts the iterations of innermost loops in a row instead.
#pragma once

#include "search/position.h"

namespace dojo::search {

/// `start` with the steps of the recipe; each is a call that a search can turn the knobs of. What
/// the recipe can't improve stays as it was.
[[nodiscard]] Position expert(const Position& start);

}  // namespace dojo::search
