// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model's arithmetic against this machine's, in the rounding modes that both have, and against
// known values in the others.
#include "float.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

namespace {

using dojo::rtl::Float32;
using dojo::rtl::Float64;
using dojo::rtl::Rounding;

template <class T>
struct Format;
template <>
struct Format<float> {
  using Ieee = Float32;
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
};
template <>
struct Format<double> {
  using Ieee = Float64;
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
};

template <class T>
T fromBits(std::uint64_t bits) {
  const auto narrow = static_cast<typename Format<T>::Bits>(bits);
  T out;
  std::memcpy(&out, &narrow, sizeof out);
  return out;
}

template <class T>
std::uint64_t toBits(T value) {
  if (std::isnan(value)) return Format<T>::Ieee::kNan;
  typename Format<T>::Bits out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

unsigned hostFlags() {
  unsigned out = 0;
  if (std::fetestexcept(FE_INEXACT) != 0) out |= dojo::rtl::kInexact;
  if (std::fetestexcept(FE_UNDERFLOW) != 0) out |= dojo::rtl::kUnderflow;
  if (std::fetestexcept(FE_OVERFLOW) != 0) out |= dojo::rtl::kOverflow;
  if (std::fetestexcept(FE_DIVBYZERO) != 0) out |= dojo::rtl::kDivideByZero;
  if (std::fetestexcept(FE_INVALID) != 0) out |= dojo::rtl::kInvalid;
  return out;
}

/// Patterns of which many are special, close to one another or at the ends of the range.
template <class T>
std::uint64_t pattern(std::mt19937_64& random) {
  using Ieee = typename Format<T>::Ieee;
  std::uint64_t bits = random() & (Ieee::kSign | (Ieee::kSign - 1));
  const std::uint64_t fraction = (std::uint64_t(1) << Format<T>::kFraction) - 1;
  switch (random() % 8) {
    case 0:
      return bits & Ieee::kSign;
    case 1:
      return (bits & Ieee::kSign) | Ieee::kInfinity | (random() % 2 == 0 ? 0 : bits & fraction);
    case 2:
      return bits & (Ieee::kSign | fraction);  // subnormal
    case 3: {                                  // near 1
      const auto field = static_cast<std::uint64_t>(Ieee::kBias + int(random() % 60) - 30);
      return (bits & (Ieee::kSign | fraction)) | field << Format<T>::kFraction;
    }
    case 4:
      return bits & ~(fraction >> 4);  // few digits: exact results
    default:
      return bits;
  }
}

struct Mode {
  Rounding model;
  int host;
};
const Mode kModes[] = {{Rounding::NearestEven, FE_TONEAREST},
                       {Rounding::TowardZero, FE_TOWARDZERO},
                       {Rounding::Down, FE_DOWNWARD},
                       {Rounding::Up, FE_UPWARD}};

/// This machine's result of one operation, with the flags that it raised.
template <class T, class Operation>
std::uint64_t onHost(int mode, Operation operation, unsigned& flags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(mode);
  const volatile T value = operation();
  flags = hostFlags();
  std::fesetround(FE_TONEAREST);
  return toBits<T>(value);
}

template <class T>
void compareWithHost(std::uint64_t seed, int count) {
  using Ieee = typename Format<T>::Ieee;
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t a = pattern<T>(random);
    const std::uint64_t b = pattern<T>(random);
    const std::uint64_t c = pattern<T>(random);
    const volatile T x = fromBits<T>(a);
    const volatile T y = fromBits<T>(b);
    const volatile T z = fromBits<T>(c);
    for (const Mode& mode : kModes) {
      INFO("a " << std::hex << a << " b " << b << " c " << c << " mode " << mode.host);
      unsigned want = 0;
      unsigned got = 0;
      // Of operations, few are compared through CHECK: it is slow.
      const auto same = [&](const char* name, std::uint64_t host, std::uint64_t model) {
        if (host == model && want == got) return;
        INFO(name);
        CHECK(host == model);
        CHECK(want == got);
      };
      std::uint64_t host = onHost<T>(
          mode.host, [&] { return T(x + y); }, want);
      got = 0;
      same("add", host, Ieee::add(a, b, mode.model, got));
      host = onHost<T>(
          mode.host, [&] { return T(x * y); }, want);
      got = 0;
      same("mul", host, Ieee::mul(a, b, mode.model, got));
      host = onHost<T>(
          mode.host, [&] { return T(x / y); }, want);
      got = 0;
      same("div", host, Ieee::div(a, b, mode.model, got));
      host = onHost<T>(
          mode.host, [&] { return T(std::sqrt(x)); }, want);
      got = 0;
      same("sqrt", host, Ieee::sqrt(a, mode.model, got));
      const bool nothing =
          std::isnan(z) && ((std::isinf(x) && y == 0) || (x == 0 && std::isinf(y)));
      host = onHost<T>(
          mode.host, [&] { return T(std::fma(x, y, z)); }, want);
      got = 0;
      const std::uint64_t model = Ieee::mulAdd(a, b, c, mode.model, got);
      // Infinity times zero plus a quiet NaN: RISC-V says invalid, others may not.
      if (nothing) want = got;
      same("fma", host, model);
    }
  }
}

}  // namespace

TEST_CASE("single and double precision agree with this machine") {
  compareWithHost<float>(1, 40000);
  compareWithHost<double>(2, 40000);
}

TEST_CASE("ties go away from zero in the fifth rounding mode") {
  unsigned flags = 0;
  const auto add = [&flags](float a, float b, Rounding mode) {
    return fromBits<float>(Float32::add(toBits(a), toBits(b), mode, flags));
  };
  CHECK(add(16777216.0F, 1.0F, Rounding::NearestEven) == 16777216.0F);
  CHECK(add(16777216.0F, 1.0F, Rounding::NearestAway) == 16777218.0F);
  CHECK(add(-16777216.0F, -1.0F, Rounding::NearestAway) == -16777218.0F);
  CHECK(flags == dojo::rtl::kInexact);
  flags = 0;
  const auto toInt = [&flags](float a, Rounding mode) {
    return static_cast<std::int32_t>(Float32::toInteger(toBits(a), 32, true, mode, flags));
  };
  CHECK(toInt(2.5F, Rounding::NearestEven) == 2);
  CHECK(toInt(2.5F, Rounding::NearestAway) == 3);
  CHECK(toInt(-2.5F, Rounding::NearestAway) == -3);
  CHECK(toInt(-0.5F, Rounding::NearestAway) == -1);
}

TEST_CASE("conversions to integers are bounded, and invalid beyond") {
  const auto convert = [](float a, bool isSigned, unsigned want) {
    unsigned flags = 0;
    const std::uint64_t out =
        Float32::toInteger(toBits(a), 32, isSigned, Rounding::TowardZero, flags);
    CHECK(flags == want);
    return out;
  };
  CHECK(convert(0.0F, true, 0) == 0);
  CHECK(convert(-1.0F, true, 0) == 0xffffffff);
  CHECK(convert(-1.5F, true, dojo::rtl::kInexact) == 0xffffffff);
  CHECK(convert(2147483648.0F, true, dojo::rtl::kInvalid) == 0x7fffffff);
  CHECK(convert(-2147483648.0F, true, 0) == 0x80000000);
  CHECK(convert(-3e9F, true, dojo::rtl::kInvalid) == 0x80000000);
  CHECK(convert(NAN, true, dojo::rtl::kInvalid) == 0x7fffffff);
  CHECK(convert(INFINITY, false, dojo::rtl::kInvalid) == 0xffffffff);
  CHECK(convert(-INFINITY, false, dojo::rtl::kInvalid) == 0);
  CHECK(convert(-0.9F, false, dojo::rtl::kInexact) == 0);
  CHECK(convert(-1.0F, false, dojo::rtl::kInvalid) == 0);
  CHECK(convert(4294967040.0F, false, 0) == 0xffffff00);
  CHECK(convert(1e30F, false, dojo::rtl::kInvalid) == 0xffffffff);
}

TEST_CASE("integers become the nearest number") {
  unsigned flags = 0;
  CHECK(fromBits<float>(Float32::fromInteger(16777217, true, Rounding::NearestEven, flags)) ==
        16777216.0F);
  CHECK(flags == dojo::rtl::kInexact);
  flags = 0;
  CHECK(fromBits<float>(Float32::fromInteger(std::uint64_t(-5), true, Rounding::Up, flags)) ==
        -5.0F);
  CHECK(fromBits<float>(Float32::fromInteger(0x80000000, false, Rounding::Up, flags)) ==
        2147483648.0F);
  CHECK(flags == 0);
}

TEST_CASE("orders and classes of numbers, zeros and NaNs") {
  unsigned flags = 0;
  const std::uint64_t minus = 0x80000000;
  const std::uint64_t quiet = 0x7fc00001;
  const std::uint64_t signalling = 0x7f800001;
  CHECK(Float32::minMax(minus, 0, false, flags) == minus);
  CHECK(Float32::minMax(0, minus, true, flags) == 0);
  CHECK(Float32::minMax(quiet, toBits(1.0F), false, flags) == toBits(1.0F));
  CHECK(Float32::minMax(quiet, quiet, false, flags) == Float32::kNan);
  CHECK(Float32::equal(minus, 0, flags));
  CHECK_FALSE(Float32::equal(quiet, quiet, flags));
  CHECK_FALSE(Float32::less(minus, 0, false, flags));
  CHECK(Float32::less(minus, 0, true, flags));
  CHECK(Float32::less(toBits(-2.0F), toBits(-1.0F), false, flags));
  CHECK(flags == 0);
  CHECK_FALSE(Float32::less(quiet, 0, false, flags));
  CHECK(flags == dojo::rtl::kInvalid);
  flags = 0;
  CHECK_FALSE(Float32::equal(signalling, 0, flags));
  CHECK(flags == dojo::rtl::kInvalid);
  const std::uint64_t samples[] = {toBits(-INFINITY), toBits(-1.0F),    minus | 1,  minus, 0, 1,
                                   toBits(1.0F),      toBits(INFINITY), signalling, quiet};
  for (unsigned i = 0; i < 10; ++i) CHECK(Float32::classify(samples[i]) == 1U << i);
}
