// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How errors propagate: a value with the bound of what a correct candidate may differ by.
///
/// The value is a double for f32 and narrower, a Wide for f64. The bound covers every rounding and
/// every rewrite that is allowed (division by way of a reciprocal, products contracted or not).
/// It is infinite where nothing can be said: where an intermediate may overflow, a divisor may be
/// zero, a root may be of a negative number. A non-finite value with a finite bound is certain: a
/// correct candidate has the same.
///
/// Each operation has a formula for finite values (`finite...`), simple enough for tight loops;
/// accepted() tells whether its result stands, and settled() says what holds where it doesn't.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/numeric.h"
#include "ir/reference_wide.h"

namespace dojo::ir {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
/// Covers the rounding of the bounds themselves, second-order terms, and targets that round f16
/// and bf16 by way of f32.
constexpr double kSlack = 1 + 0x1p-10;

template <class R>
struct Estimate {
  R value{};
  double bound = 0;
};

[[gnu::always_inline]] inline double approximate(double a) { return a; }
[[gnu::always_inline]] inline double approximate(Wide a) { return a.high; }
[[gnu::always_inline]] inline double magnitude(double a) { return std::abs(a); }
[[gnu::always_inline]] inline double magnitude(Wide a) { return std::abs(a.high); }
inline double squareRoot(double a) { return std::sqrt(a); }
/// The arithmetic for functions: good to well under an ULP of the format.
inline double extended(double a) { return a; }

template <class R>
R narrowed(long double a) {
  if constexpr (std::is_same_v<R, Wide>) {
    return fromExtended(a);
  } else {
    return static_cast<double>(a);
  }
}

template <class R>
[[gnu::always_inline]] inline bool accepted(const Estimate<R>& e, const FloatFormat& format) {
  return magnitude(e.value) + e.bound <= format.largest;
}

/// Whether a value has no more digits than the format, and is no subnormal. (Splits the digits of
/// a double; a Wide is a double where nothing is left over.)
[[gnu::always_inline]] inline bool representable(double value, const FloatFormat& format) {
  const double scaled = value * (format.unit * 0x1p53 + 1);
  const double head = scaled - (scaled - value);
  return head == value && (std::abs(value) >= format.leastNormal || value == 0);
}
[[gnu::always_inline]] inline bool representable(Wide value, const FloatFormat& format) {
  const bool complete = value.low == 0 && (std::abs(value.high) >= 0x1p-900 || value.high == 0);
  return complete && representable(value.high, format);
}

/// Adds the error of one rounding, which is none where exact operands give a representable value.
template <class R>
[[gnu::always_inline]] inline Estimate<R> roundedOnce(R value, double bound,
                                                      const FloatFormat& format) {
  const double unit = format.unit * kSlack;
  const double error = bound + unit * (magnitude(value) + bound) + format.least;
  return {value, bound == 0 && representable(value, format) ? 0 : error};
}

/// Adds the error of `roundings` roundings of the result.
template <class R>
[[gnu::always_inline]] inline Estimate<R> rounded(R value, double bound, const FloatFormat& format,
                                                  double roundings) {
  const double unit = format.unit * kSlack * roundings;
  return {value, bound + unit * (magnitude(value) + bound) + format.least * roundings};
}

// --- Formulas for finite values ------------------------------------------------------------------

template <class R>
[[gnu::always_inline]] inline Estimate<R> finiteAdd(Estimate<R> a, Estimate<R> b,
                                                    const FloatFormat& format) {
  return roundedOnce(a.value + b.value, a.bound + b.bound, format);
}

template <class R>
[[gnu::always_inline]] inline Estimate<R> finiteSubtract(Estimate<R> a, Estimate<R> b,
                                                         const FloatFormat& format) {
  return roundedOnce(a.value - b.value, a.bound + b.bound, format);
}

template <class R>
[[gnu::always_inline]] inline Estimate<R> finiteMultiply(Estimate<R> a, Estimate<R> b,
                                                         const FloatFormat& format) {
  const R value = a.value * b.value;
  const double bound =
      magnitude(a.value) * b.bound + magnitude(b.value) * a.bound + a.bound * b.bound;
  const bool vanished = magnitude(value) == 0 && magnitude(a.value) != 0 && magnitude(b.value) != 0;
  return roundedOnce(value, vanished ? bound + format.least : bound, format);
}

/// May be x times the reciprocal of y: two roundings, and the reciprocal may be subnormal.
template <class R>
[[gnu::always_inline]] inline Estimate<R> finiteDivide(Estimate<R> a, Estimate<R> b,
                                                       const FloatFormat& format) {
  const R value = a.value / b.value;
  const double least = magnitude(b.value) - b.bound;
  const double bound = (a.bound + magnitude(value) * b.bound) / least;
  const double subnormal = format.least * (magnitude(a.value) + a.bound);
  // The reciprocal must not overflow: 1 / least <= largest.
  const double safe = least * format.largest >= 1 ? bound + subnormal : kUnknown;
  return rounded(value, safe, format, 2);
}

template <class R>
[[gnu::always_inline]] inline Estimate<R> finiteSquareRoot(Estimate<R> a,
                                                           const FloatFormat& format) {
  const R value = squareRoot(a.value);
  const double least = magnitude(a.value) - a.bound;
  const double sum = magnitude(value) + std::sqrt(std::max(least, 0.0));
  const double bound = a.bound == 0 ? 0 : least >= 0 ? a.bound / sum : kUnknown;
  return rounded(value, bound, format, 1);
}

/// Where a candidate's operands may be in the other order, either is in reach. Of NaN and a number
/// a candidate may take either.
template <class R>
[[gnu::always_inline]] inline Estimate<R> larger(Estimate<R> a, Estimate<R> b) {
  const double x = approximate(a.value);
  const double y = approximate(b.value);
  const bool first = x > y || (x == y && approximate(a.value - b.value) > 0);
  const double bound = x - a.bound >= y + b.bound   ? a.bound
                       : y - b.bound >= x + a.bound ? b.bound
                                                    : std::max(a.bound, b.bound);
  return {first ? a.value : b.value, x == x && y == y ? bound : kUnknown};
}

template <class R>
[[gnu::always_inline]] inline Estimate<R> negated(Estimate<R> a) {
  return {-a.value, a.bound};
}

// --- Everything else, and non-finite values
// -------------------------------------------------------

/// The whole of a floating-point operation (not comparisons, casts, copies or select).
template <class R>
[[nodiscard]] Estimate<R> estimate(Op op, const FloatFormat& format, Estimate<R> a, Estimate<R> b,
                                   Estimate<R> c);

/// What a comparison found, and whether a candidate must find the same.
struct Comparison {
  bool value = false;
  bool certain = true;
};
template <class R>
[[nodiscard]] Comparison estimateComparison(Op op, Estimate<R> a, Estimate<R> b);

/// The chosen one; of an uncertain condition the bound covers both.
template <class R>
[[nodiscard]] Estimate<R> estimateSelect(bool condition, bool certain, Estimate<R> a,
                                         Estimate<R> b);

/// Rounding into a narrower format.
template <class R>
[[nodiscard]] Estimate<R> estimateRounding(Estimate<R> a, const FloatFormat& format);

/// An integer with its bound.
struct IntegerEstimate {
  std::int64_t value = 0;
  double bound = 0;
};
template <class R>
[[nodiscard]] IntegerEstimate estimateTruncation(Estimate<R> a, DType to);
/// One operation on integers. Sets `byZero` where a divisor is zero.
[[nodiscard]] IntegerEstimate estimateInteger(Op op, DType type, IntegerEstimate a,
                                              IntegerEstimate b, IntegerEstimate c, bool& byZero);
[[nodiscard]] Comparison compareIntegers(Op op, IntegerEstimate a, IntegerEstimate b);

}  // namespace dojo::ir
