// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Division by what is known before: by multiplying.
#pragma once

#include <optional>

#include "ir/program.h"

namespace dojo::region {

/// 1 / divisor as a sum of two numbers of one sign, the second small and 0 for powers of two:
/// fma(x, high, x * low) is x / divisor within one ULP, infinities and NaN included.
struct Inverse {
  double high = 0, low = 0;
};

/// nullopt: the divisor is zero, not finite or of extreme size; or the type isn't f64 or f32.
[[nodiscard]] std::optional<Inverse> inverseOf(double divisor, ir::DType type);

/// The same of a leaf that divides by a constant; nullopt for all others.
[[nodiscard]] std::optional<Inverse> inverseOf(const ir::Leaf& leaf, ir::DType type);

}  // namespace dojo::region
