// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vendors' instructions in code: operands in memory and in registers, words and vectors.
#include <string>

#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "support/some_target.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

/// This machine with instructions that every x86-64 has, described as a vendor's.
const target::Target& described() {
  static const target::Target target = [] {
    target::Target out = plain();
    out.instructions = {
        vendorInstruction("kernel madd\n"
                          "out d i32 [4]\nin x i16 [4, 2]\nin y i16 [4, 2]\n"
                          "4\n| d[{0}] = 0\n| 2\n| | d[{0}] += x[{0}, {1}] * y[{0}, {1}]\n",
                          "movdqa {x}, {d}\npmaddwd {y}, {d}", {"x", "x", "x"}),
        vendorInstruction("kernel add4\n"
                          "inout d i32 [4]\nin x i32 [4]\n"
                          "4\n| d[{0}] += x[{0}]\n",
                          "paddd {x}, {d}", {"x", "m"}),
        vendorInstruction("kernel addb\n"
                          "inout d i32 []\nin x i8 []\n"
                          "d[] += x[]\n",
                          "addl {x}, {d}", {"r", "r"}),
        vendorInstruction("kernel swap\n"
                          "out d i8 [4]\nin x i8 [4]\n"
                          "4\n| d[{0}] = x[{0}]\n",
                          "movl {x}, {d}", {"r", "r"})};
    return out;
  }();
  return target;
}

constexpr std::string_view kMadd = R"(instruction madd
| out d i32 [4]
| in x i16 [4, 2]
| in y i16 [4, 2]
| 4
| | d[{0}] = 0
| | 2
| | | d[{0}] += x[{0}, {1}] * y[{0}, {1}]
)";
constexpr std::string_view kAdd = R"(instruction add4
| inout d i32 [4]
| in x i32 [4]
| 4
| | d[{0}] += x[{0}]
)";
constexpr std::string_view kSwap = R"(instruction swap
| out d i8 [4]
| in x i8 [4]
| 4
| | d[{0}] = x[{0}]
)";

std::string with(std::string_view head, std::initializer_list<std::string_view> parts) {
  std::string out(head);
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace

TEST_CASE("instructions work on operands in memory") {
  agrees(with(R"(kernel k
in x i16 [8, 4, 2]
in y i16 [8, 4, 2]
out z i32 [8, 4]
)",
              {kMadd, R"(
8
| !madd(z[{0}, {1}], x[{0}, {1}, {2}], y[{0}, {1}, {2}])
)"}),
         0, &described());
}

TEST_CASE("a part of an operand may be one element for several") {
  agrees(with(R"(kernel k
in x i16 [8, 2]
in y i16 [4, 2]
out z i32 [8, 4]
)",
              {kMadd, R"(
8
| !madd(z[{0}, {1}], x[{0}, {2}], y[{1}, {2}])
)"}),
         0, &described());
}

TEST_CASE("accumulators stay in registers, also in unrolled and guarded code") {
  const std::string text = with(R"(kernel k
in x i16 [8, 4, 2]
in y i16 [16, 4, 2]
out z i32 [4, 2, 4]
tmp p i32 [2, ~4, 4] @register
tmp s i32 [2, 4] @register
)",
                                {kAdd, kMadd, R"(
4
| 2:unroll
| | 4:vector
| | | s[{1}, {2}] = 0
| 4
| | 2:unroll
| | | !madd(p[{2}, {1}, {3}], x[{0}*2 + {2}, {3}, {4}], y[{0}*4 + {1}, {3}, {4}]) if {1} in [1, 4)
| 2:unroll
| | 4:vector
| | | z[{0}, {1}, {2}] = s[{1}, {2}]
)"});
  // p is written and never read: what counts is that it lowers.
  agrees(text, 0, &described());
}

TEST_CASE("scalars and words go through registers for numbers") {
  agrees(R"(kernel k
in x i8 [64]
out z i32 []
tmp s i32 [] @register
instruction addb
| inout d i32 []
| in x i8 []
| d[] += x[]

s[] = 0
64
| !addb(s[], x[{0}])
z[] = s[]
)",
         0, &described());
  agrees(with(R"(kernel k
in x i8 [64]
out z i8 [64]
tmp w i8 [4] @register
)",
              {kSwap, R"(
16
| !swap(w[{1}], x[{0}*4 + {1}])
| !swap(z[{0}*4 + {1}], w[{1}])
)"}),
         0, &described());
}

TEST_CASE("instructions that can't be used where they stand are refused") {
  const auto twice = [](std::string_view tree) {
    return with("kernel k\nin x i8 [64]\nout z i8 [64]\n", {kSwap, "\n", tree});
  };
  CHECK_NOTHROW(program(twice("16\n| !swap(z[{0}*4 + {1}], x[{0}*4 + {1}])\n")));
  // Words that aren't at multiples of their size, or have gaps.
  refuses(twice("15\n| !swap(z[{0}*4 + {1}], x[{0}*4 + {1} + 1])\n!swap(z[60 + {0}], x[{0}])\n"),
          "lower.instruction", &described());
  refuses(twice("16\n| !swap(z[{0}*4 + {1}], x[{0} + {1}*16])\n"), "lower.instruction",
          &described());
  // In lanes, and where the target has none of it.
  refuses(twice("16:vector\n| !swap(z[{0}*4 + {1}], x[{0}*4 + {1}])\n"), "lower.instruction",
          &described());
  refuses(twice("16\n| !swap(z[{0}*4 + {1}], x[{0}*4 + {1}])\n"), "lower.instruction");
  // An index of registers that no code can have.
  refuses(with("kernel k\nin x i8 [64]\nout z i8 [4]\ntmp w i8 [16, 4] @register\n", {kSwap, R"(
16
| !swap(w[{0}, {1}], x[{0}*4 + {1}])
4
| z[{0}] = w[0, {0}]
)"}),
          "lower.register", &described());
}

TEST_CASE("assembly that isn't any is an error, with the assembler's words") {
  target::Target target = described();
  for (target::VendorInstruction& each : target.instructions) each.assembly = "frobnicate {x}, {d}";
  const auto object = codegen::compile(
      program(with("kernel k\nin x i8 [4]\nout z i8 [4]\n", {kSwap, "\n!swap(z[{0}], x[{0}])\n"})),
      target);
  REQUIRE_FALSE(object.ok());
  CHECK(object.error().code == "compile.backend");
  CHECK(object.error().message.find("frobnicate") != std::string::npos);
}

TEST_CASE("the dot products of bytes that this machine may have are what they're said to be") {
  if (host().instruction("vpdpbusd") == nullptr) return;
  agrees(R"(kernel k
in x u8 [4, 8]
in y i8 [2, 16, 4]
out z i32 [4, 16]
tmp s i32 [4, 16] @register
instruction vpdpbusd
| inout c i32 [16]
| in a u8 [16, 4]
| in b i8 [16, 4]
| 16
| | 4
| | | c[{0}] += a[{0}, {1}] * b[{0}, {1}]

4:unroll
| 16:vector
| | s[{0}, {1}] = 0
2
| 4:unroll
| | !vpdpbusd(s[{1}, {2}], x[{1}, {0}*4 + {3}], y[{0}, {2}, {3}])
4:unroll
| 16:vector
| | z[{0}, {1}] = s[{0}, {1}]
)");
}

}  // namespace dojo::test
