// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tmps that share storage: one address, and no licence to move accesses past each other.
#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "moves/lowerable.h"
#include "unit/codegen/compare.h"

namespace dojo::test {

TEST_CASE("tmps that share storage, passed and on the stack") {
  for (const std::string where : {"", " @stack"}) {
    agrees(R"(kernel chain
in  x f32 [40]
out y f32 [40]
tmp a f32 [40])" +
           where + R"(
tmp b f32 [4, 10])" +
           where + R"( shares a
tmp c f32 [5])" +
           where + R"( shares a

40
| a[{0}] = x[{0}] * 3
4
| 10:vector
| | b[{0}, {1}] = a[{0}*10 + {1}] + 1
4
| 10:vector
| | y[{0}*10 + {1}] = b[{0}, {1}] * 2
5
| c[{0}] = x[{0} + 7]
5:vector
| y[{0} + 30] = c[{0}]
)");
    // In place, with values that a load moved past a store would miss.
    agrees(R"(kernel shifted
in  x f64 [64]
out y f64 [63]
tmp a f64 [64])" +
           where + R"(
tmp b f64 [63])" +
           where + R"( shares a

64:vector
| a[{0}] = x[{0}]
63:unroll
| b[{0}] = a[{0}] + a[{0} + 1]
63
| y[{0}] = b[{0}]
)");
  }
}

TEST_CASE("storage that tmps share is private to the scope around all of them") {
  agrees(R"(kernel lanes
in  x f32 [6, 16]
out y f32 [6, 16]
tmp a f32 [~6, ~16, 3] @stack
tmp b f32 [~6, 2, ~16] @stack shares a

6:parallel
| 16:vector
| | 3:unroll
| | | a[{0}, {1}, {2}] = x[{0}, {1}] * 2
| | y[{0}, {1}] = a[{0}, {1}, 0] + a[{0}, {1}, 2]
| | 2:unroll
| | | b[{0}, {2}, {1}] = x[{0}, {1}] - 1
| | y[{0}, {1}] *= b[{0}, 1, {1}]
)");
  agrees(R"(kernel threads
in  x f32 [6, 16]
out y f32 [6, 16]
tmp a f32 [6, 16] @stack
tmp b f32 [6, 16] @stack shares a

6:parallel
| 16:vector
| | a[{0}, {1}] = exp(x[{0}, {1}])
6:parallel
| 16
| | b[{0}, {1}] = a[{0}, {1}] * 2
| 16:vector
| | y[{0}, {1}] = b[{0}, {1}]
)",
         kCarried);
}

TEST_CASE("the caller passes one array for all that share it, as large as the largest") {
  const ir::Program shared = program(R"(kernel k
in  x f32 [64]
out y f32 [64]
tmp a f32 [8]
tmp c f32 [3]
tmp b f32 [64 pad 6] shares a

8
| a[{0}] = x[{0}]
3
| c[{0}] = a[{0}]
64
| b[{0}] = x[{0}]
64
| y[{0}] = b[{0}] + c[1]
)");
  const auto passed = codegen::abi(shared);
  REQUIRE(passed.size() == 4);
  CHECK(passed[2].id == *shared.find("a"));
  CHECK(passed[2].bytes == 70 * 4);
  CHECK(passed[3].id == *shared.find("c"));
  CHECK(passed[3].bytes == 3 * 4);
}

TEST_CASE("the stack holds shared storage once") {
  target::Target small = host();
  small.stackBytes = 300;
  const std::string text = R"(kernel k
in  x f32 [64]
out y f32 [64]
tmp a f32 [64] @stack
tmp b f32 [64] @stackSHARED

64
| a[{0}] = x[{0}]
| b[{0}] = a[{0}] * 2
| y[{0}] = b[{0}]
)";
  const auto with = [&](const std::string& sharing) {
    std::string out = text;
    return out.replace(out.find("SHARED"), 6, sharing);
  };
  refuses(with(""), "lower.stack", &small);
  agrees(with(" shares a"), 0, &small);
}

}  // namespace dojo::test
