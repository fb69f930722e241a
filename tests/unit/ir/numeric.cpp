// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/numeric.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

using namespace dojo::ir;

namespace {

const double kInf = std::numeric_limits<double>::infinity();

double floats(Op op, DType type, double a, double b = 0, double c = 0) {
  return evaluate(op, type, Number::of(a), Number::of(b), Number::of(c))->real;
}
std::int64_t integers(Op op, DType type, std::int64_t a, std::int64_t b = 0, std::int64_t c = 0) {
  return evaluate(op, type, Number::of(a), Number::of(b), Number::of(c))->integer;
}

}  // namespace

TEST_CASE("every half and bfloat survives the way through double") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double half = fromHalf(pattern);
    if (!std::isnan(half)) REQUIRE(toHalf(half) == pattern);
    const double bfloat = fromBfloat(pattern);
    if (!std::isnan(bfloat)) REQUIRE(toBfloat(bfloat) == pattern);
  }
  CHECK(std::isnan(fromHalf(toHalf(std::nan("")))));
  CHECK(std::isnan(fromBfloat(toBfloat(std::nan("")))));
}

TEST_CASE("rounding is to nearest, ties to even, with subnormals and overflow") {
  CHECK(roundTo(DType::f16, 2049.0) == 2048);
  CHECK(roundTo(DType::f16, 2051.0) == 2052);
  CHECK(roundTo(DType::f16, 65519.99) == 65504);
  CHECK(roundTo(DType::f16, 65520.0) == kInf);
  CHECK(roundTo(DType::f16, 0x1p-25) == 0);
  CHECK(roundTo(DType::f16, 0x1.8p-25) == 0x1p-24);
  CHECK(roundTo(DType::f16, 0x1.8p-24) == 0x1p-23);
  CHECK(roundTo(DType::bf16, 257.0) == 256);
  CHECK(roundTo(DType::bf16, 259.0) == 260);
  CHECK(roundTo(DType::bf16, -1e39) == -kInf);
  // 257 + 2^-45 lies above a tie of bf16 that double can still show.
  CHECK(roundTo(DType::bf16, 257.0 + 0x1p-44) == 258);
  // An integer just above a tie, which a detour through double would round to the tie.
  CHECK(roundTo(DType::bf16, (std::int64_t{257} << 54) + 1) == std::ldexp(258, 54));
  CHECK(roundTo(DType::f32, (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1) ==
        std::ldexp(1, 60) + std::ldexp(1, 37));
}

TEST_CASE("narrow formats agree with the nearest representable value") {
  std::mt19937_64 random(7);
  for (const DType type : {DType::f16, DType::bf16}) {
    for (int i = 0; i < 20000; ++i) {
      const double value = std::ldexp(std::uniform_real_distribution<>(-2, 2)(random),
                                      static_cast<int>(random() % 34) - 20);
      const double rounded = roundTo(type, value);
      const auto bits = type == DType::f16 ? toHalf(rounded) : toBfloat(rounded);
      const auto back = [type](unsigned b) {
        const auto pattern = static_cast<std::uint16_t>(b);
        return type == DType::f16 ? fromHalf(pattern) : fromBfloat(pattern);
      };
      REQUIRE(back(bits) == rounded);
      const double above = back(bits + 1U);
      if (std::isfinite(above)) REQUIRE(std::abs(value - rounded) <= std::abs(value - above));
      if ((bits & 0x7fff) != 0) {
        REQUIRE(std::abs(value - rounded) <= std::abs(value - back(bits - 1U)));
      }
    }
  }
}

TEST_CASE("narrow fma rounds once") {
  // 1 + 2^-11 is a tie of f16; the product's tail of 2^-22 decides it.
  CHECK(floats(Op::fma, DType::f16, 1 + 0x1p-10, 1 - 0x1p-10, 0x1p-11) == 1);
  CHECK(floats(Op::fma, DType::f16, 0x1p-24, 0x1p-24, 1 + 0x1p-10) == 1 + 0x1p-10);
  // In double the sum of 2049 and 2^-48 is 2049, a tie; the exact sum lies above it.
  CHECK(floats(Op::fma, DType::f16, 0x1p-24, 0x1p-24, 2048) == 2048);
  CHECK(floats(Op::fma, DType::f16, 3, 683, 0) == 2048);
  const double tieAbove = floats(Op::fma, DType::bf16, 0x1p-60, 0x1p-60, 256);
  CHECK(tieAbove == 256);
  CHECK(floats(Op::fma, DType::f32, 1 + 0x1p-23, 1 - 0x1p-23, -1) == -0x1p-46);
  CHECK(floats(Op::fma, DType::f64, 1 + 0x1p-52, 1 - 0x1p-52, -1) == -0x1p-104);
}

TEST_CASE("floats follow IEEE 754") {
  CHECK(floats(Op::add, DType::f32, 1, 0x1p-24) == 1);
  CHECK(floats(Op::div, DType::f32, 1, 0) == kInf);
  CHECK(std::isnan(floats(Op::div, DType::f32, 0, 0)));
  CHECK(floats(Op::mul, DType::f32, 1e30, 1e30) == kInf);
  CHECK(floats(Op::mul, DType::f32, 0x1p-100, 0x1p-49) == 0x1p-149);
  CHECK(floats(Op::round, DType::f32, 2.5) == 2);
  CHECK(floats(Op::round, DType::f32, -3.5) == -4);
  CHECK(floats(Op::rsqrt, DType::f32, 4) == 0.5);
  CHECK(floats(Op::rsqrt, DType::f64, -0.0) == -kInf);
  CHECK(floats(Op::sigmoid, DType::f32, -200) == 0);
  CHECK(floats(Op::max, DType::f32, -kInf, 3) == 3);
  CHECK(integers(Op::ne, DType::i32, 3, 4) == 1);
  const Number nan = Number::of(std::nan(""));
  CHECK(evaluate(Op::lt, DType::f32, nan, nan, {})->integer == 0);
  CHECK(evaluate(Op::ne, DType::f32, nan, nan, {})->integer == 1);
}

TEST_CASE("integers wrap, shift and divide as documented") {
  CHECK(integers(Op::add, DType::i8, 127, 1) == -128);
  CHECK(integers(Op::mul, DType::i32, 1 << 20, 1 << 12) == 0);
  CHECK(integers(Op::mul, DType::i64, std::int64_t{1} << 62, 2) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(integers(Op::neg, DType::u8, 1) == 255);
  CHECK(integers(Op::abs, DType::i8, -128) == -128);
  CHECK(integers(Op::div, DType::i32, -7, 2) == -3);
  CHECK(integers(Op::div, DType::i64, std::numeric_limits<std::int64_t>::min(), -1) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(
      evaluate(Op::div, DType::i32, Number::of(std::int64_t{1}), Number::of(std::int64_t{0}), {}));
  CHECK(integers(Op::shl, DType::i32, 1, 33) == 2);
  CHECK(integers(Op::shr, DType::i8, -128, 1) == -64);
  CHECK(integers(Op::shr, DType::u8, 128, 9) == 64);
  CHECK(integers(Op::bitNot, DType::u8, 1) == 254);
  CHECK(integers(Op::bitNot, DType::boolean, 1) == 0);
}

TEST_CASE("casts saturate from floats, wrap between integers") {
  const auto cast = [](double value, DType to) {
    return castNumber(Number::of(value), DType::f64, to).integer;
  };
  CHECK(cast(-1.9, DType::i32) == -1);
  CHECK(cast(300, DType::u8) == 255);
  CHECK(cast(-5, DType::u8) == 0);
  CHECK(cast(1e30, DType::i64) == std::numeric_limits<std::int64_t>::max());
  CHECK(cast(-kInf, DType::i64) == std::numeric_limits<std::int64_t>::min());
  CHECK(cast(std::nan(""), DType::i32) == 0);
  CHECK(cast(0.25, DType::boolean) == 1);
  const Number big = Number::of(std::int64_t{300});
  CHECK(castNumber(big, DType::i32, DType::i8).integer == 44);
  CHECK(saturatingCast(big, DType::i32, DType::i8).integer == 127);
  CHECK(saturatingCast(Number::of(std::int64_t{-300}), DType::i32, DType::u8).integer == 0);
}
