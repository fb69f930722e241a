// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A factor of every term of a sum, applied to the sum instead: what factor_out and factor_in
/// share.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"
#include "moves/rules/linear.h"

namespace dojo::moves {

struct FactorPlan {
  ir::Path leaf;        ///< Whose operand the factor is.
  std::size_t operand;  ///< The factor.
  SumPlan sum;
};
/// The precondition, numbers included.
[[nodiscard]] Result<FactorPlan> planFactor(const State& state, const ir::Path& leaf,
                                            std::int64_t operand);
/// The effect; not canonical.
[[nodiscard]] ir::Program applyFactor(const ir::Program& program, const FactorPlan& plan);

/// The sum that the value made at `leaf` goes into: the accumulator and the child, of the body in
/// which it is set before, that adds to it.
struct SumOf {
  ir::BufferId accumulator = -1;
  ir::Path place;
};
[[nodiscard]] Result<SumOf> sumOf(const State& state, const LinearFlow& flow, const ir::Path& leaf);

}  // namespace dojo::moves
