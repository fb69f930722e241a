// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Sums of exponentials of x - m while the maximum m is still growing: what online_rescale and
/// two_pass share.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"
#include "moves/rules/linear.h"

namespace dojo::moves {

/// Two neighbouring scopes: the first takes maxima, the second sums up.
struct RescalePlan {
  ir::Path place;                     ///< The first scope.
  ir::Access maximum;                 ///< m: one element while the scopes run.
  std::vector<ir::Path> differences;  ///< The leaves `d = x - m` in the second scope.
  std::vector<SumPlan> sums;          ///< All that goes into sums with their exponentials.
};
/// The precondition, numbers included.
[[nodiscard]] Result<RescalePlan> planRescale(const State& state, const ir::Path& place);

/// Names of the tmps: the maximum so far and then the factor of the sums, the maximum or the lowest
/// finite number, and 0 or NaN. Empty ones are the lowest free.
using RescaleNames = std::array<std::string, 3>;
/// The effect; not canonical.
[[nodiscard]] ir::Program applyRescale(const ir::Program& program, const RescalePlan& plan,
                                       const RescaleNames& names);

}  // namespace dojo::moves
