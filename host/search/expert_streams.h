// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The recipe of expert.h for targets with data movers and hardware loops.
///
/// 1. Take what doesn't change out of loops, divisions by it included, and read guarded operands of
///    contractions from padded copies.
/// 2. Part what the floating-point unit does in one instruction from what takes a routine.
/// 3. Nests of the former: contractions and sums in blocks of accumulators, as many as hide how
///    long an operation takes, initial values and results folded into the first and the last step;
///    then streams and hardware loops on all that can have them.
/// 4. Innermost loops of what is left are put in a row, and the outermost loops spread over the
///    harts.
#pragma once

#include "search/position.h"

namespace dojo::search {

[[nodiscard]] Position expertOnStreams(const Position& start);

}  // namespace dojo::search
