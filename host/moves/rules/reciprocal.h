// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// One over an invariant, computed outside the scopes it doesn't change in: what reciprocal and
/// divide share.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"

namespace dojo::moves {

/// Where `1 / s` goes for the leaf `y = x / s` at `leaf`: before the scope at `before`.
struct ReciprocalPlan {
  ir::Path leaf;
  ir::Path before;
};
/// The precondition, numbers included.
[[nodiscard]] Result<ReciprocalPlan> planReciprocal(const State& state, const ir::Path& leaf);
/// The effect, with a new tmp of that name; not canonical.
[[nodiscard]] ir::Program applyReciprocal(const State& state, const ReciprocalPlan& plan,
                                          const std::string& name);

}  // namespace dojo::moves
