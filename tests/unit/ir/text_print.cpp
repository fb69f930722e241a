// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, lines and places.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/numeric.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo::ir;

namespace {

/// The constant that `text` reads as in a leaf of dtype `type`.
Constant read(const std::string& text, DType type) {
  const auto parsed =
      parse("kernel k\nout y " + std::string(name(type)) + " []\ny[] = " + text + "\n");
  INFO((parsed.ok() ? "" : parsed.error().text()));
  REQUIRE(parsed.ok());
  return std::get<Constant>(parsed->program.body[0].leaf().operands[0]);
}

bool roundTrips(double value, DType type) {
  const double again = std::get<double>(read(printConstant(value, type), type));
  return std::bit_cast<std::uint64_t>(again) == std::bit_cast<std::uint64_t>(value);
}

}  // namespace

TEST_CASE("f16 and bf16 values all over their range print as text that reads back the same") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x10000; bits += 1 + bits % 7) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(fromHalf(half)) && !roundTrips(fromHalf(half), DType::f16)) ++wrong;
    if (!std::isnan(fromBfloat(half)) && !roundTrips(fromBfloat(half), DType::bf16)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("f32 and f64 values print as text that reads back the same") {
  std::mt19937_64 random(3);
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto bits = random();
    const auto narrow = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    if (!std::isnan(narrow) && !roundTrips(narrow, DType::f32)) ++wrong;
    const auto wide = std::bit_cast<double>(bits);
    if (!std::isnan(wide) && !roundTrips(wide, DType::f64)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("constants print shortest") {
  const auto f32 = [](double value) {
    return printConstant(roundTo(DType::f32, value), DType::f32);
  };
  CHECK(f32(0.1) == "0.1");
  CHECK(f32(1) == "1");
  CHECK(f32(1.0 / 3) == "0.33333334");
  CHECK(f32(1e-5) == "1e-5");
  CHECK(f32(123456789) == "123456792");
  CHECK(f32(1e20) == "1e20");
  CHECK(f32(-0.0) == "-0");
  CHECK(f32(std::numeric_limits<float>::max()) == "3.4028235e38");
  CHECK(printConstant(roundTo(DType::f16, 0.1), DType::f16) == "0.1");
  CHECK(printConstant(65504.0, DType::f16) == "65504");
  CHECK(printConstant(roundTo(DType::bf16, 3.14159), DType::bf16) == "3.14");
  CHECK(printConstant(1.0 / 3, DType::f64) == "0.3333333333333333");
  CHECK(printConstant(std::numeric_limits<double>::infinity(), DType::f32) == "inf");
  CHECK(printConstant(std::int64_t{-7}, DType::i32) == "-7");
}

TEST_CASE("numbers are rounded once when read") {
  // Just above the midpoint of 1 and the next f32: rounding to f64 first would give the midpoint.
  CHECK(std::get<double>(read("1.00000005960464477540", DType::f32)) == 1 + 0x1p-23);
  CHECK(std::get<double>(read("1.000000059604644775390625", DType::f32)) == 1);
  CHECK(std::get<double>(read("1e-400", DType::f64)) == 0);
  CHECK(std::get<double>(read("1e-60", DType::f32)) == 0);
  CHECK(std::get<double>(read("4.9e-324", DType::f64)) == 5e-324);
}

TEST_CASE("index expressions print in the order of the variables") {
  const auto v = [](int k, std::int64_t coef = 1) { return Affine::variable(k, coef); };
  CHECK(printAffine(0) == "0");
  CHECK(printAffine(-4) == "-4");
  CHECK(printAffine(v(1) + v(0, 16) - 1) == "{0}*16 + {1} - 1");
  CHECK(printAffine(v(0, -1)) == "-{0}");
  CHECK(printAffine(v(0, -2) - v(3) + 5) == "-{0}*2 - {3} + 5");
}

TEST_CASE("lines, places and line numbers agree with the text") {
  const auto parsed = parse(R"(kernel softmax
in x f32 [4, 8]
out y f32 [4]

4:parallel
| y[{0}] = -inf
| 8 if {0} in [1, 4)
| | y[{0}] max= x[{0}, {1}] if {1} in [0, 7)
2
| y[{0}] = y[{0} + 1]
| 3:unroll
| | y[{1}] = sqrt(x[{0}, {1}])
y[0] = 2
)");
  REQUIRE(parsed.ok());
  const Program& program = parsed->program;
  CHECK(printWithPlaces(program) ==
        "@0      4:parallel\n"
        "@0.0    | y[{0}] = -inf\n"
        "@0.1    | 8 if {0} in [1, 4)\n"
        "@0.1.0  | | y[{0}] max= x[{0}, {1}] if {1} in [0, 7)\n"
        "@1      2\n"
        "@1.0    | y[{0}] = y[{0} + 1]\n"
        "@1.1    | 3:unroll\n"
        "@1.1.0  | | y[{1}] = sqrt(x[{0}, {1}])\n"
        "@2      y[0] = 2\n");

  std::vector<std::string> lines = {""};
  std::istringstream text(print(program));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const Path& path : allPaths(program)) {
    const std::string& line = lines[static_cast<std::size_t>(lineOf(program, path))];
    CHECK(line.substr(2 * (path.size() - 1)) == printLine(program, *find(program, path)));
  }
}
