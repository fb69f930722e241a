// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vendors' instructions in programs: text, what they compute, what isn't one.
#include "ir/instruction.h"

#include <string>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/tree.h"

using namespace dojo::ir;

namespace {

const std::string kDot = R"(kernel k
in a i8 [8, 16]
in b i8 [4, 8, 4]
out c i32 [8, 8]
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

8
| 8
| | c[{0}, {1}] = 0
| | 4
| | | !dot4(c[{0}, {1}], a[{0}, {2}*4 + {3}], b[{2}, {1}, {3}]) if {0} + {1} in [0, 14)
)";

const std::string kExpanded = R"(kernel k
in a i8 [8, 16]
in b i8 [4, 8, 4]
out c i32 [8, 8]

8
| 8
| | c[{0}, {1}] = 0
| | 4
| | | 4 if {0} + {1} in [0, 14)
| | | | c[{0}, {1}] += a[{0}, {2}*4 + {3}] * b[{2}, {1}, {3}]
)";

Program parsed(const std::string& text) {
  auto result = parse(text);
  INFO((result.ok() ? "" : result.error().text()));
  REQUIRE(result.ok());
  return std::move(result->program);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string problem(const std::string& text) {
  const auto result = parse(text);
  if (!result) return result.error().code;
  const auto valid = check(result->program);
  return valid ? "" : valid.error().code;
}

/// Takes every mark away.
void unmark(std::vector<Node>& body) {
  for (Node& node : body) {
    node.instruction = -1;
    if (node.isScope()) unmark(node.scope().body);
  }
}

}  // namespace

TEST_CASE("a program with an instruction is its text") {
  const Program program = parsed(kDot);
  CHECK(print(program) == kDot);
  CHECK(parsed(print(program)) == program);
  CHECK(check(program).ok());
  // Below the mark is what it computes.
  Program expanded = program;
  unmark(expanded.body);
  expanded.instructions.clear();
  CHECK(print(expanded) == kExpanded);
  CHECK(expanded == parsed(kExpanded));
}

TEST_CASE("an instruction computes what its fragment says") {
  const Program program = parsed(kDot), expanded = parsed(kExpanded);
  const auto inputs = makeInputs(program, InputSet::exact, 7);
  const auto a = interpret(program, inputs), b = interpret(expanded, inputs);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  for (std::size_t i = 0; i < a->size(); ++i) CHECK((*a)[i].bytes == (*b)[i].bytes);
}

TEST_CASE("an instruction is one line, and what is inside has its number") {
  const Program program = parsed(kDot);
  CHECK(lineOf(program, {0}) == 12);
  CHECK(lineOf(program, {0, 0, 1, 0}) == 16);
  CHECK(lineOf(program, {0, 0, 1, 0, 0}) == 16);
  CHECK(printLine(program, *find(program, {0, 0, 1, 0})).starts_with("!dot4(c["));
  CHECK(printWithPlaces(program).find("@0.0.1.0.0") == std::string::npos);
}

TEST_CASE("operands are found up to the order of commutative ones") {
  // Here b comes before a among the program's buffers, and so in products.
  const Program program = parsed(R"(kernel k
in b i8 [64]
in a u8 [64]
out c i32 []
instruction mixed
| inout acc i32 []
| in x u8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

c[] = 0
16
| !mixed(c[], a[{0}*4 + {1}], b[{0}*4 + {1}])
)");
  CHECK(check(program).ok());
  CHECK(parsed(print(program)) == program);
  const Node& node = *find(program, {1, 0});
  CHECK(printAccess(program, std::get<Access>(node.scope().body[0].leaf().operands[0])) ==
        "b[{0}*4 + {1}]");
  const auto boxes = boxesOf(program, program.instructions[0], node, 1);
  REQUIRE(boxes.has_value());
  CHECK(program.buffer((*boxes)[1].buffer).name == "a");
}

TEST_CASE("declarations of instructions nobody uses are left out, the others are in order") {
  const std::string two = replaced(kDot, "instruction dot4", R"(instruction abs1
| out d i8 [2]
| in x i8 [2]
| 2
| | d[{0}] = abs(x[{0}])
instruction dot4)");
  CHECK(print(parsed(two)) == kDot);
}

TEST_CASE("what is no instruction is refused") {
  CHECK(problem(kDot) == "");
  // The declaration.
  CHECK(problem(replaced(kDot, "| 4\n| | acc[] +=", "| 4:unroll\n| | acc[] +=")) ==
        "parse.instruction");
  CHECK(problem(replaced(kDot, "| inout acc", "| in acc")) == "parse.instruction");
  CHECK(problem(replaced(kDot, "| in y i8 [4]", "| in y i8 [4]\n| in z i8 [4]")) ==
        "parse.instruction");
  CHECK(problem(replaced(kDot, "| in y i8 [4]", "| in y i8 [5]")) == "parse.instruction");
  CHECK(problem(replaced(kDot, "y[{0}]\n", "y[{0}] + 1\n")) == "parse.instruction");
  CHECK(problem(replaced(kDot, "y[{0}]\n", "y[{0}] if {0} in [0, 3)\n")) == "parse.instruction");
  CHECK(problem(replaced(kDot, "x[{0}] * y", "x[3 - {0}] * y")) == "parse.instruction");
  CHECK(problem(replaced(kDot, "| | acc[] += x[{0}] * y[{0}]\n", "")) == "parse.empty");
  CHECK(problem(replaced(kDot, "instruction dot4", "instruction dot4\ninstruction dot4")) ==
        "parse.empty");
  // The leaf.
  CHECK(problem(replaced(kDot, "!dot4", "!dot5")) == "parse.unknown-name");
  CHECK(problem(replaced(kDot, "!dot4(c[{0}, {1}], ", "!dot4(")) == "parse.dtype");
  CHECK(problem(replaced(kDot, ", b[{2}, {1}, {3}])", ")")) == "parse.syntax");
  CHECK(problem(replaced(kDot, "b[{2}, {1}, {3}])", "b[{2}, {1}, {3}], c[0, 0])")) ==
        "parse.syntax");
  CHECK(problem(replaced(kDot, "b[{2}, {1}, {3}]", "b[{2}, {1}, {4}]")) == "parse.variable");
  CHECK(problem(replaced(kDot, "!dot4(c[{0}, {1}]", "!dot4(d[{0}, {1}]")) == "parse.unknown-name");
  // What it means.
  CHECK(problem(replaced(kDot, "b[{2}, {1}, {3}]", "b[{2}, {1}, {3} + 1]")) == "check.bounds");
}

TEST_CASE("what an instruction writes is nothing else of it") {
  const std::string copy = R"(kernel k
inout x f32 [64]
instruction move4
| out d f32 [4]
| in s f32 [4]
| 4
| | d[{0}] = s[{0}]

!move4(x[{0}], x[{0} + 32])
)";
  CHECK(problem(copy) == "check.instruction");
  const std::string onto = R"(kernel k
in x f32 [64]
out y f32 []
instruction move4
| out d f32 [4]
| in s f32 [4]
| 4
| | d[{0}] = s[{0}]

!move4(y[], x[{0}])
)";
  CHECK(problem(onto) == "check.instruction");
}
