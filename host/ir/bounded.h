// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A reference value with what a correct result may differ by, and how a result compares with it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace dojo::ir {

/// A reference value of one element with what a correct candidate may differ by.
struct Bounded {
  double value = 0;
  double low = 0;    ///< value + low is the reference: f64 and i64 need more than a double holds.
  double bound = 0;  ///< Absolute error allowed; infinite: not compared.

  [[nodiscard]] bool isCompared() const { return !std::isinf(bound); }
  /// An error of this size over what is allowed.
  [[nodiscard]] double relative(double error) const {
    if (error == 0 || !isCompared()) return 0;
    const double out = error / bound;  // Infinite where nothing is allowed.
    return std::isnan(out) ? std::numeric_limits<double>::infinity() : out;
  }
};

/// How far a result is off over what is allowed: at most 1 is right. NaN and infinities must be the
/// same. 0 for elements that aren't compared.
[[nodiscard]] inline double excess(const Bounded& want, double got) {
  if (std::isfinite(want.value)) return want.relative(std::abs((got - want.value) - want.low));
  const bool same = std::isnan(want.value) ? std::isnan(got) : got == want.value;
  return want.relative(same ? 0 : std::numeric_limits<double>::infinity());
}
[[nodiscard]] inline double excess(const Bounded& want, std::int64_t got) {
  // An extended double holds every int64; the reference's two parts add up to one.
  const long double off = static_cast<long double>(got) - want.value - want.low;
  return want.relative(static_cast<double>(std::abs(off)));
}

}  // namespace dojo::ir
