// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of any length: one object, right on registers of every length.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "cross/machines.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/lowerable.h"

namespace dojo::test {
namespace {

ir::Program program(const std::string& text) {
  auto parsed = ir::parse(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text() + "\n" + parsed.error().detail) == "");
  return std::move(parsed).value().program;
}

/// On machines of every vector length, RISC-V and Arm.
void rightEverywhere(const std::string& text) {
  const ir::Program parsed = program(text);
  for (const char* name : {"riscv64 vectors 128", "riscv64 vectors 512", "sve"}) {
    CHECK(wrongThere(parsed, machine(name),
                     {ir::InputSet::uniform, ir::InputSet::awkward, ir::InputSet::exact}) == "");
  }
}

bool mentions(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "17 channels of i8 add up to the same on registers of every length, whatever lies behind") {
  for (const int channels : {17, 1, 16, 31, 127, 128, 129, 200}) {
    rightEverywhere(fmt::format(R"(kernel channels
in x i8 [{0}]
in w i8 [{0}]
out ones i8 [256]
out s i32 []
out m i8 []

256:vector
| ones[{{0}}] = 1
s[] = 0
{0}:vector
| s[] += x[{{0}}] * w[{{0}}]
m[] = -128
{0}:vector
| m[] max= x[{{0}}]
)",
                                channels));
  }
}

TEST_CASE("strips of every dtype, contiguous, apart, backwards, by an index and the same for all") {
  for (const char* dtype : {"f32", "f64", "i8", "u8", "i16", "i32", "i64", "f16", "bf16"}) {
    for (const int extent : {1, 7, 100, 333}) {
      rightEverywhere(fmt::format(R"(kernel strips
in x {0} [{1}]
in a {0} [{2}]
in i i32 [{1}] in [0, {1})
in one {0} []
out y {0} [{1}]
out z {0} [{2}]
out v {0} [{1}]
out w {0} [{1}]

{1}:vector
| y[{{0}}] = x[-{{0}} + {3}] + a[{{0}}*3]
| z[{{0}}*3] = x[{{0}}]
| z[{{0}}*3 + 1] = one[]
| z[{{0}}*3 + 2] = y[{{0}}] - x[{{0}}]
| v[-{{0}} + {3}] = x[i[{{0}}]]
| w[{{0}}] = x[{{0}}] + one[]
)",
                                  dtype, extent, 3 * extent, extent - 1));
    }
  }
}

TEST_CASE("dtypes of several widths in one strip") {
  rightEverywhere(R"(kernel mixed
in x i8 [301]
in y f32 [301]
in z f64 [301]
out a i32 [301]
out b f64 [301]
out c i8 [301]
tmp t f32 [~301] @register

301:vector
| a[{0}] = cast(x[{0}])
| a[{0}] *= 77
| b[{0}] = z[{0}] + y[{0}]
| t[{0}] = y[{0}] * 100
| c[{0}] = sat_cast(t[{0}])
)");
}

TEST_CASE("sums over strips, in rows, with guards and inner loops") {
  rightEverywhere(R"(kernel sums
in x f32 [5, 203]
in k f32 [4]
out s f32 [5]
out t f64 [5]
out m f32 [5]
out g f32 [5]
out h f32 [203]
out e f32 [5]
tmp u f32 [~5, ~203] @register
tmp d f64 [~5, ~203] @register

5
| s[{0}] = 0
| t[{0}] = 0
| m[{0}] = inf
| g[{0}] = 0
| e[{0}] = 0
| 203:vector
| | s[{0}] += x[{0}, {1}]
| | d[{0}, {1}] = cast(x[{0}, {1}])
| | t[{0}] += d[{0}, {1}] * d[{0}, {1}]
| | m[{0}] min= x[{0}, {1}]
| | g[{0}] += x[{0}, {1}] if {1} in [3, 150)
| | u[{0}, {1}] = exp(x[{0}, {1}])
| | e[{0}] fma+= u[{0}, {1}] * x[{0}, {1}]
203:vector
| h[{0}] = 0
| 4
| | h[{0}] += x[{1}, {0}] * k[{1}]
| | h[{0}] += x[{1}, {0} - 1] if {0} in [1, 100)
)");
}

TEST_CASE("functions in strips") {
  rightEverywhere(R"(kernel functions
in x f32 [150]
out a f32 [150]
out b f32 [150]
out c f32 [150]
out d f32 [150]
out e f32 [150]
out f f32 [150]

150:vector
| a[{0}] = exp(x[{0}])
| b[{0}] = tanh(x[{0}])
| c[{0}] = sigmoid(x[{0}])
| d[{0}] = erf(x[{0}])
| e[{0}] = log(a[{0}])
| f[{0}] = sqrt(a[{0}])
)");
}

TEST_CASE("strips of as many iterations as are read at run time") {
  const std::string text = R"(kernel rows
in row i32 [9] monotone in [0, 300]
in x f32 [300]
in col i32 [300] in [0, 50)
in b f32 [50]
out y f32 [8]
out z f32 [300]

300
| z[{0}] = 0
8
| y[{0}] = 0
| row[{0}]..row[{0} + 1]:vector
| | y[{0}] += x[{1}] * b[col[{1}]]
| | z[{1}] = x[{1}] * 2
)";
  rightEverywhere(text);
}

TEST_CASE("copies on the stack for each lane") {
  rightEverywhere(R"(kernel trap
in x f64 [4, 3]
in z f64 [4, 3]
out k i32 [4]
tmp s f64 [4]
tmp t0 f64 [4, ~4] @stack

4:vector
| s[{0}] = 0
| 2:unroll
| | s[{0}] fma+= x[{0}, {1}] * z[{0}, {1}]
| 1:unroll
| | s[{0}] fma+= x[{0}, {1} + 2] * z[{0}, {1} + 2]
| t0[{0}, {0}] = s[{0}] * 1000
| k[{0}] = cast(t0[{0}, {0}])
)");
}

TEST_CASE("what a strip can't hold is refused with its reason") {
  const ir::Program held = program(R"(kernel held
in x f32 [4000]
out y f32 [4000]
tmp t f32 [4000] @register

4000:vector
| t[{0}] = x[{0}]
4000:vector
| y[{0}] = t[{0}]
)");
  const Status status = moves::lowerable(held, machine("riscv64 vectors 128").target);
  REQUIRE(!status);
  CHECK(status.error().code == "lower.vector");
  CHECK(mentions(status.error().message, "t is in registers and indexed by the lane"));
}

TEST_CASE("strips use vector instructions and keep sums in registers") {
  const ir::Program dot = program(R"(kernel dot
in x f32 [1000]
in y f32 [1000]
out s f32 []

s[] = 0
1000:vector
| s[] fma+= x[{0}] * y[{0}]
)");
  const auto text = codegen::assemblyText(dot, machine("riscv64 vectors 512").target);
  REQUIRE(text.ok());
  const std::size_t loop = text->find("vle32.v");
  REQUIRE(loop != std::string::npos);
  const std::string inner = text->substr(loop, text->find("bne", loop) - loop);
  INFO(*text);
  CHECK(mentions(inner, "vfmacc.vv"));
  CHECK(mentions(*text, "m8"));
  CHECK(!mentions(inner, "vfred"));
  CHECK(mentions(*text, "vfredusum"));
}

}  // namespace dojo::test
