// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lowering refuses, and targets that LLVM doesn't know.
#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

constexpr std::string_view kAdd = R"(kernel add
in  x f32 [64]
in  y f32 [64]
out z f32 [64]

4
| 16:vector
| | z[16*{0} + {1}] = x[16*{0} + {1}] + y[16*{0} + {1}]
)";

target::Target named(std::string triple, std::string cpu, std::string features) {
  target::Target target = host();
  target.name = "test";
  target.triple = std::move(triple);
  target.cpu = std::move(cpu);
  target.features = std::move(features);
  return target;
}

}  // namespace

TEST_CASE("programs that can't be lowered are refused with the line") {
  refuses(R"(kernel registers
in  x f32 [8]
out y f32 [8]
tmp t f32 [8] @register

8
| t[{0}] = x[{0}]
8
| y[{0}] = t[{0}]
)",
          "lower.register");
  refuses(R"(kernel nested
in  x f32 [4, 8]
out y f32 [4, 8]

4:vector
| 8:vector
| | y[{0}, {1}] = x[{0}, {1}]
)",
          "lower.vector");
  refuses(R"(kernel wide
in  x f32 [4096]
out y f32 [4096]

4096:vector
| y[{0}] = x[{0}]
)",
          "lower.vector");
  refuses(R"(kernel parallelTwice
in  x f32 [4, 8]
out y f32 [4, 8]

4:parallel
| 8:parallel
| | y[{0}, {1}] = x[{0}, {1}]
)",
          "lower.parallel");
  refuses(R"(kernel parallelLanes
in  x f32 [4, 8]
out y f32 [4, 8]

4:vector
| 8:parallel
| | y[{0}, {1}] = x[{0}, {1}]
)",
          "lower.parallel");
  refuses(R"(kernel dma
in  x f32 [8]
out y f32 [8]

8:dma
| y[{0}] = x[{0}]
)",
          "lower.mapping");
  refuses(R"(kernel joined
in  x f32 [8]
out y f32 [8]

8:unroll+vector
| y[{0}] = x[{0}]
)",
          "lower.mapping");
  refuses(R"(kernel ranged
in  row i32 [9] monotone in [0, 30]
in  x   f32 [30]
out y   f32 [8]

8
| y[{0}] = 0
| row[{0}]..row[{0} + 1]:vector
| | y[{0}] += x[{1}]
)",
          "lower.extent");
  refuses(R"(kernel rangedByLane
in  row i32 [9] monotone in [0, 30]
in  x   f32 [30]
out y   f32 [8]

8:vector
| y[{0}] = 0
| row[{0}]..row[{0} + 1]
| | y[{0}] += x[{1}]
)",
          "lower.lanes");
  refuses(R"(kernel elsewhere
in  x f32 [8]
out y f32 [8]
tmp t f32 [8] @scratchpad

8
| t[{0}] = x[{0}]
8
| y[{0}] = t[{0}]
)",
          "lower.location");
  refuses(R"(kernel unrolled
in  x f32 [100, 100]
out y f32 [100, 100]

100:unroll
| 100:unroll
| | y[{0}, {1}] = x[{0}, {1}]
)",
          "lower.unroll");
  refuses(R"(kernel stack
in  x f32 [1000000]
out y f32 [1000000]
tmp t f32 [1000000] @stack

1000000
| t[{0}] = x[{0}]
1000000
| y[{0}] = t[{0}]
)",
          "lower.stack");
  refuses(R"(kernel shared
in  x f32 [8]
out y f32 [8]
tmp t f32 [8] @register

8:parallel
| 8:unroll
| | t[{1}] = x[{0}]
8:unroll
| y[{0}] = t[{0}]
)",
          "lower.register");
}

TEST_CASE("names that LLVM doesn't know are refused with the nearest") {
  const auto compile = [](const target::Target& target) {
    const auto object = codegen::compile(program(kAdd), target);
    REQUIRE(!object.ok());
    return object.error();
  };
  const Error cpu = compile(named("x86_64-pc-linux-gnu", "skylake-avx521", ""));
  CHECK(cpu.code == "compile.cpu");
  CHECK_THAT(cpu.message, Catch::Contains("skylake-avx512"));
  const Error generic = compile(named("riscv64-unknown-elf", "generic-rv63", ""));
  CHECK(generic.code == "compile.cpu");
  CHECK_THAT(generic.message, Catch::Contains("generic-rv64"));
  const Error feature = compile(named("x86_64-pc-linux-gnu", "x86-64", "+avx512g"));
  CHECK(feature.code == "compile.features");
  CHECK_THAT(feature.message, Catch::Contains("avx512f"));
  CHECK(compile(named("x86_64-pc-linux-gnu", "x86-64", "avx2")).code == "compile.features");
  CHECK(compile(named("pdp11-dec-none", "", "")).code == "compile.triple");
  CHECK(compile(named("aarch64-linux-gnu", "native", "")).code == "compile.native");
  target::Target model = named("x86_64-pc-linux-gnu", "x86-64", "");
  model.codeModel = "enormous";
  CHECK(compile(model).code == "compile.code-model");
}

TEST_CASE("nothing of this machine reaches another target") {
  for (const auto& [triple, cpu, word] :
       {std::tuple{"aarch64-linux-gnu", "cortex-a72", "fadd\tv"},
        std::tuple{"riscv64-unknown-elf", "generic-rv64", "dojo_kernel"},
        std::tuple{"x86_64-pc-linux-gnu", "x86-64", "addps\t"}}) {
    target::Target target = named(triple, cpu, "");
    target.vector.bits = 128;
    const auto llvm = codegen::llvmText(program(kAdd), target);
    REQUIRE((llvm.ok() ? "" : llvm.error().text()) == "");
    CHECK_THAT(*llvm, Catch::Contains("\"target-cpu\"=\"" + std::string(cpu) + "\""));
    CHECK_THAT(*llvm, !Catch::Contains("avx") && !Catch::Contains(codegen::hostCpu()));
    const auto assembly = codegen::assemblyText(program(kAdd), target);
    REQUIRE((assembly.ok() ? "" : assembly.error().text()) == "");
    CHECK_THAT(*assembly, Catch::Contains(word) && !Catch::Contains("zmm"));
  }
}

TEST_CASE("vectors of 256 bits") {
  for (const std::string_view type : {"f64", "f32", "f16", "bf16", "i32", "i8"}) {
    agrees("kernel k\nin x " + std::string(type) + " [5, 13]\nin i i32 [13] in [0, 5)\nout y " +
               std::string(type) + R"( [5, 13]
out z )" + std::string(type) +
               R"( [13]
tmp t )" + std::string(type) +
               R"( [13] @register

13:vector
| t[{0}] = x[i[{0}], {0}]
| z[{0}] = x[0, 12 - {0}]
5
| 13:vector
| | y[{0}, {1}] = t[{1}] * x[{0}, {1}]
| | y[{0}, {1}] += x[{0}, {1} - 1] if {1} - {0} in [1, 9)
)",
           0, &middling());
  }
}

TEST_CASE("a target without vector extensions computes the same") {
  for (const std::string_view type : {"f64", "f32", "f16", "bf16"}) {
    for (const std::string_view op : {"round", "floor", "ceil", "trunc", "sqrt", "abs"}) {
      agrees("kernel op\nin x " + std::string(type) + " [13]\nout y " + std::string(type) +
                 " [13]\n\n13:vector\n| y[{0}] = " + std::string(op) + "(x[{0}])\n",
             0, &plain());
    }
  }
  agrees(R"(kernel mixed
in  x f32 [3, 13]
in  i i32 [13] in [0, 13)
out y f16 [13]
out z bf16 [3, 13]
out w f32 [13]
out h f16 [13]
tmp a f64 [~13] @register

13:vector
| y[{0}] = cast(x[0, {0}])
| z[1, {0}] = cast(x[1, {0}])
| w[{0}] = x[2, i[{0}]]
| w[{0}] = x[0, {0} + 1] if {0} in [3, 12)
| a[{0}] = x[2, {0}] * 0.3
| h[{0}] = cast(a[{0}])
13
| z[0, {0}] = 0
| z[2, {0}] = z[1, {0}] * z[1, {0}]
)",
         0, &plain());
  refuses("kernel f\nin x f32 [4]\ninout y f32 [4]\n\n4\n| y[{0}] fma+= x[{0}] * x[{0}]\n",
          "lower.fma", &plain());
}

}  // namespace dojo::test
