// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Double-double numbers: about 106 bits, from pairs of doubles.
#pragma once

#include <cmath>

namespace dojo::ir {

/// high + low, where high is the nearest double to the sum. Infinities and NaN are in `high`.
struct Wide {
  double high = 0;
  double low = 0;
};

/// The sum and what was lost in it. A non-finite sum lost nothing.
[[gnu::always_inline]] inline Wide twoSum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double lost = (a - (sum - part)) + (b - part);
  return {sum, lost == lost ? lost : 0};
}

/// The same where |a| >= |b|, or a is 0.
[[gnu::always_inline]] inline Wide quickSum(double a, double b) {
  const double sum = a + b;
  const double lost = b - (sum - a);
  return {sum, lost == lost ? lost : 0};
}

[[gnu::always_inline]] inline Wide twoProduct(double a, double b) {
  const double product = a * b;
  const double lost = std::fma(a, b, -product);
  return {product, lost == lost ? lost : 0};
}

[[gnu::always_inline]] inline Wide operator+(Wide a, Wide b) {
  Wide high = twoSum(a.high, b.high);
  const Wide low = twoSum(a.low, b.low);
  high = quickSum(high.high, high.low + low.high);
  return quickSum(high.high, high.low + low.low);
}
[[gnu::always_inline]] inline Wide operator-(Wide a) { return {-a.high, -a.low}; }
[[gnu::always_inline]] inline Wide operator-(Wide a, Wide b) { return a + -b; }

[[gnu::always_inline]] inline Wide operator*(Wide a, Wide b) {
  const Wide product = twoProduct(a.high, b.high);
  const double low = product.low + (a.high * b.low + a.low * b.high);
  return quickSum(product.high, std::isfinite(low) ? low : 0);
}

[[gnu::always_inline]] inline Wide operator/(Wide a, Wide b) {
  const double first = a.high / b.high;
  if (!std::isfinite(first) || first == 0) return {first, 0};
  const Wide rest = a - b * Wide{first, 0};
  const double second = rest.high / b.high;
  const Wide left = rest - b * Wide{second, 0};
  return quickSum(first, second) + Wide{left.high / b.high, 0};
}

inline Wide squareRoot(Wide a) {
  const double first = std::sqrt(a.high);
  if (!std::isfinite(first) || first == 0) return {first, 0};
  const Wide rest = a - twoProduct(first, first);
  return quickSum(first, rest.high / (2 * first));
}

/// More digits than a double has, for functions of the mathematical library.
inline long double extended(Wide a) { return static_cast<long double>(a.high) + a.low; }
inline Wide fromExtended(long double a) {
  const auto high = static_cast<double>(a);
  if (!std::isfinite(high)) return {high, 0};
  return {high, static_cast<double>(a - high)};
}

}  // namespace dojo::ir
