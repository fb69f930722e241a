// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check.h"

#include <functional>
#include <map>

#include <catch2/catch.hpp>

#include "check_brute.h"
#include "check_random.h"
#include "ir/check_internal.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo::ir;
using namespace dojo::test;

namespace {

std::string codeOf(const dojo::Status& status) { return status.ok() ? "" : status.error().code; }

}  // namespace

TEST_CASE("check agrees with enumeration on affine programs") {
  Random random(17);
  std::map<std::string, int> verdicts;
  for (int i = 0; i < 12000; ++i) {
    const Shape shape{i % 3 == 0, false, i % 5 != 0, i % 2 == 0};
    const Program program = randomProgram(random, shape);
    const std::string expected = bruteForceCheck(program, {});
    const std::string answer = codeOf(check(program));
    INFO("program " << i << "\n" << print(program));
    // A program may break both rules about writing; either is a right answer.
    REQUIRE(answer.substr(0, 15) == expected.substr(0, 15));
    ++verdicts[answer];
  }
  CHECK(verdicts[""] > 500);
  CHECK(verdicts["check.bounds"] > 500);
  CHECK(verdicts["check.mapping"] > 500);
  CHECK(verdicts["check.unwritten-read"] > 500);
  CHECK(verdicts["check.unwritten-out"] > 500);
}

TEST_CASE("check agrees with enumeration where tmps share storage") {
  Random random(29);
  std::map<std::string, int> verdicts;
  for (int i = 0; i < 15000; ++i) {
    const Program program = randomProgram(random, {i % 3 == 0, false, true, i % 4 != 0, true});
    if (!program.hasSharing()) continue;
    const std::string expected = bruteForceCheck(program, {});
    const std::string answer = codeOf(check(program));
    INFO("program " << i << "\n" << print(program));
    REQUIRE(answer.substr(0, 15) == expected.substr(0, 15));
    // What holds with one array holds with several.
    Program separate = program;
    for (Buffer& buffer : separate.buffers) buffer.shares = -1;
    if (answer.empty()) REQUIRE(codeOf(check(separate)).empty());
    // The last resort gives the same answer.
    const Accesses accesses(program);
    if (answer.empty()) REQUIRE(checkWrittenByMarking(accesses, 1 << 20));
    const std::string otherwise = codeOf(check(separate));
    if (otherwise.empty() && answer == "check.unwritten-read") {
      REQUIRE_FALSE(checkWrittenByMarking(accesses, 1 << 20));
    }
    ++verdicts[answer + (answer == otherwise ? "" : ", shared")];
  }
  CHECK(verdicts[""] > 400);
  CHECK(verdicts["check.mapping, shared"] > 15);
  CHECK(verdicts["check.unwritten-read, shared"] > 500);
}

TEST_CASE("check is sound with data-dependent extents") {
  Random random(23);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const Program program = randomProgram(random, {i % 3 == 0, true, true, i % 4 != 0, i % 2 == 0});
    std::string expected;
    for (int contents = 0; contents < 4 && expected.empty(); ++contents) {
      expected = bruteForceCheck(program, randomContents(random, program));
    }
    const std::string answer = codeOf(check(program));
    INFO("program " << i << "\n" << print(program));
    if (!expected.empty()) REQUIRE(!answer.empty());
    if (answer.empty()) ++accepted;
    if (expected.empty() && !answer.empty()) ++refused;
  }
  CHECK(refused < accepted / 10);  // Without a counterexample: allowed, but not often.
  CHECK(accepted > 500);
}

namespace {

/// The error of a text, without the code where it is good.
std::string problemOf(const std::string& text) {
  auto parsed = parse(text);
  if (!parsed) FAIL(parsed.error().text());
  const dojo::Status status = check(parsed->program);
  return status.ok() ? "" : status.error().text();
}

}  // namespace

TEST_CASE("plain kernels are valid") {
  CHECK(problemOf(R"(kernel matmul
in  a f32 [512, 512]
in  b f32 [512, 512]
out c f32 [512, 512]

512
| 512
| | c[{0}, {1}] = 0
| | 512
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)")
            .empty());
  CHECK(problemOf(R"(kernel softmax
param N = 512, M = 1024
in  x f32 [N, M]
out y f32 [N, M]
tmp m f32 [N]
tmp e f32 [N, M]
tmp s f32 [N]

N
| m[{0}] = -inf
| M
| | m[{0}] max= x[{0}, {1}]
N
| s[{0}] = 0
| M
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | e[{0}, {1}] = exp(e[{0}, {1}])
| | s[{0}] += e[{0}, {1}]
N
| M
| | y[{0}, {1}] = e[{0}, {1}] / s[{0}]
)")
            .empty());
  CHECK(problemOf(R"(kernel conv2d
param C = 64, K = 64, H = 56, W = 56
in  x f32 [C, H, W]
in  w f32 [K, C, 3, 3]
out y f32 [K, H, W]

K
| H
| | W
| | | y[{0}, {1}, {2}] = 0
| | | C
| | | | 3
| | | | | 3
| | | | | | y[{0}, {1}, {2}] += x[{3}, {1} + {4} - 1, {2} + {5} - 1] * w[{0}, {3}, {4}, {5}] if {1} + {4} - 1 in [0, H) and {2} + {5} - 1 in [0, W)
)")
            .empty());
  CHECK(problemOf(R"(kernel spmv
param N = 4096, E = 65536
in  row i32 [N + 1] monotone in [0, E]
in  col i32 [E] in [0, N)
in  v f32 [E]
in  x f32 [N]
out y f32 [N]

N
| y[{0}] = 0
| row[{0}]..row[{0} + 1]
| | y[{0}] += v[{1}] * x[col[{1}]]
)")
            .empty());
}

TEST_CASE("transformed kernels are valid") {
  CHECK(problemOf(R"(kernel softmax_blocked
in  x f32 [64, 512]
out y f32 [64, 512]
tmp mv f32 [~64, 16] @register
tmp m f32 [~64] @register

64:parallel
| 16:vector
| | mv[{0}, {1}] = -inf
| 32
| | 16:vector
| | | mv[{0}, {2}] max= x[{0}, {1}*16 + {2}]
| m[{0}] = -inf
| 16:vector
| | m[{0}] max= mv[{0}, {1}]
| 512:vector
| | y[{0}, {1}] = x[{0}, {1}] - m[{0}]
)")
            .empty());
  CHECK(problemOf(R"(kernel pipelined
in  x f32 [64, 16]
out y f32 [64, 16]
tmp b f32 [64~2, 16]

16
| b[0, {0}] = x[0, {0}]
63
| 16
| | b[{0} + 1, {1}] = x[{0} + 1, {1}]
| 16
| | y[{0}, {1}] = exp(b[{0}, {1}])
16
| y[63, {0}] = exp(b[63, {0}])
)")
            .empty());
  CHECK(problemOf(R"(kernel prefix
in  x f32 [1000000]
out y f32 [1000000]

y[0] = x[0]
999999
| y[{0} + 1] = y[{0}] + x[{0} + 1]
)")
            .empty());
  CHECK(problemOf(R"(kernel blocked_with_tail
in  x f32 [1000]
out y f32 [1000]

63
| 16
| | y[{0}*16 + {1}] = exp(x[{0}*16 + {1}]) if {0}*16 + {1} in [0, 1000)
)")
            .empty());
  CHECK(problemOf(R"(kernel rows
in  row i32 [1001] monotone in [0, 5000]
inout v f32 [5000]
tmp t f32 [5000]

1000:parallel
| row[{0}]..row[{0} + 1]
| | t[{1}] = v[{1}]
| row[{0}]..row[{0} + 1]
| | v[{1}] = exp(t[{1}])
)")
            .empty());
}

TEST_CASE("each rule is refused in one sentence with its line") {
  CHECK(problemOf(R"(kernel unguarded
in  x f32 [8]
out y f32 [8]

8
| y[{0}] = 0
| 3
| | y[{0}] += x[{0} + {1} - 1]
)") == "line 8: index 0 of x, {0} + {1} - 1, can be below 0 [check.bounds]");
  CHECK(problemOf(R"(kernel unwritten
in  x f32 [8]
out y f32 [8]
tmp t f32 [8]

7
| t[{0}] = x[{0}]
8
| y[{0}] = t[{0}]
)") == "line 9: t[{0}] is read before it is written [check.unwritten-read]");
  CHECK(problemOf(R"(kernel part
in  x f32 [8]
out y f32 [8]

8
| y[{0}] = x[{0}] if {0} in [0, 7)
)") == "line 3: some element of y is never written [check.unwritten-out]");
  CHECK(problemOf(R"(kernel carried
in  x f32 [8]
inout y f32 [9]

8:parallel
| y[{0} + 1] = y[{0}]
)") == "line 5: iterations of 8:parallel depend on each other through y (line 6) [check.mapping]");
  CHECK(problemOf(R"(kernel prefix
in  x f32 [8]
out y f32 [8]
tmp s f32 []

s[] = 0
8:vector
| s[] += x[{0}]
| y[{0}] = s[]
)") == "line 7: iterations of 8:vector depend on each other through s (line 8) [check.mapping]");
  CHECK(problemOf(R"(kernel parallel_sum
in  x f32 [8]
out s f32 []

s[] = 0
8:parallel
| s[] += x[{0}]
)") == "line 6: iterations of 8:parallel depend on each other through s (line 7) [check.mapping]");
  CHECK(problemOf(R"(kernel private
in  x f32 [8]
out y f32 [8]
tmp t f32 [] @register

8:parallel
| t[] = x[{0}] if {0} in [0, 1)
| y[{0}] = t[]
)") == "line 8: t[] is read before it is written [check.unwritten-read]");
  CHECK(problemOf(R"(kernel gathered
in  i i32 [8] in [0, 9)
in  x f32 [8]
out y f32 [8]

8
| y[{0}] = x[i[{0}]]
)") == "line 7: index 0 of x is gathered from i, whose declared values [0, 9) aren't all within "
       "[0, 8) [check.bounds]");
}

TEST_CASE("values in shared storage") {
  const auto chained = [](const std::string& b, const std::string& use) {
    return problemOf(
        "kernel k\nin x f32 [512, 2000]\nout y f32 [512, 2000]\n"
        "tmp a f32 [512, 2000]\ntmp b f32 " +
        b +
        " shares a\n\n512\n| 2000\n"
        "| | a[{0}, {1}] = exp(x[{0}, {1}])\n" +
        use);
  };
  // Too many elements to try them all.
  const std::string pointwise =
      "| 2000\n| | b[{0}, {1}] = a[{0}, {1}] * 2\n| 2000\n| | y[{0}, {1}] = b[{0}, {1}]\n";
  CHECK(chained("[512, 2000]", pointwise).empty());
  CHECK(chained("[~512, 2000]", pointwise).empty());
  const std::string reversed =
      "512\n| 2000\n| | b[{0}, {1}] = a[{0}, -{1} + 1999] * 2\n| 2000\n| | y[{0}, {1}] = b[{0}, "
      "{1}]\n";
  CHECK(chained("[512, 2000]", reversed) ==
        "line 12: a[{0}, -{1} + 1999] is read after b[{0}, {1}] may have been written to its "
        "storage [check.unwritten-read]");
  const std::string row =
      "| 2000\n| | b[{1}] = x[{0}, {1}] * 2\n| 2000\n| | y[{0}, {1}] = b[{1}]\n";
  CHECK(chained("[2000]", row).empty());
  // An accumulator that is started anew, in the storage of what it summed.
  CHECK(problemOf(R"(kernel rows
in  x f32 [4096, 4096]
out y f32 [4096]
tmp e f32 [4096]
tmp s f32 [] shares e

4096
| 4096
| | e[{1}] = exp(x[{0}, {1}])
| s[] = e[0]
| 4095
| | s[] += e[{1} + 1]
| y[{0}] = s[]
)")
            .empty());
  CHECK(problemOf(R"(kernel threads
in  x f32 [64]
out y f32 [64]
tmp a f32 [64]
tmp b f32 [~64] shares a

64:parallel
| a[{0}] = x[{0}]
| y[{0}] = a[{0}]
| b[{0}] = x[{0}] if {0} in [1, 2)
)") == "line 7: iterations of 64:parallel depend on each other through a and b, which share "
       "storage (line 8 and line 10) [check.mapping]");
}

TEST_CASE("a vector scope handles a reduction that nothing else touches") {
  CHECK(problemOf(R"(kernel sum
in  x f32 [8]
out s f32 []

s[] = 0
8:vector
| s[] += x[{0}]
)")
            .empty());
}

TEST_CASE("what shares storage must fit together") {
  const auto parsed = parse(
      "kernel k\nout y f32 []\ntmp a f32 [2]\ntmp b f32 [2]\ntmp c f32 [2]\n"
      "a[0] = 1\nb[0] = a[0]\nc[0] = b[0]\ny = c[0]\n");
  REQUIRE(parsed);
  const auto with = [&](const std::function<void(Program&)>& change) {
    Program program = parsed->program;
    program.buffers[2].shares = 1;
    change(program);
    const dojo::Status status = checkStructure(program);
    return status.ok() ? "" : status.error().message;
  };
  CHECK(with([](Program&) {}).empty());
  CHECK(with([](Program& p) { p.buffers[2].shares = 9; }) ==
        "buffer b shares the storage of a buffer that doesn't exist");
  CHECK(with([](Program& p) { p.buffers[2].shares = 0; }) ==
        "buffer b shares storage, as only tmps can");
  CHECK(with([](Program& p) { p.buffers[2].shares = 2; }) ==
        "buffer b shares the storage of b, which isn't the first in it");
  CHECK(with([](Program& p) { p.buffers[2].shares = 3; }) ==
        "buffer b shares the storage of c, which isn't the first in it");
  CHECK(with([](Program& p) { p.buffers[3].shares = 2; }) ==
        "buffer c shares the storage of b, which isn't the first in it");
  CHECK(with([](Program& p) { p.buffers[2].dtype = DType::f64; }) ==
        "buffer b shares the storage of a, but not its dtype");
  CHECK(with([](Program& p) { p.buffers[2].location = "stack"; }) ==
        "buffer b shares the storage of a, but not its location");
  CHECK(with([](Program& p) { p.buffers[1].location = p.buffers[2].location = "register"; }) ==
        "buffer b shares storage, but is in registers");
}

TEST_CASE("structure is checked") {
  const auto structureOf = [](const std::string& text) {
    auto parsed = parse(text);
    if (!parsed) FAIL(parsed.error().text());
    return checkStructure(parsed->program);
  };
  CHECK(structureOf("kernel k\nin x f32 [8]\n\n8\n| x[{0}] = 0\n").error().text() ==
        "line 5: x is an input and can't be written [check.structure]");
  CHECK(structureOf("kernel k\nin x f32 [8]\nout y i8 [8]\n\n8\n| y[{0}] = x[{0}]\n")
            .error()
            .text() ==
        "line 6: x is f32, which doesn't convert exactly to i8: write cast "
        "[check.structure]");
  CHECK(structureOf("kernel k\nin x i8 [8]\nout y i32 [8]\n\n8\n| y[{0}] = x[{0}]\n").ok());
  CHECK(structureOf("kernel k\nin x i8 [8]\nout y i8 [8]\n\n8\n| y[{0}] = exp(x[{0}])\n")
            .error()
            .text() == "line 6: exp doesn't exist for i8 [check.structure]");
  CHECK(structureOf("kernel k\nout y f32 [2]\ntmp t f32 [2~2]\n\n2\n| t[{0}] = 0\n| y[{0}] = "
                    "t[{0}]\n")
            .error()
            .message == "buffer t folds 2 elements into 2");
}
