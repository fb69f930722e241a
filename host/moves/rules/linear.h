// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Sums each of whose terms has a value as a factor: what factor_out and online_rescale share.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/dependence.h"
#include "ir/program.h"
#include "moves/coverage.h"
#include "moves/rule.h"
#include "moves/rules/cache.h"

namespace dojo::moves {

/// Where a value goes that reaches nothing but sums, in each term of which it is a factor once.
struct LinearFlow {
  std::vector<const ir::Site*> sums;   ///< The writes of the accumulators.
  std::vector<const ir::Site*> reads;  ///< The reads of the tmps on the way.
};

/// Follows what the leaf at `leaf` makes, by way of tmps that it alone writes (and the leaf at
/// `overwritten`, whose value it replaces) through products, quotients, negations and copies. All
/// are floats of one dtype.
[[nodiscard]] Result<LinearFlow> followLinear(const State& state, const ir::Path& leaf,
                                              const std::optional<ir::Path>& overwritten = {});

/// Proves that whatever reads the flow's tmps reads what was written in the same execution of
/// `block`.
[[nodiscard]] Status staysWithin(const State& state, const LinearFlow& flow, const Block& block);

/// A sum that runs in the node at `place`: every element of the region is set to zero in the body
/// around before, and nothing touches it in between.
struct SumPlan {
  ir::Path place;
  ir::BufferId accumulator = -1;
  Region region;

  /// For regionNest(): directly in the body around.
  [[nodiscard]] CacheRequest request() const;
};
/// Proves that the node at `place` only adds to the accumulator, by `sums` alone, beginning at
/// zero, at least one term to every element of the region.
[[nodiscard]] Result<SumPlan> planSum(const State& state, const ir::Path& place,
                                      ir::BufferId accumulator,
                                      const std::vector<const ir::Site*>& sums);

}  // namespace dojo::moves
