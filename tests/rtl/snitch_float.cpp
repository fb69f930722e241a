// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the cluster's FP instructions compute: the quick ways against the integer arithmetic, packed
// lanes against scalars, sums that are rounded once, boxes, conversions.
#include "snitch_float.h"

#include <cmath>
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include "float_fast.h"

namespace {

using namespace dojo::rtl;

constexpr std::uint64_t kBox = 0xffffffff00000000;

std::uint64_t bitsOf(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bitsOf(float value) { return kBox | std::bit_cast<std::uint32_t>(value); }

constexpr std::uint32_t scalar(unsigned function, unsigned format, unsigned rs2 = 2,
                               unsigned funct3 = 7) {
  return function << 27 | format << 25 | rs2 << 20 | 1U << 15 | funct3 << 12 | 3U << 7 | 0x53;
}
constexpr std::uint32_t packed(unsigned funct7, unsigned funct3, unsigned rs2 = 2) {
  return funct7 << 25 | rs2 << 20 | 1U << 15 | funct3 << 12 | 3U << 7 | 0x33;
}
constexpr std::uint32_t fused(unsigned opcode, unsigned format) {
  return 4U << 27 | format << 25 | 2U << 20 | 1U << 15 | 7U << 12 | 3U << 7 | opcode;
}

struct Outcome {
  std::uint64_t value;
  unsigned flags;
  bool operator==(const Outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Outcome& x) {
  return out << std::hex << x.value << " flags " << x.flags << std::dec;
}

Outcome run(std::uint32_t instruction, std::uint64_t a, std::uint64_t b, std::uint64_t c,
            Rounding mode = Rounding::NearestEven, unsigned formats = 0) {
  unsigned flags = 0;
  const std::uint64_t value =
      computeFp(instruction, static_cast<unsigned>(mode), formats, {a, b, c}, flags);
  return {value, flags};
}

/// Numbers near to one another, with few or many digits, zeros, and any patterns.
std::uint64_t pattern(std::mt19937_64& random, int exponentBits, int fractionBits) {
  const std::uint64_t fraction = (std::uint64_t(1) << fractionBits) - 1;
  const std::uint64_t sign = (random() & 1) << (exponentBits + fractionBits);
  const std::uint64_t any =
      random() & (((std::uint64_t(1) << exponentBits) - 1) << fractionBits | fraction);
  const std::uint64_t bias = (std::uint64_t(1) << (exponentBits - 1)) - 1;
  switch (random() % 8) {
    case 0:
      return sign;
    case 1:
      return sign | any;
    case 2:
      return sign | (bias + random() % 4) << fractionBits | (any & fraction & ~(fraction >> 6));
    case 3:
      return sign | (bias - 2 * std::uint64_t(fractionBits) % bias + random() % 8) << fractionBits |
             (any & fraction);
    default:
      return sign | (bias - 3 + random() % 8) << fractionBits |
             (random() % 3 == 0 ? 0 : any & fraction);
  }
}

}  // namespace

TEST_CASE("the quick ways give what the integer arithmetic gives", "[rtl][snitch][float]") {
  std::mt19937_64 random(5);
  constexpr auto kNearest = Rounding::NearestEven;
  long taken = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const std::uint64_t a = pattern(random, 11, 52);
    const std::uint64_t b = pattern(random, 11, 52);
    // Often the product nearly cancels.
    std::uint64_t c = pattern(random, 11, 52);
    if (random() % 4 == 0) {
      unsigned ignored = 0;
      c = Float64::mul(a, b, kNearest, ignored) ^ Float64::kSign;
      c += random() % 3 - 1;
    }
    const auto check = [&](bool quick, Outcome got, Outcome want) {
      if (!quick) return;
      ++taken;
      if (!(got == want)) {
        CAPTURE(std::hex, a, b, c);
        REQUIRE(got == want);
      }
    };
    Outcome got{0, 0};
    Outcome want{0, 0};
    bool quick = fastMulAdd64(a, b, c, got.value, got.flags);
    if (quick) want.value = Float64::mulAdd(a, b, c, kNearest, want.flags);
    check(quick, got, want);
    got = want = {0, 0};
    quick = fastAdd64(a, b, got.value, got.flags);
    if (quick) want.value = Float64::add(a, b, kNearest, want.flags);
    check(quick, got, want);
    got = want = {0, 0};
    quick = fastMul64(a, b, got.value, got.flags);
    if (quick) want.value = Float64::mul(a, b, kNearest, want.flags);
    check(quick, got, want);

    const std::uint64_t x = pattern(random, 8, 23);
    const std::uint64_t y = pattern(random, 8, 23);
    std::uint64_t z = pattern(random, 8, 23);
    if (random() % 4 == 0) {
      unsigned ignored = 0;
      z = (Float32::mul(x, y, kNearest, ignored) ^ Float32::kSign) + random() % 3 - 1;
      z &= 0xffffffff;
    }
    got = want = {0, 0};
    quick = fastMulAdd32(x, y, z, got.value, got.flags);
    if (quick) want.value = Float32::mulAdd(x, y, z, kNearest, want.flags);
    check(quick, got, want);
    got = want = {0, 0};
    quick = fastAdd32(x, z, got.value, got.flags);
    if (quick) want.value = Float32::add(x, z, kNearest, want.flags);
    check(quick, got, want);
    got = want = {0, 0};
    quick = fastMul32(x, y, got.value, got.flags);
    if (quick) want.value = Float32::mul(x, y, kNearest, want.flags);
    check(quick, got, want);
  }
  CHECK(taken > 6'000'000);
}

TEST_CASE("scalars: known values", "[rtl][snitch][float]") {
  CHECK(run(scalar(0, 1), bitsOf(1.5), bitsOf(2.25), 0) == Outcome{bitsOf(3.75), 0});
  CHECK(run(scalar(1, 1), bitsOf(1.0), bitsOf(0x1p-60), 0) == Outcome{bitsOf(1.0), kInexact});
  CHECK(run(scalar(1, 1), bitsOf(1.0), bitsOf(0x1p-60), 0, Rounding::Down).value ==
        bitsOf(std::nextafter(1.0, 0.0)));
  CHECK(run(scalar(2, 0), bitsOf(3.0F), bitsOf(0.5F), 0) == Outcome{bitsOf(1.5F), 0});
  CHECK(run(fused(0x43, 1), bitsOf(2.0), bitsOf(3.0), bitsOf(1.0)).value == bitsOf(7.0));
  CHECK(run(fused(0x47, 1), bitsOf(2.0), bitsOf(3.0), bitsOf(1.0)).value == bitsOf(5.0));
  CHECK(run(fused(0x4b, 1), bitsOf(2.0), bitsOf(3.0), bitsOf(1.0)).value == bitsOf(-5.0));
  CHECK(run(fused(0x4f, 1), bitsOf(2.0), bitsOf(3.0), bitsOf(1.0)).value == bitsOf(-7.0));
  // Half: 1.5 * 2 in f16 and in bfloat16.
  CHECK(run(scalar(2, 2), ~0xffffULL | 0x3e00, ~0xffffULL | 0x4000, 0).value ==
        (~0xffffULL | 0x4200));
  CHECK(run(scalar(2, 2), ~0xffffULL | 0x3fc0, ~0xffffULL | 0x4000, 0, Rounding::NearestEven, 1)
            .value == (~0xffffULL | 0x4040));
  // Comparisons give integers; a quiet NaN is unordered, and invalid but for equality.
  CHECK(run(scalar(0x14, 1, 2, 1), bitsOf(1.0), bitsOf(2.0), 0) == Outcome{1, 0});
  CHECK(run(scalar(0x14, 1, 2, 2), bitsOf(std::nan("")), bitsOf(2.0), 0) == Outcome{0, 0});
  CHECK(run(scalar(0x14, 1, 2, 0), bitsOf(std::nan("")), bitsOf(2.0), 0) == Outcome{0, kInvalid});
  CHECK(run(scalar(0x1c, 1, 0, 1), bitsOf(-0.0), 0, 0).value == 1U << 3);
}

TEST_CASE("what isn't boxed is a NaN, moves and signs of packed lanes aside",
          "[rtl][snitch][float]") {
  const std::uint64_t plain = std::bit_cast<std::uint32_t>(1.0F);
  CHECK(run(scalar(0, 0), plain, bitsOf(1.0F), 0).value == (kBox | Float32::kNan));
  CHECK(run(scalar(4, 0, 2, 0), plain, bitsOf(-1.0F), 0).value ==
        (kBox | Float32::kNan | Float32::kSign));
  CHECK(run(scalar(0x1c, 0, 0, 0), plain, 0, 0).value == plain);
  CHECK(run(scalar(0x1e, 0, 0, 0), plain, 0, 0).value == bitsOf(1.0F));
  CHECK(run(packed(0x41, 0), plain, plain, 0).value == std::bit_cast<std::uint32_t>(2.0F));
  CHECK(run(scalar(8, 1, 0), plain, 0, 0).value == Float64::kNan);  // fcvt.d.s
}

TEST_CASE("conversions are those of the host", "[rtl][snitch][float]") {
  std::mt19937_64 random(6);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t a = pattern(random, 11, 52);
    const auto x = std::bit_cast<double>(a);
    if (std::isnan(x)) continue;
    const auto narrow = static_cast<float>(x);
    REQUIRE(run(scalar(8, 0, 1), a, 0, 0).value == bitsOf(narrow));
    REQUIRE(run(scalar(8, 1, 0), bitsOf(narrow), 0, 0) ==
            Outcome{bitsOf(static_cast<double>(narrow)), 0});
    const auto integer = static_cast<std::uint32_t>(random());
    REQUIRE(run(scalar(0x1a, 1, 0), integer, 0, 0).value ==
            bitsOf(static_cast<double>(static_cast<std::int32_t>(integer))));
    REQUIRE(run(scalar(0x1a, 1, 1), integer, 0, 0).value == bitsOf(static_cast<double>(integer)));
    REQUIRE(run(scalar(0x1a, 0, 1), integer, 0, 0).value == bitsOf(static_cast<float>(integer)));
    if (std::fabs(x) < 2e9) {
      const auto truncated = static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
      REQUIRE(run(scalar(0x18, 1, 0, 1), a, 0, 0).value == truncated);
    }
  }
  CHECK(run(scalar(0x18, 1, 0), bitsOf(3e10), 0, 0) == Outcome{0x7fffffff, kInvalid});
  CHECK(run(scalar(0x18, 1, 1), bitsOf(-1.0), 0, 0) == Outcome{0, kInvalid});
  CHECK(run(scalar(0x18, 1, 1), bitsOf(4294967295.0), 0, 0) == Outcome{0xffffffff, 0});
}

TEST_CASE("each lane of a packed operation is the scalar", "[rtl][snitch][float]") {
  std::mt19937_64 random(7);
  struct Form {
    unsigned funct7;
    std::uint32_t scalar;
    bool three;
  };
  const Form forms[] = {{0x41, scalar(0, 0), false},       {0x42, scalar(1, 0), false},
                        {0x43, scalar(2, 0), false},       {0x45, scalar(5, 0, 2, 0), false},
                        {0x46, scalar(5, 0, 2, 1), false}, {0x48, fused(0x43, 0), true},
                        {0x49, fused(0x4b, 0), true},      {0x4d, scalar(4, 0, 2, 0), false},
                        {0x4e, scalar(4, 0, 2, 1), false}, {0x4f, scalar(4, 0, 2, 2), false}};
  const int widths[] = {32, 0, 16, 8};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t a = random();
    const std::uint64_t b = random();
    const std::uint64_t c = random();
    const auto mode = static_cast<Rounding>(random() % 5);
    const auto formats = static_cast<unsigned>(random() % 2) * 3;
    for (const unsigned format : {0U, 2U, 3U}) {
      const int bits = widths[format];
      const std::uint64_t mask = (std::uint64_t(1) << bits) - 1;
      for (const Form& form : forms) {
        for (const bool repeated : {false, true}) {
          const Outcome got =
              run(packed(form.funct7, format + (repeated ? 4 : 0)), a, b, c, mode, formats);
          Outcome want{0, 0};
          for (int lane = 0; lane < 64 / bits; ++lane) {
            const auto get = [&](std::uint64_t v, int at) { return v >> (at * bits) | ~mask; };
            const Outcome one = run(form.scalar | format << 25, get(a, lane),
                                    get(b, repeated ? 0 : lane), get(c, lane), mode, formats);
            want.value |= (one.value & mask) << (lane * bits);
            want.flags |= one.flags;
          }
          if (!(got == want)) {
            CAPTURE(std::hex, form.funct7, format, a, b, c);
            REQUIRE(got == want);
          }
        }
      }
    }
  }
}

TEST_CASE("expanding dot products and sums are rounded once", "[rtl][snitch][float]") {
  std::mt19937_64 random(8);
  const auto half = [](std::uint64_t bits) {
    unsigned flags = 0;
    return std::bit_cast<double>(Float64::convert<Float16>(bits, Rounding::NearestEven, flags));
  };
  for (int i = 0; i < 200'000; ++i) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (int lane = 0; lane < 4; ++lane) {
      a |= (pattern(random, 5, 10) & 0xbfff) << (16 * lane);  // No infinities or NaNs.
      b |= (pattern(random, 5, 10) & 0xbfff) << (16 * lane);
    }
    std::uint64_t c = 0;
    for (int lane = 0; lane < 2; ++lane) {
      const float addend = std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                                      -31 + static_cast<int>(random() % 8) - 4);
      c |= std::uint64_t(std::bit_cast<std::uint32_t>(addend)) << (32 * lane);
    }
    const Outcome got = run(packed(0x4b, 0), a, b, c);
    std::uint64_t want = 0;
    bool inexact = false;
    for (int lane = 0; lane < 2; ++lane) {
      // Exact: 64 bits of fraction hold all of it.
      long double sum = std::bit_cast<float>(static_cast<std::uint32_t>(c >> (32 * lane)));
      for (int k = 0; k < 2; ++k) {
        const int at = 16 * (2 * lane + k);
        sum += static_cast<long double>(half(a >> at & 0xffff)) * half(b >> at & 0xffff);
      }
      const auto rounded = static_cast<float>(sum);
      inexact = inexact || static_cast<long double>(rounded) != sum;
      want |= std::uint64_t(std::bit_cast<std::uint32_t>(rounded)) << (32 * lane);
    }
    if (got.value != want || (got.flags != 0) != inexact) {
      CAPTURE(std::hex, a, b, c, got.value, want, inexact);
      REQUIRE(got == Outcome{want, inexact ? unsigned(kInexact) : 0});
    }
  }
  const auto two = [](float low, float high) {
    return std::uint64_t(std::bit_cast<std::uint32_t>(high)) << 32 |
           std::bit_cast<std::uint32_t>(low);
  };
  // The small addend isn't lost between the two large ones; vfnsum takes it away.
  CHECK(run(packed(0x47, 0, 0x1c), two(1e30F, -1e30F), 0, two(1.0F, 5.0F)) ==
        Outcome{two(1.0F, 5.0F), 0});
  CHECK(run(packed(0x57, 0, 0x1c), two(2.0F, 3.0F), 0, two(1.0F, 5.0F)) ==
        Outcome{two(-4.0F, 5.0F), 0});
  const auto infinity = std::numeric_limits<float>::infinity();
  CHECK(run(packed(0x47, 0, 0x1c), two(infinity, -infinity), 0, two(1.0F, 0)).flags == kInvalid);
  CHECK(run(packed(0x47, 0, 0x1c), two(-0.0F, -0.0F), 0, two(-0.0F, 0)).value == two(-0.0F, 0));
}

TEST_CASE("packing and comparing lanes", "[rtl][snitch][float]") {
  const auto one = std::bit_cast<std::uint32_t>(1.0F);
  const auto two = std::bit_cast<std::uint32_t>(2.0F);
  CHECK(run(packed(0x58, 0), bitsOf(1.0F), bitsOf(2.0F), 7).value ==
        (std::uint64_t(two) << 32 | one));
  CHECK(run(packed(0x5a, 0), bitsOf(1.0), bitsOf(2.0), 7).value ==
        (std::uint64_t(two) << 32 | one));
  CHECK(run(packed(0x58, 2), bitsOf(1.0F), bitsOf(2.0F), 0x1111222233334444).value ==
        0x1111222240003c00);
  CHECK(run(packed(0x58, 6), bitsOf(1.0F), bitsOf(2.0F), 0x1111222233334444).value ==
        0x40003c0033334444);
  CHECK(run(packed(0x59, 3), bitsOf(1.0F), bitsOf(2.0F), 0).value == 0x0000403c00000000);
  CHECK(run(packed(0x52, 2), 0x3c003c003c003c00, 0x40003c0000004000, 0).value == 0b1001);
  CHECK(run(packed(0x50, 0), std::uint64_t(two) << 32 | one, std::uint64_t(two) << 32 | two, 0)
            .value == 0b10);
}
