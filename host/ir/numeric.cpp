// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/numeric.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace dojo::ir {
namespace {

constexpr FloatFormat kF64{0x1p-53, 0x1p-1022, 0x1p-1074, std::numeric_limits<double>::max(), 4, 8};
constexpr FloatFormat kF32{0x1p-24, 0x1p-126, 0x1p-149, std::numeric_limits<float>::max(), 2, 4};
constexpr FloatFormat kF16{0x1p-11, 0x1p-14, 0x1p-24, 65504, 1, 1};
constexpr FloatFormat kBf16{0x1p-8, 0x1p-126, 0x1p-133, 0x1.fep127, 1, 1};

/// Rounds to a format narrower than double with `digits` significant bits.
double roundNarrow(double value, const FloatFormat& format, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int quantum = std::max(exponent - digits, std::ilogb(format.least));
  // Scaling by a power of two is exact; nearbyint rounds ties to even.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  if (std::abs(rounded) <= format.largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// The double nearest to a + b when rounding to odd, from which rounding to a much narrower format
/// is as good as rounding a + b itself.
double addToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double bPart = sum - a;
  const double error = (a - (sum - bPart)) + (b - bPart);
  if (error == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  const double toward = std::copysign(std::numeric_limits<double>::infinity(), error);
  return std::nextafter(sum, toward);
}

/// An integer as a double with its lost bits kept as one sticky bit.
double toDoubleSticky(std::int64_t value) {
  constexpr std::uint64_t kLow = 0x7ff;
  const bool negative = value < 0;
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 != 0) {
    const bool sticky = (magnitude & kLow) != 0;
    magnitude = (magnitude & ~kLow) | (sticky ? kLow + 1 : 0);
  }
  const auto real = static_cast<double>(magnitude);
  return negative ? -real : real;
}

int widthOf(DType type) { return sizeBytes(type) * 8; }

template <class F>
F functionIn(Op op, F a, F b) {
  switch (op) {
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::rsqrt:
      return F(1) / std::sqrt(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::erf:
      return std::erf(a);
    case Op::sigmoid:
      return F(1) / (F(1) + std::exp(-a));
    case Op::pow:
      return std::pow(a, b);
    default:
      DOJO_CHECK(false, "not a function");
      return a;
  }
}

double multiplyAdd(DType type, double a, double b, double c) {
  if (type == DType::f64) return std::fma(a, b, c);
  if (type == DType::f32) {
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  return roundTo(type, addToOdd(a * b, c));
}

Number compare(Op op, auto a, auto b) {
  switch (op) {
    case Op::lt:
      return Number::of(std::int64_t{a < b});
    case Op::le:
      return Number::of(std::int64_t{a <= b});
    case Op::gt:
      return Number::of(std::int64_t{a > b});
    case Op::ge:
      return Number::of(std::int64_t{a >= b});
    case Op::eq:
      return Number::of(std::int64_t{a == b});
    case Op::ne:
      return Number::of(std::int64_t{a != b});
    default:
      DOJO_CHECK(false, "not a comparison");
      return Number::of(std::int64_t{0});
  }
}

/// Double arithmetic followed by one rounding is correctly rounded in the narrower formats: a
/// double has more than twice their digits.
double evaluateFloat(Op op, DType type, double a, double b, double c) {
  switch (op) {
    case Op::add:
      return roundTo(type, a + b);
    case Op::sub:
      return roundTo(type, a - b);
    case Op::mul:
      return roundTo(type, a * b);
    case Op::div:
      return roundTo(type, a / b);
    case Op::fma:
      return multiplyAdd(type, a, b, c);
    case Op::neg:
      return -a;
    case Op::abs:
      return std::abs(a);
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a > b ? a : b;
    case Op::sqrt:
      return roundTo(type, std::sqrt(a));
    case Op::round:
      return std::nearbyint(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::trunc:
      return std::trunc(a);
    default:
      break;
  }
  if (type != DType::f64) return roundTo(type, functionIn<double>(op, a, b));
  return static_cast<double>(functionIn<long double>(op, a, b));
}

std::optional<std::int64_t> evaluateInteger(Op op, DType type, std::int64_t a, std::int64_t b,
                                            std::int64_t c) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  const auto wrap = [type](std::uint64_t value) {
    return wrapTo(type, static_cast<std::int64_t>(value));
  };
  const std::uint64_t amount = ub & static_cast<std::uint64_t>(widthOf(type) - 1);
  switch (op) {
    case Op::add:
      return wrap(ua + ub);
    case Op::sub:
      return wrap(ua - ub);
    case Op::mul:
      return wrap(ua * ub);
    case Op::fma:
      return wrap(ua * ub + static_cast<std::uint64_t>(c));
    case Op::div:
      if (b == 0) return std::nullopt;
      return b == -1 ? wrap(0 - ua) : a / b;
    case Op::neg:
      return wrap(0 - ua);
    case Op::abs:
      return a < 0 ? wrap(0 - ua) : a;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::bitAnd:
      return a & b;
    case Op::bitOr:
      return a | b;
    case Op::bitXor:
      return a ^ b;
    case Op::bitNot:
      return type == DType::boolean ? std::int64_t{a == 0} : wrap(~ua);
    case Op::shl:
      return wrap(ua << amount);
    case Op::shr:
      return a >> amount;
    default:
      DOJO_CHECK(false, "not an operation on integers");
      return 0;
  }
}

}  // namespace

const FloatFormat& formatOf(DType type) {
  switch (type) {
    case DType::f64:
      return kF64;
    case DType::f32:
      return kF32;
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBf16;
    default:
      DOJO_CHECK(false, "not a float type");
      return kF64;
  }
}

double roundTo(DType type, double value) {
  switch (type) {
    case DType::f64:
      return value;
    case DType::f32:
      return static_cast<float>(value);
    case DType::f16:
      return roundNarrow(value, kF16, 11);
    case DType::bf16:
      return roundNarrow(value, kBf16, 8);
    default:
      DOJO_CHECK(false, "not a float type");
      return value;
  }
}

double roundTo(DType type, std::int64_t value) {
  if (type == DType::f64) return static_cast<double>(value);
  if (type == DType::f32) return static_cast<float>(value);
  return roundTo(type, toDoubleSticky(value));
}

std::int64_t wrapTo(DType type, std::int64_t value) {
  switch (type) {
    case DType::i64:
      return value;
    case DType::i32:
      return static_cast<std::int32_t>(value);
    case DType::i16:
      return static_cast<std::int16_t>(value);
    case DType::i8:
      return static_cast<std::int8_t>(value);
    case DType::u8:
      return static_cast<std::uint8_t>(value);
    case DType::boolean:
      return value != 0;
    default:
      DOJO_CHECK(false, "not an integer type");
      return value;
  }
}

std::int64_t lowest(DType type) {
  if (type == DType::u8 || type == DType::boolean) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - widthOf(type));
}

std::int64_t highest(DType type) {
  if (type == DType::u8) return 255;
  if (type == DType::boolean) return 1;
  return std::numeric_limits<std::int64_t>::max() >> (64 - widthOf(type));
}

std::int64_t saturateTo(DType type, std::int64_t value) {
  if (type == DType::boolean) return value != 0;
  return std::clamp(value, lowest(type), highest(type));
}

std::int64_t truncateTo(DType type, double value) {
  if (type == DType::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  // 2^63 itself and beyond saturate; below it the conversion to int64 is defined.
  if (value >= 0x1p63) return highest(type);
  if (value < -0x1p63) return lowest(type);
  return saturateTo(type, static_cast<std::int64_t>(value));
}

double fromHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t toHalf(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000U : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  const double magnitude = std::abs(roundTo(DType::f16, value));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < kF16.leastNormal) {
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(magnitude, 24)));
  }
  const int exponent = std::ilogb(magnitude);
  const auto mantissa = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent)) - 1024U;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10 | mantissa);
}

double fromBfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t toBfloat(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xffc0 : 0x7fc0;
  const auto rounded = static_cast<float>(roundTo(DType::bf16, value));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16);
}

namespace {
template <class T>
T bitsAt(const std::byte* bytes) {
  T out;
  std::memcpy(&out, bytes, sizeof out);
  return out;
}
template <class T>
void putBits(std::byte* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}
}  // namespace

Number load(DType type, const std::byte* bytes) {
  switch (type) {
    case DType::f64:
      return Number::of(bitsAt<double>(bytes));
    case DType::f32:
      return Number::of(double{bitsAt<float>(bytes)});
    case DType::f16:
      return Number::of(fromHalf(bitsAt<std::uint16_t>(bytes)));
    case DType::bf16:
      return Number::of(fromBfloat(bitsAt<std::uint16_t>(bytes)));
    case DType::i64:
      return Number::of(bitsAt<std::int64_t>(bytes));
    case DType::i32:
      return Number::of(std::int64_t{bitsAt<std::int32_t>(bytes)});
    case DType::i16:
      return Number::of(std::int64_t{bitsAt<std::int16_t>(bytes)});
    case DType::i8:
      return Number::of(std::int64_t{bitsAt<std::int8_t>(bytes)});
    case DType::u8:
      return Number::of(std::int64_t{bitsAt<std::uint8_t>(bytes)});
    case DType::boolean:
      return Number::of(std::int64_t{bitsAt<std::uint8_t>(bytes) != 0});
  }
  DOJO_CHECK(false, "unknown dtype");
}

void store(DType type, std::byte* bytes, Number value) {
  switch (type) {
    case DType::f64:
      return putBits(bytes, value.real);
    case DType::f32:
      return putBits(bytes, static_cast<float>(value.real));
    case DType::f16:
      return putBits(bytes, toHalf(value.real));
    case DType::bf16:
      return putBits(bytes, toBfloat(value.real));
    case DType::i64:
      return putBits(bytes, value.integer);
    case DType::i32:
      return putBits(bytes, static_cast<std::int32_t>(value.integer));
    case DType::i16:
      return putBits(bytes, static_cast<std::int16_t>(value.integer));
    case DType::i8:
      return putBits(bytes, static_cast<std::int8_t>(value.integer));
    case DType::u8:
      return putBits(bytes, static_cast<std::uint8_t>(value.integer));
    case DType::boolean:
      return putBits(bytes, static_cast<std::uint8_t>(value.integer != 0));
  }
}

Number numberOf(const Constant& constant, DType type) {
  if (const auto* real = std::get_if<double>(&constant)) {
    return isFloat(type) ? Number::of(roundTo(type, *real)) : Number::of(truncateTo(type, *real));
  }
  const std::int64_t integer = std::get<std::int64_t>(constant);
  return isFloat(type) ? Number::of(roundTo(type, integer)) : Number::of(wrapTo(type, integer));
}

Number castNumber(Number value, DType from, DType to) {
  if (isFloat(from)) {
    return isFloat(to) ? Number::of(roundTo(to, value.real))
                       : Number::of(truncateTo(to, value.real));
  }
  return isFloat(to) ? Number::of(roundTo(to, value.integer))
                     : Number::of(wrapTo(to, value.integer));
}

Number saturatingCast(Number value, DType from, DType to) {
  if (isFloat(from) || isFloat(to)) return castNumber(value, from, to);
  return Number::of(saturateTo(to, value.integer));
}

std::optional<Number> evaluate(Op op, DType type, Number a, Number b, Number c) {
  if (op == Op::select) return a.integer != 0 ? b : c;
  const bool floats = isFloat(type);
  if (info(op).comparison) {
    return floats ? compare(op, a.real, b.real) : compare(op, a.integer, b.integer);
  }
  if (floats) return Number::of(evaluateFloat(op, type, a.real, b.real, c.real));
  const auto result = evaluateInteger(op, type, a.integer, b.integer, c.integer);
  if (!result) return std::nullopt;
  return Number::of(*result);
}

}  // namespace dojo::ir
