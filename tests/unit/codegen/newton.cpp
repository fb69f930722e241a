// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets without instructions for division and square roots.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "kernels/kernels.h"
#include "run_here/run_here.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

const target::Target& undividing() {
  static const target::Target target = [] {
    target::Target out = host();
    out.divides = false;
    return out;
  }();
  return target;
}

template <class T>
struct Format;
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr auto dtype = ir::DType::f64;
};
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr auto dtype = ir::DType::f32;
};

/// Special values, powers of two at the ends, and numbers of any bits.
template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out = {0,
                        1,
                        3,
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        Limits::min(),
                        Limits::denorm_min(),
                        Limits::min() - Limits::denorm_min(),
                        std::nextafter(T(1), T(2)),
                        std::nextafter(T(2), T(1)),
                        5 * Limits::denorm_min()};
  for (std::size_t i = out.size(); i-- > 0;) out.push_back(-out[i]);
  std::mt19937_64 random(seed);
  while (out.size() < count) {
    out.push_back(std::bit_cast<T>(static_cast<typename Format<T>::Bits>(random())));
  }
  return out;
}

template <class T>
bool within(T got, T want, int ulps) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return std::signbit(got) == std::signbit(want);
  T near = want;
  for (int i = 0; i < ulps; ++i) {
    near = std::nextafter(near, got);
    if (near == got) return true;
  }
  return false;
}

template <class T, class Exact>
void compare(const std::string& right, const std::vector<T>& a, const std::vector<T>& b, int ulps,
             const Exact& exact) {
  const auto name = ir::name(Format<T>::dtype);
  const ir::Program parsed =
      program(fmt::format("kernel k\nin a {0} [{1}]\nin b {0} [{1}]\nout y {0} [{1}]\n\n"
                          "{1}\n| y[{{0}}] = {2}\n",
                          name, a.size(), right));
  const auto text = codegen::assemblyText(parsed, undividing());
  REQUIRE(text.ok());
  CHECK(text->find("div") == std::string::npos);
  CHECK(text->find("sqrt") == std::string::npos);
  const auto object = codegen::compile(parsed, undividing());
  REQUIRE(object.ok());
  const auto kernel = Loaded::load(object->bytes);
  REQUIRE(kernel.ok());
  std::vector<ir::Tensor> arguments;
  for (const ir::Buffer& buffer : parsed.buffers) arguments.push_back(ir::makeTensor(buffer));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    ir::store(arguments[0], at, static_cast<double>(a[i]));
    ir::store(arguments[1], at, static_cast<double>(b[i]));
  }
  const CallBuffers buffers(parsed, arguments);
  kernel->call(buffers.pointers());
  const ir::Tensor out = buffers.arguments()[2];
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto got = static_cast<T>(ir::loadAsDouble(out, static_cast<std::int64_t>(i)));
    const T want = exact(a[i], b[i]);
    if (within(got, want, ulps)) continue;
    FAIL(fmt::format("{} of {:a} and {:a} is {:a}, not {:a}", right, a[i], b[i], got, want));
  }
}

template <class T>
void all() {
  const std::vector<T> some = values<T>(200, 1);
  std::vector<T> a;
  std::vector<T> b;
  for (const T x : some) {
    for (const T y : some) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  compare<T>("a[{0}] / b[{0}]", a, b, 1, [](T x, T y) { return x / y; });
  const std::vector<T> many = values<T>(50000, 2);
  const std::vector<T> others = values<T>(50000, 3);
  compare<T>("a[{0}] / b[{0}]", many, others, 1, [](T x, T y) { return x / y; });
  compare<T>("sqrt(a[{0}])", many, others, 1, [](T x, T) { return std::sqrt(x); });
  const int ulps = sizeof(T) == 8 ? 4 : 2;
  compare<T>("rsqrt(a[{0}])", many, others, ulps,
             [](T x, T) { return static_cast<T>(1 / std::sqrt(static_cast<long double>(x))); });
}

}  // namespace

TEST_CASE("quotients and roots without instructions for them") {
  all<double>();
  all<float>();
}

TEST_CASE("functions without division") {
  for (const char* type : {"f32", "f64"}) {
    for (const char* function : {"exp", "log", "tanh", "erf", "sigmoid"}) {
      const std::string text = fmt::format(
          "kernel k\nin a {0} [500]\nout y {0} [500]\n\n500\n| y[{{0}}] = {1}(a[{{0}}])\n", type,
          function);
      agrees(text, kCarried, &undividing());
      CHECK(codegen::assemblyText(program(text), undividing())->find("div") == std::string::npos);
    }
    agrees(fmt::format("kernel k\nin a {0} [500]\nin b {0} [500]\nout y {0} [500]\n\n500\n"
                       "| y[{{0}}] = pow(a[{{0}}], b[{{0}}])\n",
                       type),
           kCarried, &undividing());
  }
}

TEST_CASE("no kernel of the suite divides on a target that can't") {
  const auto target = target::load("snitch1");
  REQUIRE(target.ok());
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    const auto parsed = kernels::load(kernel.name);
    REQUIRE(parsed.ok());
    const auto text = codegen::assemblyText(parsed->program, *target);
    REQUIRE((text.ok() ? "" : text.error().text()) == "");
    CHECK(text->find("fdiv") == std::string::npos);
    CHECK(text->find("fsqrt") == std::string::npos);
  }
}

}  // namespace dojo::test
