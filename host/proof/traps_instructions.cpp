// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about vendors' instructions and biased operands. The targets of tests have dot4 (sums of
// four products of bytes) and scale2 (two floats times a third).
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfInstructions() {
  static const std::vector<std::string> traps = {
      // Rows by columns that lie as they should, or don't, ...
      R"(for use_instruction
in a i8 [$N, 8]
in b i8 [$M, 8]
out c i32 [$N, $M]

$N
| $M
| | c[{0}, {1}] = 0
| | 2
| | | 4
| | | | c[{0}, {1}] += a[{0}, {2}*4 + {3}] * b[{1}, {2}*4 + {3}]
)",
      R"(for use_instruction
in a i8 [$N, 8]
in b i8 [8, $M]
out c i32 [$N, $M]
tmp t i8 [$M, 8]

8
| $M
| | t[{1}, {0}] = b[{0}, {1}]
$N
| $M
| | c[{0}, {1}] = 0
| | 2
| | | 4
| | | | c[{0}, {1}] += a[{0}, {2}*4 + {3}] * t[{1}, {2}*4 + {3}]
)",
      R"(for use_instruction
in a i8 [$N, 4]
in b i8 [4]
out c i32 [$N, 4]

$N
| 4
| | c[{0}, {1}] = 0
| 4
| | c[{0}, {1}] += a[{0}, {1}] * b[{1}]
)",
      // ... under a guard, in a loop that is unrolled or spread, beside the same work, ...
      R"(for use_instruction
in a i8 [$N, 4]
in b i8 [4]
out c i32 [$N]

$N:parallel
| c[{0}] = 0
| 4 if {0} in [1, $N)
| | c[{0}] += a[{0}, {1}] * b[{1}]
)",
      R"(for expand_instruction
in a i8 [$N, 4]
in b i8 [$N, 4]
out c i32 [$N]
out d i32 [$N]
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

$N
| c[{0}] = 0
| d[{0}] = 0
| !dot4(c[{0}], a[{0}, {1}], b[{0}, {1}])
| 4
| | d[{0}] += a[{0}, {1}]
)",
      R"(for expand_instruction
in a i8 [$N, 4]
in b i8 [$N, 4]
out c i32 []
tmp t i8 [$N, 4]
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

$N
| 4
| | t[{0}, {1}] = a[{0}, {1}]
c[] = 0
$N
| !dot4(c[], b[{0}, {1}], t[{0}, {1}])
)",
      // ... on an accumulator of its own for each iteration.
      R"(for expand_instruction
in a i8 [$N, 4]
in b i8 [4]
out c i32 [$N]
tmp s i32 [~$N] @$P
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

$N
| s[{0}] = 0
| !dot4(s[{0}], a[{0}, {1}], b[{1}])
| c[{0}] = s[{0}]
)",
      // What is written is all new, and lies in two memories perhaps, or over what is read.
      R"(for use_instruction
in x f32 [$N, 2]
in s f32 [$N]
out y f32 [$N, 2]

$N
| 2
| | y[{0}, {1}] = x[{0}, {1}] * s[{0}]
)",
      R"(for use_instruction
in s f32 []
inout x f32 [$N, 2]

$N
| 2
| | x[{0}, {1}] = x[{0}, {1}] * s[]
)",
      R"(for use_instruction
in x f32 [$N, 2]
in s f32 []
out y f32 [$N, 2]
tmp t f32 [$N, ~2] @$P

$N
| 2
| | t[{0}, {1}] = x[{0}, {1}] * s[]
| 2
| | y[{0}, {1}] = x[{0}, {1}]
)",
      R"(for expand_instruction
in x f32 [$N, 2]
in s f32 [$N]
out y f32 [$N, 2]
tmp t f32 [$N, 2]
tmp u f32 [$N, 2]
instruction scale2
| out d f32 [2]
| in x f32 [2]
| in s f32 []
| 2
| | d[{0}] = s[] * x[{0}]

$N
| 2
| | u[{0}, {1}] = x[{0}, {1}] + 1
$N
| !scale2(t[{0}, {1}], u[{0}, {1}], s[{0}])
$N
| 2
| | y[{0}, {1}] = t[{0}, {1}] + u[{0}, 0]
)",
      // Sums of products of bytes, ...
      R"(for bias_operand unbias_operand
in a i8 [$N, $M]
in b i8 [$M, $S]
out c i32 [$N, $S]

$N
| $S
| | c[{0}, {1}] = 0
| | $M
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)",
      R"(for bias_operand unbias_operand
in a i8 [$N, $M]
in b i8 [$M]
inout c i16 [$N]

$M
| $N
| | c[{1}] += a[{1}, {0}] * b[{0}]
)",
      // ... through windows, with loops that one of them doesn't know, ...
      R"(for bias_operand unbias_operand
in x i8 [10]
in w i8 [$N]
inout y i32 [5]

5
| $N
| | $M
| | | y[{0}] += x[{0} + {1}] * w[{1}]
)",
      R"(for bias_operand unbias_operand
in a i8 []
in b i8 []
inout c i64 []

$N
| c[] += a[] * b[]
)",
      // ... of which not all are executed, ...
      R"(for bias_operand
in x i8 [5]
in w i8 [5]
inout y i32 [$N]

$N
| 5
| | y[{0}] += x[{1}] * w[{1}] if {0} + {1} in [2, 5)
)",
      R"(for bias_operand
in x i8 [5]
in w i8 [4, 5]
inout y i32 [5, 2]

5
| 2 if {0} in [1, 5)
| | 5
| | | y[{0}, {1}] += x[{2}] * w[{0} - 1, {2}]
)",
      // ... and whose other operand changes on the way or comes before.
      R"(for bias_operand
in x i8 [$M]
inout w i8 [$M]
inout y i32 [$N]

$N
| $M
| | y[{0}] += x[{1}] * w[{1}]
| w[0] = 3
)",
      R"(for bias_operand unbias_operand
in x i8 [$M]
out y i32 [$N]
tmp w i8 [$M]

$M
| w[{0}] = abs(x[{0}])
$N
| y[{0}] = 0
| $M
| | y[{0}] += w[{1}] * x[{1}]
)",
      R"(for unbias_operand
in a i8 [$N, $M]
in b i8 [$M]
out c i32 [$N]
tmp u u8 [$N, $M]
tmp s i32 []

$N
| $M
| | u[{0}, {1}] = cast(a[{0}, {1}])
| | u[{0}, {1}] = u[{0}, {1}] + 128
s[] = 0
$M
| s[] += b[{0}]
$N
| c[{0}] = 0
| $M
| | c[{0}] += b[{1}] * u[{0}, {1}]
| c[{0}] += s[] * -128
)"};
  return traps;
}

}  // namespace dojo::proof
