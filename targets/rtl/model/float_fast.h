// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The operations that programs are made of, by the host's own arithmetic where that is provably
/// what float.h computes: rounding to nearest, operands and results well inside the range (no
/// NaN, infinity, subnormal; nothing over- or underflows on the way). Whether a result is inexact
/// comes from the error of the operation, which is computed exactly. Each returns false where it
/// can't tell: then float.h does it.
///
/// Needs IEEE arithmetic without contraction of a * b + c (-ffp-contract=off).
#pragma once

#include <cmath>
#include <limits>

#include "float.h"

namespace dojo::rtl {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559);

namespace fast {

/// |a| is 0 or in [2^-400, 2^401): products and sums of such, and their errors, are 0 or normal.
inline bool moderate(std::uint64_t a) { return ((a >> 52 & 0x7ff) - 623) <= 800 || (a << 1) == 0; }
/// |a| is 0 or in [2^-100, 2^101), single precision.
inline bool moderate32(std::uint64_t a) { return ((a >> 23 & 0xff) - 27) <= 200 || (a << 33) == 0; }

inline double sumError(double a, double b, double sum) {
  const double back = sum - a;
  return (a - (sum - back)) + (b - back);
}

/// sum + error (|error| at most half of the last place of sum) in single precision, rounded once.
inline bool narrow(double sum, double error, std::uint64_t& result, unsigned& flags) {
  auto bits = std::bit_cast<std::uint64_t>(sum);
  const std::uint64_t exponent = bits >> 52 & 0x7ff;
  if (sum == 0) {
    result = bits >> 32;
    return true;
  }
  if (exponent - (1023 - 125) > 250) return false;  // Subnormal, or near to overflow.
  if (error != 0 && (bits & 1) == 0) {
    // Rounded to odd, nothing is lost for the second rounding: the neighbour towards the error.
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  }
  const auto odd = std::bit_cast<double>(bits);
  const auto rounded = static_cast<float>(odd);
  if (error != 0 || static_cast<double>(rounded) != odd) flags |= kInexact;
  result = std::bit_cast<std::uint32_t>(rounded);
  return true;
}

inline double widen(std::uint64_t a) { return std::bit_cast<float>(static_cast<std::uint32_t>(a)); }

}  // namespace fast

inline bool fastAdd64(std::uint64_t a, std::uint64_t b, std::uint64_t& result, unsigned& flags) {
  if (!fast::moderate(a) || !fast::moderate(b)) return false;
  const auto x = std::bit_cast<double>(a);
  const auto y = std::bit_cast<double>(b);
  const double sum = x + y;
  if (fast::sumError(x, y, sum) != 0) flags |= kInexact;
  result = std::bit_cast<std::uint64_t>(sum);
  return true;
}

inline bool fastMul64(std::uint64_t a, std::uint64_t b, std::uint64_t& result, unsigned& flags) {
  if (!fast::moderate(a) || !fast::moderate(b)) return false;
  const auto x = std::bit_cast<double>(a);
  const auto y = std::bit_cast<double>(b);
  const double product = x * y;
  if (std::fma(x, y, -product) != 0) flags |= kInexact;
  result = std::bit_cast<std::uint64_t>(product);
  return true;
}

inline bool fastMulAdd64(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& result,
                         unsigned& flags) {
  if (!fast::moderate(a) || !fast::moderate(b) || !fast::moderate(c)) return false;
  const auto x = std::bit_cast<double>(a);
  const auto y = std::bit_cast<double>(b);
  const auto z = std::bit_cast<double>(c);
  const double rounded = std::fma(x, y, z);
  // The error of a fused operation (Boldo and Muller): a * b = high + low, and so on.
  const double high = x * y;
  const double low = std::fma(x, y, -high);
  const double below = z + low;
  const double belowError = fast::sumError(z, low, below);
  const double above = high + below;
  const double aboveError = fast::sumError(high, below, above);
  if ((above - rounded) + aboveError != -belowError) flags |= kInexact;
  result = std::bit_cast<std::uint64_t>(rounded);
  return true;
}

inline bool fastMulAdd32(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& result,
                         unsigned& flags) {
  if (!fast::moderate32(a) || !fast::moderate32(b) || !fast::moderate32(c)) return false;
  const double product = fast::widen(a) * fast::widen(b);
  const double z = fast::widen(c);
  const double sum = product + z;
  return fast::narrow(sum, fast::sumError(product, z, sum), result, flags);
}

inline bool fastAdd32(std::uint64_t a, std::uint64_t b, std::uint64_t& result, unsigned& flags) {
  if (!fast::moderate32(a) || !fast::moderate32(b)) return false;
  const double x = fast::widen(a);
  const double y = fast::widen(b);
  const double sum = x + y;
  return fast::narrow(sum, fast::sumError(x, y, sum), result, flags);
}

inline bool fastMul32(std::uint64_t a, std::uint64_t b, std::uint64_t& result, unsigned& flags) {
  if (!fast::moderate32(a) || !fast::moderate32(b)) return false;
  return fast::narrow(fast::widen(a) * fast::widen(b), 0, result, flags);
}

}  // namespace dojo::rtl
