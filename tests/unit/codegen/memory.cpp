// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way in which elements are found: strides, gathers, folds, padding, stack, registers.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "unit/codegen/compare.h"

namespace dojo::test {

TEST_CASE("strided and reversed lanes") {
  agrees(R"(kernel strides
in  x f32 [64]
in  a f32 [9, 20]
out y f32 [20]
out z f32 [20]
out w f32 [20, 9]

20:vector
| y[{0}] = x[3*{0} + 2]
| z[19 - {0}] = x[-2*{0} + 50]
9
| 20:vector
| | w[{1}, {0}] = a[{0}, {1}]
)");
  agrees(R"(kernel both
in  x f64 [30]
out y f64 [10]
out d f64 [10, 10]

10
| 10:vector
| | d[{0}, {1}] = 0
10:vector
| y[{0}] = x[2*{0}] + x[2*{0} + 1]
| d[{0}, {0}] = x[{0}]
)");
}

TEST_CASE("lanes that lie a few elements apart, up to the last element, under guards") {
  for (const char* type : {"f32", "f64", "f16", "i8", "i32"}) {
    for (const int apart : {2, 3, 4, 5}) {
      agrees(fmt::format(R"(kernel apart
in  x {0} [5, {1}]
out y {0} [5, 20]
inout z {0} [5, 20]

5
| 20:vector
| | y[{{0}}, {{1}}] = x[{{0}}, {2}*{{1}} + {{0}}]
| 20:vector
| | z[{{0}}, {{1}}] = x[{{0}}, {2}*{{1}} + {{0}} - 3] if {2}*{{1}} + {{0}} - 3 in [0, {1}) and {{1}} in [1, 19)
)",
                         type, apart * 19 + 5, apart));
    }
  }
}

TEST_CASE("loops that count down through memory") {
  agrees(R"(kernel backwards
in  x f32 [7, 11]
out y f32 [7, 11]
out i i64 [7, 11]
out z f32 [7]

7
| 11
| | y[6 - {0}, 10 - {1}] = x[{0}, {1}]
| | i[{0}, {1}] = 10 - 3*{0} - {1}
| z[6 - {0}] = x[6 - {0}, {0}]
)");
}

TEST_CASE("gathers") {
  agrees(R"(kernel gathers
in  i i32 [20] in [0, 50)
in  j i64 [20] in [0, 7)
in  x f32 [50]
in  a f32 [50, 7]
in  b i8 [50, 18]
out y f32 [20]
out z f32 [20]
out w i8 [20, 18]
out v f32 [20]

20:vector
| y[{0}] = x[i[{0}]]
| z[{0}] = a[i[{0}], j[{0}]]
20
| 18:vector
| | w[{0}, {1}] = b[i[{0}], {1}]
20
| v[{0}] = a[i[{0}], 3]
)");
  agrees(R"(kernel scaled
in  i u8 [4, 20] in [0, 9)
in  x f16 [9, 3, 5]
out y f16 [4, 20]

4
| 20:vector
| | y[{0}, {1}] = x[i[{0}, {1}], 2, {0}]
)");
}

TEST_CASE("folded dims") {
  agrees(R"(kernel folds
in  x f32 [30]
out y f32 [30]
tmp a f32 [~30]
tmp b f32 [30~2]
tmp c f32 [30~3]

30
| a[{0}] = x[{0}]
| b[{0}] = a[{0}] + 1
| c[{0}] = b[{0}] * 2
| y[{0}] = c[{0}]
)");
  agrees(R"(kernel ring
in  x f32 [12, 16]
out y f32 [12, 16]
tmp b f32 [13~2, 16] @stack

16:vector
| b[0, {0}] = 0
12
| 16:vector
| | b[{0} + 1, {1}] = b[{0}, {1}] + x[{0}, {1}]
| 16:vector
| | y[{0}, {1}] = b[{0} + 1, {1}]
)");
  agrees(R"(kernel unrolledRing
in  x f32 [12, 16]
out y f32 [12, 16]
tmp b f32 [13~3, 16] @register

16:vector
| b[0, {0}] = 0
4
| 3:unroll
| | 16:vector
| | | b[3*{0} + {1} + 1, {2}] = b[3*{0} + {1}, {2}] + x[3*{0} + {1}, {2}]
| | 16:vector
| | | y[3*{0} + {1}, {2}] = b[3*{0} + {1} + 1, {2}]
)");
  agrees(R"(kernel foldedLanes
in  x f32 [3, 8]
out y f32 [3, 8]
tmp b f32 [24~8]

3
| 8:vector
| | b[8*{0} + {1}] = x[{0}, {1}]
| 8:vector
| | y[{0}, {1}] = b[8*{0} + {1}]
)");
  agrees(R"(kernel offLanes
in  x f32 [3, 7]
out y f32 [3, 7]
tmp b f32 [24~7]

3
| 7:vector
| | b[5*{0} + {1}] = x[{0}, {1}]
| 7:vector
| | y[{0}, {1}] = b[5*{0} + {1}]
)");
}

TEST_CASE("padded dims") {
  agrees(R"(kernel padded
in  x f32 [6, 10]
out y f32 [10, 6]
tmp b f32 [6, 10 pad 3]
tmp r f32 [10, 6 pad 2] @register

6
| 10
| | b[{0}, {1}] = x[{0}, {1}]
10:unroll
| 6:vector
| | r[{0}, {1}] = b[{1}, {0}]
10:unroll
| 6:vector
| | y[{0}, {1}] = r[{0}, {1}]
)");
}

TEST_CASE("temporaries of a vector scope are private to its lanes") {
  agrees(R"(kernel compound
in  x f32 [40]
in  y f32 [40]
out z f32 [40]

40:vector
| z[{0}] = (x[{0}] - y[{0}]) * x[{0}] + max(x[{0}], 0.5)
)");
  for (const char* location : {"register", "stack"}) {
    agrees(std::string(R"(kernel private
in  x f32 [4, 20]
out z f32 [20]
tmp a f32 [] @)") +
           location + R"(
tmp t f32 [4] @)" +
           location +
           R"(

20:vector
| a[] = 0
| 4:unroll
| | t[{1}] = x[{1}, {0}]
| 4:unroll
| | a[] += t[{1}] * t[3 - {1}]
| z[{0}] = a[]
)");
    agrees(std::string(R"(kernel indexedByLane
in  x f32 [20]
out z f32 [20]
tmp t f32 [20] @)") +
           location + R"(

20:vector
| t[{0}] = x[{0}]
| t[19 - {0}] = x[19 - {0}]
| z[{0}] = t[{0}] + t[19 - {0}]
)");
  }
  agrees(R"(kernel loopInside
in  x f32 [9, 20]
out z f32 [20]
tmp a f32 [] @register
tmp t f32 [9] @stack

20:vector
| a[] = 0
| 9
| | t[{1}] = x[{1}, {0}] * 2
| 9
| | a[] max= t[8 - {1}]
| z[{0}] = a[]
)");
}

TEST_CASE("register buffers read other than they were written") {
  agrees(R"(kernel shuffles
in  x f32 [4, 8]
out y f32 [8, 4]
out z f32 [16]
out s f32 []
tmp t f32 [4, 8] @register

4:unroll
| 8:vector
| | t[{0}, {1}] = x[{0}, {1}]
8:unroll
| 4:vector
| | y[{0}, {1}] = t[{1}, {0}]
4:vector
| z[{0}] = t[2, 2*{0}]
4:vector
| z[{0} + 4] = t[1, 7 - {0}]
8:vector
| z[{0} + 8] = t[0, 3]
s[] = t[3, 5]
8:unroll
| s[] += t[1, {0}]
)");
  agrees(R"(kernel inserts
in  x f32 [20]
out y f32 [20]
tmp t f32 [20] @register

20:unroll
| t[{0}] = x[{0}]
5:vector
| t[{0} + 3] = t[{0} + 3] + 1
20:vector
| y[{0}] = t[{0}]
)");
  agrees(R"(kernel scalarsToLanes
in  x f32 [6]
out y f32 [6]
tmp t f32 [2, 3] @register

2:unroll
| 3:unroll
| | t[{0}, {1}] = x[3*{0} + {1}]
3:vector
| y[{0}] = t[1, {0}] + t[0, 2]
3:vector
| y[{0} + 3] = t[0, {0}]
)");
}

TEST_CASE("columns of a matrix in registers") {
  for (const char* type : {"f64", "f32", "i16", "bool"}) {
    for (const auto& [rows, columns] :
         {std::pair{16, 16}, {8, 8}, {4, 16}, {7, 13}, {13, 16}, {16, 5}, {3, 3}, {32, 32}}) {
      agrees(fmt::format(R"(kernel transpose
in  x {0} [{1}, {2}]
out y {0} [{2}, {1}]
tmp t {0} [{1}, {2}] @register

{1}:unroll
| {2}:vector
| | t[{{0}}, {{1}}] = x[{{0}}, {{1}}]
{2}:unroll
| {1}:vector
| | y[{{0}}, {{1}}] = t[{{1}}, {{0}}]
)",
                         type, rows, columns));
    }
  }
  // Written between the reads of two columns, and read in two blocks.
  agrees(R"(kernel changing
in  x f32 [8, 8]
in  n i32 [2] monotone in [0, 3]
out y f32 [3, 8]
tmp t f32 [8, 8] @register

8:unroll
| 8:vector
| | t[{0}, {1}] = x[{0}, {1}]
8:vector
| y[0, {0}] = t[{0}, 2]
8:vector
| t[5, {0}] = 7
8:vector
| y[1, {0}] = t[{0}, 2]
| y[2, {0}] = t[{0}, 4]
n[0]..n[1]
| 8:vector
| | y[2, {1}] = t[{1}, 3]
| 8:vector
| | t[{1}, 3] = y[2, {1}] + 1
)");
}

TEST_CASE("an element that one lane writes") {
  agrees(R"(kernel one
in  x f32 [24]
out y f32 []
out z i32 []
tmp m f32 [] @register
tmp h i32 [24~3] @register

24:vector
| m[] = x[{0}] if {0} in [17, 18)
| y[] = m[] if {0} in [17, 18)
24:vector
| h[{0}] = cast({0}) if {0} in [4, 7)
z[] = h[5]
)");
}

}  // namespace dojo::test
