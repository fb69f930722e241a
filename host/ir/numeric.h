// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What single operations on single elements mean: the one place of these definitions, with which
/// generated code agrees.
///
/// Floats. f32 and f64 are IEEE 754 with round to nearest, ties to even; f16 and bf16 likewise:
/// each operation gives the exact result rounded once (`+ - * / fma sqrt`). exp, log, tanh, erf,
/// sigmoid, pow and rsqrt are computed here in a wider format and rounded: as good as exact next to
/// the ULPs that a target is allowed. rsqrt(+-0) is +-inf. pow is that of C (pow(x, 0) = 1).
///   min(a, b) = a < b ? a : b and max(a, b) = a > b ? a : b here; with a NaN operand a target may
///   give either operand, and either zero of two.
///   round goes to the nearest integer, ties to even. Comparisons with NaN are false, but `!=` is
///   true.
/// Integers wrap in two's complement (`+ - * fma neg abs`, and shifts left).
///   Division truncates toward zero; the least value divided by -1 wraps to itself; division by
///   zero is an error.
///   Shift amounts are taken modulo the width of the type; `>>` is arithmetic for signed types and
///   logical for u8.
///   Bit operations on bool are the logical ones.
/// Casts. `cast`: float to float rounds; integer to float rounds once; float to integer truncates
///   toward zero and saturates, NaN gives 0; integer to integer wraps; to bool: not equal to zero.
///   `sat_cast` differs from it only between integers, where it saturates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace dojo::ir {

/// One element: floats of any dtype as a double that the dtype holds exactly; integers and bool
/// (0 or 1) as int64. Which one is said by the dtype at hand.
union Number {
  double real;
  std::int64_t integer;

  static Number of(double value) {
    Number out;
    out.real = value;
    return out;
  }
  static Number of(std::int64_t value) {
    Number out;
    out.integer = value;
    return out;
  }
};

/// What the float formats are made of.
struct FloatFormat {
  double unit;         ///< Unit roundoff: half the distance from 1 to the next larger value.
  double leastNormal;  ///< Smallest normal value.
  double least;        ///< Smallest subnormal value.
  double largest;      ///< Largest finite value.
  int functionUlps;    ///< Allowed for exp log tanh erf sigmoid rsqrt.
  int powUlps;         ///< Allowed for pow.
};
[[nodiscard]] const FloatFormat& formatOf(DType type);

/// The nearest value of the float type, ties to even; overflow gives an infinity.
[[nodiscard]] double roundTo(DType type, double value);
[[nodiscard]] double roundTo(DType type, std::int64_t value);
/// Modulo 2^width into the integer type (bool: not equal to zero).
[[nodiscard]] std::int64_t wrapTo(DType type, std::int64_t value);
[[nodiscard]] std::int64_t saturateTo(DType type, std::int64_t value);
/// Truncates toward zero and saturates; NaN gives 0.
[[nodiscard]] std::int64_t truncateTo(DType type, double value);
/// Smallest and largest value of an integer type or bool.
[[nodiscard]] std::int64_t lowest(DType type);
[[nodiscard]] std::int64_t highest(DType type);

[[nodiscard]] double fromHalf(std::uint16_t bits);
[[nodiscard]] std::uint16_t toHalf(double value);
[[nodiscard]] double fromBfloat(std::uint16_t bits);
[[nodiscard]] std::uint16_t toBfloat(double value);

/// The element at `bytes`, and back (the value must be one of the type).
[[nodiscard]] Number load(DType type, const std::byte* bytes);
void store(DType type, std::byte* bytes, Number value);

/// A literal of a leaf that computes in `type`.
[[nodiscard]] Number numberOf(const Constant& constant, DType type);

/// Op::cast, which is also the implicit conversion of operands where that is exact.
[[nodiscard]] Number castNumber(Number value, DType from, DType to);
/// Op::satCast.
[[nodiscard]] Number saturatingCast(Number value, DType from, DType to);

/// One operation (neither copy nor the casts) on operands of `type`; the condition of `select` is
/// a bool. The result has `type`, comparisons give bool. nullopt: integer division by zero.
[[nodiscard]] std::optional<Number> evaluate(Op op, DType type, Number a, Number b, Number c);

}  // namespace dojo::ir
