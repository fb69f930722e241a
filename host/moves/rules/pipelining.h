// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Filling a buffer one iteration ahead: what pipeline and unpipeline share.
///
///     4                                x(0) -> t(0)
///     | x({0}) -> t({0})               4
///     | uses t({0})            <->     | x({0} + 1) -> t({0} + 1) if {0} in [0, 3)
///                                      | uses t({0})
#pragma once

#include "base/result.h"
#include "moves/rule.h"

namespace dojo::moves {

/// Proves that the first child of the scope at `place` may be done an iteration ahead.
[[nodiscard]] Status canPipeline(const State& state, const ir::Path& place);
/// The program in which it is; needs canPipeline().
[[nodiscard]] ir::Program pipelined(const State& state, const ir::Path& place);

/// The program in which the scope at `place`, whose buffer is filled one iteration ahead, fills it
/// in each of its iterations; refused where it isn't what pipelined() makes of another program.
[[nodiscard]] Result<ir::Program> unpipelined(const State& state, const ir::Path& place);

}  // namespace dojo::moves
