// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small programs compiled, called and compared with the interpreter.
#include <catch2/catch.hpp>

#include "unit/codegen/compare.h"

namespace dojo::test {

TEST_CASE("plain kernels") {
  agrees(R"(kernel add
in  x f32 [5, 7]
in  y f32 [5, 7]
out z f32 [5, 7]

5
| 7
| | z[{0}, {1}] = x[{0}, {1}] + y[{0}, {1}]
)");
  agrees(R"(kernel matmul
in  a f32 [6, 10]
in  b f32 [10, 9]
out c f32 [6, 9]

6
| 9
| | c[{0}, {1}] = 0
| | 10
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)");
}

TEST_CASE("vector, unroll and registers") {
  agrees(R"(kernel matmul
in  a f32 [8, 24]
in  b f32 [24, 32]
out c f32 [8, 32]
tmp t f32 [4, 2, 16] @register

2
| 4:unroll
| | 2:unroll
| | | 16:vector
| | | | t[{1}, {2}, {3}] = 0
| 24
| | 4:unroll
| | | 2:unroll
| | | | 16:vector
| | | | | t[{2}, {3}, {4}] fma+= a[4*{0} + {2}, {1}] * b[{1}, 16*{3} + {4}]
| 4:unroll
| | 2:unroll
| | | 16:vector
| | | | c[4*{0} + {1}, 16*{2} + {3}] = t[{1}, {2}, {3}]
)");
}

}  // namespace dojo::test
