// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards, data-dependent extents, parallel scopes.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "unit/codegen/compare.h"

namespace dojo::test {

TEST_CASE("guards") {
  for (const char* scope : {"10", "10:unroll", "10:vector"}) {
    agrees(fmt::format(R"(kernel border
in  x f32 [10]
out y f32 [10]

{0}
| y[{{0}}] = 0
{0}
| y[{{0}}] += x[{{0}} - 1] if {{0}} - 1 in [0, 10)
{0}
| y[{{0}}] += x[{{0}} + 1] if {{0}} + 1 in [0, 10)
)",
                       scope));
    agrees(fmt::format(R"(kernel convolution
in  x f32 [6, 10]
in  k f32 [3, 3]
out y f32 [6, 10]

6
| {0}
| | y[{{0}}, {{1}}] = 0
| 3
| | 3
| | | {0}
| | | | y[{{0}}, {{3}}] += x[{{0}} + {{1}} - 1, {{3}} + {{2}} - 1] * k[{{1}}, {{2}}] if {{0}} + {{1}} - 1 in [0, 6) and {{3}} + {{2}} - 1 in [0, 10)
)",
                       scope));
    agrees(fmt::format(R"(kernel guardedScope
in  x i32 [10, 8]
out y i32 [10]
tmp s i32 [~10] @register

{0}
| s[{{0}}] = 1
| 8 if 2*{{0}} in [3, 15)
| | s[{{0}}] += x[{{0}}, {{1}}] if {{0}} + {{1}} in [2, 11)
| y[{{0}}] = s[{{0}}]
)",
                       scope));
  }
  agrees(R"(kernel guardedReduction
in    x f32 [4, 20]
inout s f32 [4]
inout m f32 []

4
| 20:vector
| | s[{0}] += x[{0}, {1}] if {1} + 3*{0} in [5, 17)
| | m[] max= x[{0}, {1}] if {1} - 4*{0} in [0, 3)
)",
         kCarried);
  agrees(R"(kernel outsideOfAllLanes
in  x f32 [4]
out y f32 [6, 8]

6
| 8:vector
| | y[{0}, {1}] = 0
| | y[{0}, {1}] = x[{0}] if {0} + {1} in [0, 4)
)");
  agrees(R"(kernel guardedRegisters
in  x f32 [8]
out y f32 [12]
tmp t f32 [12] @register

12:vector
| t[{0}] = -1
12:vector
| t[{0}] = x[{0} - 2] if {0} in [2, 10)
12:vector
| y[{0}] = t[{0}]
)");
  agrees(R"(kernel guardedDivision
in  x i32 [20]
out y i32 [20]
tmp one i32 [20]

20
| one[{0}] = 0
20
| one[{0}] = 3 if {0} in [4, 11)
20:vector
| y[{0}] = 7
| y[{0}] = x[{0}] / one[{0}] if {0} in [4, 11)
)");
}

TEST_CASE("data-dependent extents") {
  agrees(R"(kernel spmv
in  row i32 [21] monotone in [0, 60]
in  col i32 [60] in [0, 33)
in  a   f32 [60]
in  x   f32 [33]
out y   f32 [20]
tmp s   f32 [] @register

20
| s[] = 0
| row[{0}]..row[{0} + 1]
| | s[] += a[{1}] * x[col[{1}]]
| y[{0}] = s[]
)");
  agrees(R"(kernel rows
in  row i64 [6] monotone in [0, 30]
in  x   f32 [30, 18]
out y   f32 [5, 18]
tmp s   f32 [18] @register

5
| 18:vector
| | s[{1}] = 0
| row[{0}]..row[{0} + 1]
| | 18:vector
| | | s[{2}] += x[{1}, {2}]
| 18:vector
| | y[{0}, {1}] = s[{1}]
)");
  agrees(R"(kernel rowsInLanes
in  row i32 [6] monotone in [0, 30]
in  x   f32 [30, 18]
out y   f32 [5, 18]

5
| 18:vector
| | y[{0}, {1}] = 0
| | row[{0}]..row[{0} + 1]
| | | y[{0}, {1}] += x[{2}, {1}]
)");
}

TEST_CASE("parallel scopes") {
  agrees(R"(kernel parallel
in  x f32 [3, 12, 20]
in  w f32 [20]
out y f32 [3, 12]
out z f32 [3, 12, 20]
tmp r f32 [20] @register
tmp s f32 [] @register
tmp b f32 [20] @stack
tmp c f32 [20] @stack

20:vector
| r[{0}] = w[{0}]
20:vector
| c[{0}] = w[{0}] + 1
3
| 12:parallel
| | s[] = 0
| | 20:vector
| | | b[{2}] = x[{0}, {1}, {2}] * r[{2}]
| | 20:vector
| | | z[{0}, {1}, {2}] = b[{2}] - c[{2}]
| | 20
| | | s[] += b[{2}]
| | y[{0}, {1}] = s[]
)");
  agrees(R"(kernel twice
in  x f32 [7]
out y f32 [7]
out z f32 [14]

7:parallel
| y[{0}] = x[{0}] + 1
2:unroll
| 7:parallel
| | z[7*{0} + {1}] = y[{1}] if {0} + {1} in [0, 20)
)");
}

TEST_CASE("addresses in parallel scopes tell variables with the same stride apart") {
  agrees(R"(kernel pairs
in  x f32 [5]
out y f32 [5, 5]
out z f32 [5, 5, 5]

5
| 5:parallel
| | y[{0}, {1}] = x[{0}] - x[{1}]
5
| 5
| | 5:parallel
| | | z[{0}, {1}, {2}] = x[{2}] * x[{0}] - x[{1}]
)");
}

TEST_CASE("register buffers leave no memory behind") {
  const auto text = codegen::llvmText(program(R"(kernel matmul
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
)"),
                                      host());
  REQUIRE(text.ok());
  const auto count = [&](std::string_view word) {
    int n = 0;
    for (std::size_t at = text->find(word); at != std::string::npos;
         at = text->find(word, at + 1)) {
      ++n;
    }
    return n;
  };
  CHECK(count("alloca") == 0);
  // Addresses of the arguments; in the inner loop one element of a for each row, two vectors of b
  // for each row; the stores of c.
  CHECK(count("load ptr") == 3);
  CHECK(count("load float") == 8);
  CHECK(count("load <") == 8);
  CHECK(count("store ") == 8);
}

}  // namespace dojo::test
