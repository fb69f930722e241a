// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of propagation, each against operands that are really off by as much as they may be.
#include "ir/reference_estimate.h"

#include <random>

#include <catch2/catch.hpp>

using namespace dojo::ir;

namespace {

using Narrow = Estimate<double>;
const FloatFormat& kF32 = formatOf(DType::f32);
const double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

Narrow f32(Op op, Narrow a, Narrow b = {}, Narrow c = {}) { return estimate(op, kF32, a, b, c); }

}  // namespace

TEST_CASE("double-double carries what a double loses") {
  const Wide third = Wide{1, 0} / Wide{3, 0};
  const Wide one = third * Wide{3, 0};
  CHECK(std::abs((one - Wide{1, 0}).high) < 0x1p-100);
  const Wide root = squareRoot(Wide{2, 0});
  CHECK(std::abs((root * root - Wide{2, 0}).high) < 0x1p-100);
  const Wide sum = Wide{1, 0} + Wide{0x1p-80, 0};
  CHECK((sum - Wide{1, 0}).high == 0x1p-80);
  CHECK(fromExtended(extended(sum) * 2).high == 2);
  CHECK(std::isinf((Wide{kInf, 0} + Wide{1, 0}).high));
  CHECK(std::isnan((Wide{kInf, 0} - Wide{kInf, 0}).high));
}

TEST_CASE("exact operands with a representable result have no error") {
  CHECK(f32(Op::add, {0.5, 0}, {0.25, 0}).bound == 0);
  CHECK(f32(Op::mul, {3, 0}, {7, 0}).bound == 0);
  CHECK(f32(Op::mul, {1 + 0x1p-23, 0}, {1 + 0x1p-23, 0}).bound > 0);
  CHECK(f32(Op::sub, {1, 0}, {0x1p-30, 0}).bound > 0);
  CHECK(f32(Op::max, {-kInf, 0}, {0.1, 0}).bound == 0);
  const auto wide = estimate(Op::mul, formatOf(DType::f64), Estimate<Wide>{{3, 0}, 0},
                             Estimate<Wide>{{0.1, 0}, 0}, {});
  CHECK(wide.bound > 0);
  CHECK(wide.bound < 0x1p-53);
}

TEST_CASE("bounds hold for operands anywhere within theirs") {
  std::mt19937_64 random(11);
  const auto uniform = [&](double lo, double hi) {
    return std::uniform_real_distribution<>(lo, hi)(random);
  };
  const std::vector<Op> ops = {Op::add,   Op::sub,  Op::mul,  Op::div,     Op::fma, Op::neg,
                               Op::abs,   Op::max,  Op::min,  Op::exp,     Op::log, Op::sqrt,
                               Op::rsqrt, Op::tanh, Op::erf,  Op::sigmoid, Op::pow, Op::round,
                               Op::floor, Op::ceil, Op::trunc};
  for (const Op op : ops) {
    int known = 0;
    double worst = 0;
    for (int i = 0; i < 4000; ++i) {
      Narrow in[3];
      for (Narrow& e : in) {
        e.value = roundTo(DType::f32, uniform(-6, 6));
        e.bound = std::ldexp(uniform(0, 1), -static_cast<int>(random() % 20));
      }
      const Narrow out = f32(op, in[0], in[1], in[2]);
      if (!std::isfinite(out.bound)) continue;
      ++known;
      for (int k = 0; k < 10; ++k) {
        Number moved[3];
        for (int j = 0; j < 3; ++j) {
          const double end = k < 2 ? (k == 0 ? -1 : 1) : uniform(-1, 1);
          moved[j] = Number::of(in[j].value + end * in[j].bound);
        }
        const double got = evaluate(op, DType::f64, moved[0], moved[1], moved[2])->real;
        if (std::isnan(out.value)) REQUIRE(std::isnan(got));
        if (std::isnan(out.value)) continue;
        const double error = std::abs(got - out.value);
        INFO("operation " << info(op).spelling << " of " << in[0].value << " +- " << in[0].bound
                          << ", " << in[1].value << " +- " << in[1].bound);
        REQUIRE(error <= out.bound + 1e-14 * std::abs(out.value));
        worst = std::max(worst, error / out.bound);
      }
    }
    INFO("operation " << info(op).spelling);
    CHECK(known > 1000);
    CHECK(worst > 0.3);  // Not far too wide either.
  }
}

TEST_CASE("what can't be bounded is said to be so") {
  CHECK(f32(Op::mul, {1e30, 0}, {1e30, 0}).bound == kInf);  // Overflows in f32 alone.
  CHECK(f32(Op::exp, {89, 0}).bound == kInf);
  CHECK(f32(Op::div, {1, 0}, {1e-3, 1e-2}).bound == kInf);
  CHECK(f32(Op::div, {1, 0}, {1e-40, 0}).bound == kInf);  // The reciprocal overflows.
  CHECK(f32(Op::sqrt, {1e-3, 1e-2}).bound == kInf);
  CHECK(f32(Op::log, {1e-3, 1e-2}).bound == kInf);
  CHECK(f32(Op::add, {1, kInf}, {1, 0}).bound == kInf);
  CHECK(f32(Op::max, {kNaN, 0}, {1, 0}).bound == kInf);  // Either is right.
}

TEST_CASE("certain infinities and NaN stay certain") {
  CHECK(f32(Op::add, {-kInf, 0}, {3, 1}).bound == 0);
  CHECK(f32(Op::exp, {-kInf, 0}).value == 0);
  CHECK(f32(Op::exp, {-kInf, 0}).bound < 1e-40);
  CHECK(f32(Op::mul, {kInf, 0}, {2, 1}).bound == 0);
  CHECK(f32(Op::mul, {kInf, 0}, {2, 3}).bound == kInf);  // May be times zero.
  CHECK(f32(Op::div, {1, 0}, {0, 0}).bound == kInf);     // Which zero?
  CHECK(f32(Op::div, {0, 0}, {0, 0}).bound == 0);
  CHECK(f32(Op::div, {1, 0}, {kInf, 0}).value == 0);
  CHECK(f32(Op::sqrt, {-2, 1}).bound == 0);
  CHECK(std::isnan(f32(Op::sqrt, {-2, 1}).value));
  CHECK(f32(Op::sub, {kInf, 0}, {kInf, 0}).bound == 0);
  CHECK(f32(Op::log, {0, 0}).value == -kInf);
  CHECK(f32(Op::log, {0, 0}).bound == 0);
}

TEST_CASE("comparisons within their bound may go either way") {
  CHECK(estimateComparison(Op::lt, Narrow{1, 0.4}, Narrow{2, 0.5}).certain);
  CHECK_FALSE(estimateComparison(Op::lt, Narrow{1, 0.5}, Narrow{2, 0.5}).certain);
  CHECK(estimateComparison(Op::eq, Narrow{1, 0}, Narrow{1, 0}).certain);
  CHECK(estimateComparison(Op::ge, Narrow{kInf, 0}, Narrow{kInf, 0}).value);
  const Narrow either = estimateSelect(true, false, Narrow{1, 0.1}, Narrow{3, 0.2});
  CHECK(either.value == 1);
  CHECK(either.bound == Approx(2.2));
  CHECK(estimateSelect(false, true, Narrow{1, 0.1}, Narrow{3, 0.2}).bound == 0.2);

  const IntegerEstimate near = estimateTruncation(Narrow{2.9, 0.2}, DType::i32);
  CHECK(near.value == 2);
  CHECK(near.bound == 1);
  CHECK(estimateTruncation(Narrow{2.5, 0.2}, DType::i32).bound == 0);
  CHECK(estimateTruncation(Narrow{300, 20}, DType::u8).bound == 0);  // Saturated either way.
  CHECK(estimateTruncation(Narrow{kNaN, 0}, DType::i32).value == 0);
}

TEST_CASE("uncertain integers carry their bound") {
  bool byZero = false;
  const auto of = [&](Op op, IntegerEstimate a, IntegerEstimate b = {}) {
    return estimateInteger(op, DType::i8, a, b, {}, byZero);
  };
  CHECK(of(Op::add, {5, 1}, {6, 0}).bound == 1);
  CHECK(of(Op::mul, {5, 1}, {6, 0}).bound == 6);
  CHECK(of(Op::add, {126, 2}, {0, 0}).bound == kInf);  // May wrap.
  CHECK(of(Op::shr, {64, 4}, {2, 0}).bound <= 2);
  CHECK(of(Op::bitAnd, {5, 1}, {6, 0}).bound == kInf);
  CHECK(of(Op::bitAnd, {5, 0}, {6, 0}).bound == 0);
  CHECK_FALSE(byZero);
  (void)of(Op::div, {5, 0}, {0, 0});
  CHECK(byZero);
  CHECK_FALSE(compareIntegers(Op::lt, {5, 1}, {6, 0}).certain);
  CHECK(compareIntegers(Op::lt, {5, 0}, {6, 0}).value);
}
