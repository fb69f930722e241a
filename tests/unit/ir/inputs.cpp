// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include "ir/interpret.h"
#include "ir/parse.h"

using namespace dojo::ir;

namespace {

Program declared(const std::string& declarations) {
  auto parsed = parse("kernel k\n" + declarations + "out o f32 []\n\no[] = 0\n");
  if (!parsed) FAIL(parsed.error().text());
  return parsed->program;
}

std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> out;
  const auto size = static_cast<std::size_t>(sizeBytes(tensor.dtype));
  for (std::size_t i = 0; i < tensor.bytes.size() / size; ++i) {
    out.push_back(loadAsDouble(tensor, static_cast<std::int64_t>(i)));
  }
  return out;
}

}  // namespace

TEST_CASE("inputs repeat for a seed and differ between seeds and buffers") {
  const Program p = declared("in x f32 [100]\nin y f32 [100]\n");
  const auto a = makeInputs(p, InputSet::uniform, 1);
  CHECK(a == makeInputs(p, InputSet::uniform, 1));
  CHECK(a[0] != makeInputs(p, InputSet::uniform, 2)[0]);
  CHECK(a[0] != a[1]);
}

TEST_CASE("uniform values are at most one, no two alike") {
  const Program p = declared("in x f32 [20000]\nin h f16 [2000]\n");
  const auto inputs = makeInputs(p, InputSet::uniform, 1);
  for (const std::size_t argument : {0U, 1U}) {
    const auto values = valuesOf(inputs[argument]);
    CHECK(std::set<double>(values.begin(), values.end()).size() == values.size());
    double sum = 0;
    for (const double value : values) {
      REQUIRE(value >= -1);
      REQUIRE(value < 1);
      sum += value;
    }
    CHECK(std::abs(sum) / static_cast<double>(values.size()) < 0.05);
  }
}

TEST_CASE("what is promised to be finite is") {
  const Program p = declared("in x f32 [2000] finite\nin h f16 [2000] finite\n");
  for (const InputSet set :
       {InputSet::uniform, InputSet::exact, InputSet::wide, InputSet::awkward, InputSet::equal}) {
    const auto inputs = makeInputs(p, set, 1);
    for (const std::size_t argument : {0U, 1U}) {
      const auto values = valuesOf(inputs[argument]);
      CHECK(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }));
    }
  }
}

TEST_CASE("the other sets have what their names say") {
  const Program p = declared("in x f32 [2000]\n");
  const auto equal = valuesOf(makeInputs(p, InputSet::equal, 1)[0]);
  CHECK(std::set<double>(equal.begin(), equal.end()).size() == 1);

  std::set<int> binades;
  for (const double value : valuesOf(makeInputs(p, InputSet::wide, 1)[0]))
    binades.insert(std::ilogb(value));
  CHECK(binades.size() >= 10);

  int negativeZeros = 0;
  int subnormals = 0;
  int extremes = 0;
  for (const double value : valuesOf(makeInputs(p, InputSet::awkward, 1)[0])) {
    negativeZeros += value == 0 && std::signbit(value) ? 1 : 0;
    subnormals += std::fpclassify(static_cast<float>(value)) == FP_SUBNORMAL ? 1 : 0;
    extremes += value == 64 ? 1 : 0;
  }
  CHECK(negativeZeros > 10);
  CHECK(subnormals > 10);
  CHECK(extremes > 10);
}

TEST_CASE("index buffers obey their declarations") {
  const Program p = declared(
      "in row i32 [101] monotone in [0, 300]\nin col i32 [300] in [5, 9)\nin b bool [64]\n");
  for (const InputSet set :
       {InputSet::uniform, InputSet::wide, InputSet::awkward, InputSet::equal}) {
    const auto inputs = makeInputs(p, set, 4);
    double previous = 0;
    for (const double value : valuesOf(inputs[0])) {
      REQUIRE(value >= previous);
      REQUIRE(value <= 300);
      previous = value;
    }
    for (const double value : valuesOf(inputs[1])) {
      REQUIRE(value >= 5);
      REQUIRE(value < 9);
    }
    CHECK(interpret(p, inputs).ok());
  }
  CHECK(valuesOf(makeInputs(p, InputSet::uniform, 4)[0]).back() == 300);
}
