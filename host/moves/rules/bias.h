// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What bias_operand and its way back share: sums of products of signed bytes as sums of products
/// with unsigned ones.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/rule.h"

namespace dojo::moves {

/// A sum `t += x * y` at the bottom of loops around nothing else, of which `x` is biased.
struct BiasPlan {
  ir::Path place;  ///< The leaf.
  ir::Path root;   ///< The outermost of the loops.
  int operand = 0;
  std::string biased, sum;  ///< Names of the new buffers: x + 128, and the sum of y.
};

/// Names not given are the lowest free ones. Errors: "move.*".
[[nodiscard]] Result<BiasPlan> planBias(const State& state, const ir::Path& place, std::int64_t k,
                                        const std::string& biased, const std::string& sum);
[[nodiscard]] ir::Program applyBias(const ir::Program& program, const BiasPlan& plan);

/// The loops around the leaf at `place` that hold nothing else: the place of the outermost, or of
/// the leaf itself.
[[nodiscard]] ir::Path loopsAround(const ir::Program& program, const ir::Path& place);

}  // namespace dojo::moves
