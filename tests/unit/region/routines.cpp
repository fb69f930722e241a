// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that take more than instructions of the floating-point unit: within their promises for
// ordinary operands and for those that are left to a function, among each other.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "region/inverse.h"
#include "region/region.h"
#include "unit/region/around.h"

namespace dojo::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

const target::Target& snitch() {
  static const target::Target target = target::load("snitch").value();
  return target;
}

template <class T>
ir::Tensor tensor(const std::vector<T>& values) {
  ir::Tensor out;
  out.dtype = sizeof(T) == 8 ? ir::DType::f64 : ir::DType::f32;
  out.bytes.resize(values.size() * sizeof(T));
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

template <class T>
std::vector<T> run(const std::string& text, const std::vector<std::vector<T>>& inputs) {
  const auto parsed = ir::parse(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == "");
  const Status status = moves::lowerable(parsed->program, snitch());
  REQUIRE((status.ok() ? "" : status.error().text()) == "");
  std::vector<ir::Tensor> arguments;
  for (const std::vector<T>& input : inputs) arguments.push_back(tensor(input));
  arguments.push_back(tensor(std::vector<T>(inputs.front().size())));
  const std::vector<ir::Tensor> results = runRegions(parsed->program, snitch(), arguments);
  std::vector<T> out(inputs.front().size());
  std::memcpy(out.data(), results.back().bytes.data(), results.back().bytes.size());
  return out;
}

/// In units of the last place of what is right.
template <class T>
double error(T actual, long double right) {
  const T expected = static_cast<T>(right);
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) == std::isnan(actual) ? 0 : kInfinity;
  }
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual ? 0 : kInfinity;
  const T size = std::max(std::fabs(expected), std::numeric_limits<T>::min());
  const long double unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(actual) - right) / unit);
}

std::vector<double> spread(double from, double to, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>((i * 7919) % count) / static_cast<double>(count);
    out.push_back(from + (to - from) * at);
  }
  return out;
}

std::string program(const std::string& right, const std::string& dtype, const std::string& inputs,
                    const std::string& streams) {
  std::string text = "kernel k\n";
  for (const char name : inputs) text += fmt::format("in {} {} [64]\n", name, dtype);
  return text + fmt::format("out y {} [64]\n\n16{}\n| 4:unroll\n| | y[{{0}}*4 + {{1}}] = {}\n",
                            dtype, streams, right);
}

}  // namespace

TEST_CASE("exponentials in regions") {
  std::vector<double> x = spread(-745, 709.7, 64);
  const std::vector<double> odd = {kInfinity, -kInfinity, kNaN,  0.0,    -0.0,  -745.2,
                                   709.79,    1e300,      -1e30, -708.5, 1e-20, 2147483648.0};
  std::copy(odd.begin(), odd.end(), x.begin() + 20);
  const std::string right = "exp(x[{0}*4 + {1}])";
  // With a mover for coefficients, and without one.
  for (const char* streams : {":stream(x, y)", ":stream(x)", ":stream(y)"}) {
    const std::vector<double> y = run<double>(program(right, "f64", "x", streams), {x});
    for (std::size_t i = 0; i < y.size(); ++i) {
      INFO(streams << ": exp(" << x[i] << ") = " << y[i]);
      CHECK(error(y[i], std::exp(static_cast<long double>(x[i]))) < 2);
    }
  }
  const std::vector<double> z = run<double>(
      "kernel k\nin x f64 [64]\nin w f64 [64]\nout y f64 [64]\n\n16:stream(x, w)\n| 4:unroll\n"
      "| | y[{0}*4 + {1}] = w[{0}*4 + {1}]\n| 4:unroll\n| | y[{0}*4 + {1}] += "
      "exp(x[{0}*4 + {1}])\n",
      {spread(-3, 3, 64), std::vector<double>(64, 1.0)});
  for (std::size_t i = 0; i < z.size(); ++i) {
    CHECK(z[i] == Approx(1 + std::exp(spread(-3, 3, 64)[i])));
  }
}

TEST_CASE("divisions and roots in regions") {
  std::vector<double> a = spread(-3, 5, 64);
  std::vector<double> b = spread(-1e3, 2e3, 64);
  const std::vector<double> odd = {0.0, -0.0, kInfinity, -kInfinity, kNaN, 1e-310, 1e308, 1e-300};
  std::copy(odd.begin(), odd.end(), a.begin() + 8);
  std::copy(odd.begin(), odd.end(), b.begin() + 13);
  std::copy(odd.begin(), odd.end(), a.begin() + 32);
  std::copy(odd.begin(), odd.end(), b.begin() + 32);
  const auto all = [&](const std::string& right, const std::vector<std::vector<double>>& inputs,
                       double most, const auto& exact) {
    const std::string names = inputs.size() == 1 ? "x" : "ab";
    const std::string streams = inputs.size() == 1 ? ":stream(x, y)" : ":stream(a, b, y)";
    const std::vector<double> y = run<double>(program(right, "f64", names, streams), inputs);
    for (std::size_t i = 0; i < y.size(); ++i) {
      INFO(right << " of " << inputs[0][i] << ", " << inputs.back()[i] << " = " << y[i]);
      CHECK(error(y[i], exact(i)) <= most);
    }
  };
  const auto wide = [](double value) { return static_cast<long double>(value); };
  all("a[{0}*4 + {1}] / b[{0}*4 + {1}]", {a, b}, 1,
      [&](std::size_t i) { return wide(a[i]) / b[i]; });
  all("1 / x[{0}*4 + {1}]", {b}, 1, [&](std::size_t i) { return 1 / wide(b[i]); });
  all("sqrt(x[{0}*4 + {1}])", {b}, 1, [&](std::size_t i) { return std::sqrt(wide(b[i])); });
  all("rsqrt(x[{0}*4 + {1}])", {b}, 2, [&](std::size_t i) { return 1 / std::sqrt(wide(b[i])); });
  all("sigmoid(x[{0}*4 + {1}])", {a}, 4,
      [&](std::size_t i) { return 1 / (1 + std::exp(-wide(a[i]))); });
  const std::vector<double> far = spread(-740, 740, 64);
  all("sigmoid(x[{0}*4 + {1}])", {far}, 4,
      [&](std::size_t i) { return 1 / (1 + std::exp(-wide(far[i]))); });
  all("x[{0}*4 + {1}] / 48", {a}, 1, [&](std::size_t i) { return wide(a[i]) / 48; });
  all("x[{0}*4 + {1}] / 64", {a}, 0.5, [&](std::size_t i) { return wide(a[i]) / 64; });
}

TEST_CASE("routines on f32 in regions") {
  std::vector<float> x;
  for (const double value : spread(-103, 88.7, 64)) x.push_back(static_cast<float>(value));
  x[5] = std::numeric_limits<float>::infinity();
  x[6] = -x[5];
  x[7] = std::nanf("");
  x[8] = 0;
  const auto all = [&](const std::string& right, double most, const auto& exact) {
    const std::string text =
        "kernel k\nin x f32 [64]\nin w f64 [4]\nout y f32 [64]\ntmp t f64 [4]\n"
        "\n16:stream(w, t)\n| 4:unroll\n| | y[{0}*4 + {1}] = " +
        right + "\n| 4:frep\n| | t[{1}] = w[{1}]\n";
    const auto parsed = ir::parse(text);
    REQUIRE((parsed.ok() ? "" : parsed.error().text()) == "");
    const Status status = moves::lowerable(parsed->program, snitch());
    REQUIRE((status.ok() ? "" : status.error().text()) == "");
    const std::vector<ir::Tensor> results =
        runRegions(parsed->program, snitch(),
                   {tensor(x), tensor(std::vector<double>(4)), tensor(std::vector<float>(64))});
    std::vector<float> y(64);
    std::memcpy(y.data(), results.back().bytes.data(), results.back().bytes.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      INFO(right << " of " << x[i] << " = " << y[i]);
      CHECK(error(y[i], exact(static_cast<long double>(x[i]))) <= most);
    }
  };
  all("exp(x[{0}*4 + {1}])", 2, [](long double v) { return std::exp(v); });
  all("sigmoid(x[{0}*4 + {1}])", 2, [](long double v) { return 1 / (1 + std::exp(-v)); });
  all("rsqrt(x[{0}*4 + {1}])", 2, [](long double v) { return 1 / std::sqrt(v); });
  all("3 / x[{0}*4 + {1}]", 1, [](long double v) { return 3 / v; });
}

TEST_CASE("copies that depend on one another are done one after another") {
  const std::string text =
      "kernel k\nin x f64 [1]\nout y f64 [8]\n\n1:stream(x)\n| y[{0}] = x[{0}]\n| 7:unroll\n"
      "| | y[{1} + 1] = exp(y[{1}])\n";
  const auto parsed = ir::parse(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == "");
  const Status status = moves::lowerable(parsed->program, snitch());
  REQUIRE((status.ok() ? "" : status.error().text()) == "");
  const std::vector<ir::Tensor> results =
      runRegions(parsed->program, snitch(),
                 {tensor(std::vector<double>{-40}), tensor(std::vector<double>(8))});
  double value = -40;
  for (std::int64_t i = 0; i < 8; ++i, value = std::exp(value)) {
    CHECK(ir::loadAsDouble(results.back(), i) == Approx(value));
  }
}

TEST_CASE("inverses of constants") {
  CHECK(region::inverseOf(64, ir::DType::f64)->low == 0);
  CHECK(region::inverseOf(-3, ir::DType::f64)->low < 0);
  CHECK(region::inverseOf(3, ir::DType::f32)->low > 0);
  CHECK_FALSE(region::inverseOf(0, ir::DType::f64));
  CHECK_FALSE(region::inverseOf(kInfinity, ir::DType::f64));
  CHECK_FALSE(region::inverseOf(kNaN, ir::DType::f32));
  CHECK_FALSE(region::inverseOf(1e200, ir::DType::f32));
  for (const double x : {1.0, -7.3, 1e-310, 5e-324, 1e308, 0.0, kInfinity}) {
    for (const double divisor : {3.0, -10.0, 0.1, 48.0}) {
      const auto inverse = region::inverseOf(divisor, ir::DType::f64);
      REQUIRE(inverse);
      const double y = std::fma(x, inverse->high, x * inverse->low);
      INFO(x << " / " << divisor);
      CHECK(error(y, static_cast<long double>(x) / divisor) <= 1);
    }
  }
}

}  // namespace dojo::test
