// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each kind of wrong text: its code, its place, and what the sentence says.
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "ir/parse.h"

using namespace dojo::ir;

namespace {

struct Wrong {
  const char* text;
  const char* code;
  const char* where;    ///< LINE:COLUMN
  const char* message;  ///< A part of it.
};

/// Body lines in a kernel with some declarations; line 9 is the first.
std::string inKernel(const std::string& body) {
  return "kernel k\n"
         "param N = 8, big = 1000000000\n"
         "param eps f32 = 1e-5\n"
         "in x f32 [N, N]\n"
         "in col i32 [N] in [0, N)\n"
         "in free i32 [N]\n"
         "out y f32 [N]\n"
         "tmp n i32 []\n" +
         body;
}

void check(const std::string& text, const Wrong& wrong) {
  INFO(text);
  const auto parsed = parse(text);
  REQUIRE_FALSE(parsed.ok());
  const dojo::Error& error = parsed.error();
  INFO(error.text());
  CHECK(error.code == wrong.code);
  CHECK(error.where == std::string("<text>:") + wrong.where);
  CHECK(error.message.find(wrong.message) != std::string::npos);
  CHECK(error.detail.find('^') != std::string::npos);
}

}  // namespace

TEST_CASE("wrong headers") {
  const Wrong cases[] = {
      {"", "parse.syntax", "1:1",
       "expected 'kernel NAME' as the first line, not the end of the text"},
      {"\n# only a comment\n", "parse.syntax", "3:1", "expected 'kernel NAME'"},
      {"in x f32 []\n", "parse.syntax", "1:1",
       "expected 'kernel NAME' as the first line, not 'in'"},
      {"kernel\n", "parse.syntax", "1:7", "expected the kernel's name, not the end of the line"},
      {"kernel 5\n", "parse.syntax", "1:8", "expected the kernel's name, not '5'"},
      {"kernel k extra\n", "parse.syntax", "1:10", "expected the end of the line, not 'extra'"},
      {"kernel k\n", "parse.empty", "2:1", "no tree"},
      {"kernel k\nparam\n", "parse.syntax", "2:6", "expected the parameter's name"},
      {"kernel k\nparam N\n", "parse.syntax", "2:8", "expected '=' and a value"},
      {"kernel k\nparam N = \n", "parse.syntax", "2:11", "expected a whole number"},
      {"kernel k\nparam N = 1.5\n", "parse.syntax", "2:11", "expected a whole number, not '1.5'"},
      {"kernel k\nparam N = 1/0\n", "parse.division", "2:12", "division by zero"},
      {"kernel k\nparam N = M\n", "parse.unknown-name", "2:11", "unknown name 'M'"},
      {"kernel k\nparam N = 99999999999999999999\n", "parse.overflow", "2:11", "too large"},
      {"kernel k\nparam N = 1000000000*1000000000*1000000000\n", "parse.overflow", "2:32",
       "too large"},
      {"kernel k\nparam N = 1152921504606846976 + 1152921504606846976\n", "parse.overflow", "2:31",
       "too large"},
      {"kernel k\nparam N = 2, N = 3\n", "parse.duplicate", "2:14", "'N' is already declared"},
      {"kernel k\nparam f32 = 2\n", "parse.reserved", "2:7", "'f32' is a word of the language"},
      {"kernel k\nparam e f32 = x\n", "parse.syntax", "2:15", "expected a number"},
      {"kernel k\nparam e i8 = 128\n", "parse.constant", "2:14", "128 is no i8 value"},
      {"kernel k\nparam e f33 = 1\n", "parse.dtype", "2:9", "did you mean 'f32'?"},
      {"kernel k\nin x\n", "parse.syntax", "2:5", "expected a dtype"},
      {"kernel k\nin x f32\n", "parse.syntax", "2:9", "[] for a scalar"},
      {"kernel k\nin x f32 [\n", "parse.syntax", "2:11", "expected a whole number"},
      {"kernel k\nin x f32 [4\n", "parse.syntax", "2:12", "expected ',' or ']'"},
      {"kernel k\nin x f32 [0]\n", "parse.extent", "2:11", "the extent is 0"},
      {"kernel k\nin x f32 [-3]\n", "parse.extent", "2:11", "the extent is -3"},
      {"kernel k\nin x f32 [~0]\n", "parse.extent", "2:12", "the extent is 0"},
      {"kernel k\nin x f32 [4 pad -1]\n", "parse.extent", "2:13", "a pad of -1"},
      {"kernel k\nin x f32 [{0}]\n", "parse.variable", "2:11", "{0} is bound by no scope"},
      {"kernel k\nin x f32 [2000000000000]\n", "parse.overflow", "2:11", "too large"},
      {"kernel k\nin x f32 [1000000, 1000000, 1000000]\n", "parse.overflow", "2:4",
       "'x' is too large"},
      {"kernel k\nin x f64 [500000, 1000000]\n", "parse.overflow", "2:4", "'x' is too large"},
      {"kernel k\nin x f32 [4] @\n", "parse.syntax", "2:15", "expected a location"},
      {"kernel k\nin x f32 [4] in [0, 4)\n", "parse.role", "2:14", "integers declares its values"},
      {"kernel k\nin x i32 [4] in [4, 4)\n", "parse.extent", "2:17", "no values are in [4, 4)"},
      {"kernel k\nin x i32 [4] monotone\n", "parse.syntax", "2:22", "expected 'in [LO, HI)'"},
      {"kernel k\ntmp x f32 [4] finite\n", "parse.role", "2:15", "only arguments of floats"},
      {"kernel k\nout x f32 [4] finite\n", "parse.role", "2:15", "only arguments of floats"},
      {"kernel k\nin x i32 [4] finite in [0, 4)\n", "parse.role", "2:14", "arguments of floats"},
      {"kernel k\nin x f32 [4] finite packed\n", "parse.syntax", "2:21", ""},
      {"kernel k\nin finite f32 [4]\n", "parse.reserved", "2:4", "word of the language"},
      {"kernel k\ntmp x f32 [4] packed\n", "parse.role", "2:15", "only arguments are packed"},
      {"kernel k\ntmp x f32 [4] shares\n", "parse.syntax", "2:21",
       "expected the tmp whose storage is shared"},
      {"kernel k\ntmp x f32 [4] shares z\n", "parse.shares", "2:22",
       "there is no buffer 'z' above, whose storage 'x' could share"},
      {"kernel k\ntmp x f32 [4] shares x\n", "parse.shares", "2:22", "no buffer 'x' above"},
      {"kernel k\nin a f32 [4]\ntmp x f32 [4] shares a\n", "parse.shares", "3:22",
       "only tmps share storage, and 'a' is an argument"},
      {"kernel k\ntmp a f32 [4]\ninout x f32 [4] shares a\n", "parse.shares", "3:24",
       "only tmps share storage, and 'x' is an argument"},
      {"kernel k\ntmp a i8 [4]\ntmp x f32 [4] shares a\n", "parse.shares", "3:22",
       "'x' is f32 and 'a' i8: only tmps of one dtype share storage"},
      {"kernel k\ntmp a f32 [4]\ntmp x f32 [4] @stack shares a\n", "parse.shares", "3:29",
       "'x' is in stack and 'a' in heap: only tmps in one memory share storage"},
      {"kernel k\ntmp a f32 [4] @register\ntmp x f32 [4] @register shares a\n", "parse.shares",
       "3:32", "registers are no storage"},
      {"kernel k\ntmp a f32 [4]\ntmp x f32 [4] shares a a\n", "parse.syntax", "3:24",
       "expected the end of the line"},
      {"kernel k\nin shares f32 []\n", "parse.reserved", "2:4", "'shares' is a word"},
      {"kernel k\nin x f32 []\nin x f32 []\n", "parse.duplicate", "3:4", "'x' is already declared"},
      {"kernel k\nin exp f32 []\n", "parse.reserved", "2:4", "'exp' is a word of the language"},
      {"kernel k\nkernel l\n", "parse.syntax", "2:1",
       "'kernel' declarations stand before the tree"},
      {"kernel k\nimport x\n", "parse.unknown-name", "2:1", "unknown name 'import'"},
      {"kernel k\n\x01\n", "parse.character", "2:1", "unexpected byte 0x01"},
      {"kernel k\n\xff\xfe\n", "parse.character", "2:1", "unexpected byte 0xff"},
      {"kernel k\nin x$ f32 []\n", "parse.character", "2:5", "unexpected character '$'"},
      {"kernel k\nin 2x f32 []\n", "parse.syntax", "2:5", "can't start with a digit"},
  };
  for (const Wrong& wrong : cases) check(wrong.text, wrong);
}

TEST_CASE("wrong trees") {
  const Wrong cases[] = {
      {"| y[0] = 1", "parse.depth", "9:1", "this line has 1 bar, but it can stand inside 0 scopes"},
      {"N\n| | y[{0}] = 1", "parse.depth", "10:1", "has 2 bars"},
      {"N\ny[{0}] = 1", "parse.empty", "9:1", "this scope has no body"},
      {"N", "parse.empty", "9:1", "this scope has no body"},
      {"N\n| N\n| y[{0}] = 1", "parse.empty", "10:3", "this scope has no body"},
      {"y[{0}] = 1", "parse.variable", "9:3", "outside all scopes"},
      {"N\n| y[{1}] = 1", "parse.variable", "10:5", "inside 1 scope there is {0}"},
      {"N\n| N\n| | y[{2}] = 1", "parse.variable", "11:7", "inside 2 scopes there is {0} to {1}"},
      {"N\n| y[{99999999999999999999}] = 1", "parse.variable", "10:5", "bound by no scope"},
      {"N\n| y[{x}] = 1", "parse.syntax", "10:6", "expected the depth of a scope"},
      {"0\n| y[0] = 1", "parse.extent", "9:1", "the extent is 0"},
      {"N - 9\n| y[0] = 1", "parse.extent", "9:1", "the extent is -1"},
      {"-N\n| y[0] = 1", "parse.extent", "9:1", "the extent is -8"},
      {"N\n| {0}\n| | y[0] = 1", "parse.syntax", "10:3", "expected a scope"},
      {"N\n| N + {0}\n| | y[0] = 1", "parse.variable", "10:3", "must be a constant"},
      {"big\n| big\n| | y[0] = 1", "parse.overflow", "10:3", "more than 2^40 times"},
      {"N:fast\n| y[0] = 1", "parse.mapping", "9:3", "unknown mapping 'fast'"},
      {"N:vectr\n| y[0] = 1", "parse.mapping", "9:3", "did you mean 'vector'?"},
      {"N:\n| y[0] = 1", "parse.syntax", "9:3", "expected a mapping"},
      {"N:vector+vector\n| y[0] = 1", "parse.duplicate", "9:10", "written twice"},
      {"N:stream\n| y[0] = 1", "parse.syntax", "9:9", "expected '('"},
      {"N:stream()\n| y[0] = 1", "parse.syntax", "9:10", "expected a buffer's name"},
      {"N:stream(z)\n| y[0] = 1", "parse.unknown-name", "9:10", "unknown name 'z'"},
      {"y[0] = 1 if", "parse.syntax", "9:12", "expected a whole number"},
      {"y[0] = 1 if 3", "parse.syntax", "9:14", "expected 'in [LO, HI)'"},
      {"y[0] = 1 if 3 in [0, 4]", "parse.syntax", "9:23", "expected ')'"},
      {"y[0] = 1 if 3 in [0, 4) or 5 in [0, 4)", "parse.syntax", "9:25", "expected the end"},
      {"free[0]..free[1]\n| y[0] = 1", "parse.gather", "9:1", "declares its values"},
      {"x[0, 0]..col[1]\n| y[0] = 1", "parse.gather", "9:1", "declares its values"},
      {"col[0]..\n| y[0] = 1", "parse.syntax", "9:9", "expected the element with the end"},
      {"col[0]..N\n| y[0] = 1", "parse.syntax", "9:9", "expected the element with the end"},
      {"col[col[0]]..col[1]\n| y[0] = 1", "parse.gather", "9:1", "an extent can't be a gather"},
      {"y[0] = 1\nin z f32 []", "parse.syntax", "10:1", "'in' declarations stand before the tree"},
      {"N = 3", "parse.syntax", "9:3", "expected the end of the line, not '='"},
      {"!mma(y, x, x)", "parse.unknown-name", "9:2", "declares no instruction 'mma'"},
      {"[", "parse.syntax", "9:1", "expected a scope"},
  };
  for (const Wrong& wrong : cases) check(inKernel(wrong.text), wrong);
}

TEST_CASE("wrong operations") {
  const Wrong cases[] = {
      {"y", "parse.rank", "9:1", "'y' has 1 dim, and 0 indices are given"},
      {"y[0, 1] = 2", "parse.rank", "9:1", "'y' has 1 dim, and 2 indices are given"},
      {"y[0]", "parse.syntax", "9:5", "expected '=', '+=', '*=', 'max=', 'min=' or 'fma+='"},
      {"y[0] =", "parse.syntax", "9:7", "expected an element"},
      {"y[0] -= 1", "parse.syntax", "9:6", "expected '='"},
      {"y[0] max 1", "parse.syntax", "9:10", "expected 'max='"},
      {"y[0] = 1 2", "parse.syntax", "9:10", "expected the end of the line, not '2'"},
      {"y[0] = z", "parse.unknown-name", "9:8", "unknown name 'z'"},
      {"y[0] = xx[0, 0]", "parse.unknown-name", "9:8", "did you mean 'x'?"},
      {"z[0] = 1", "parse.unknown-name", "9:1", "unknown name 'z'"},
      {"y[0] = sine(1)", "parse.unknown-name", "9:8", "unknown function 'sine'"},
      {"y[0] = sqr(1)", "parse.unknown-name", "9:8", "did you mean 'sqrt'?"},
      {"y[0] = exp 1", "parse.syntax", "9:12", "expected '(' after exp"},
      {"y[0] = exp(1", "parse.syntax", "9:13", "expected ',' or ')'"},
      {"y[0] = exp(1, 2)", "parse.syntax", "9:8", "exp takes 1 operand, not 2"},
      {"y[0] = select(1, 2)", "parse.syntax", "9:8", "select takes 3 operands, not 2"},
      {"y[0] = cast(1, x)", "parse.dtype", "9:16", "'x' is no dtype"},
      {"y[0] = (1", "parse.syntax", "9:10", "expected ')'"},
      {"y[0] = 1)", "parse.syntax", "9:9", "expected the end of the line"},
      {"y[0] = 1 < 2 < 3", "parse.syntax", "9:14", "comparisons don't chain"},
      {"y[0] fma+= 3", "parse.syntax", "9:12", "takes a product"},
      {"y[0] = 1e39", "parse.constant", "9:8", "1e39 is too large for f32"},
      {"y[0] = 1e999", "parse.constant", "9:8", "1e999 is too large for f32"},
      {"n = 2147483648", "parse.constant", "9:5", "2147483648 is no i32 value"},
      {"n = 0.5", "parse.constant", "9:5", "0.5 is no i32 value"},
      {"n = inf", "parse.constant", "9:5", "inf is no i32 value"},
      {"n = -99999999999999999999", "parse.constant", "9:6", "is no i32 value"},
      {"y[0] = nan", "parse.unknown-name", "9:8", "unknown name 'nan'"},
      {"y[0.5] = 1", "parse.syntax", "9:3", "expected a whole number"},
      {"y[eps] = 1", "parse.unknown-name", "9:3", "'eps' is a typed constant"},
      {"y[x] = 1", "parse.rank", "9:3", "'x' has 2 dims, and 0 indices are given"},
      {"y[free[0]] = 1", "parse.gather", "9:3", "declares its values"},
      {"y[0] = y[col[0] + 1]", "parse.gather", "9:10", "a gather stands alone"},
      {"y[0] = y[1 + col[0]]", "parse.gather", "9:14", "a gather stands alone"},
      {"y[0] = y[col[col[0]]]", "parse.gather", "9:10", "can't be a gather itself"},
      {"N\n| N\n| | y[{0}*{1}] = 1", "parse.affine", "11:10", "not affine"},
      {"N\n| y[{0}/2] = 1", "parse.affine", "10:8", "only constants can be divided"},
      {"N\n| y[{0}*1152921504606846976] = 1", "parse.overflow", "10:5", "too large"},
      {"N\n| y[{0}*big*big*big] = 1", "parse.overflow", "10:16", "too large"},
      {"N\n| y[{0}] = {0}*1152921504606846976", "parse.overflow", "10:15", "too large"},
      {"y[0 = 1", "parse.syntax", "9:5", "expected ',' or ']'"},
      {"y[] = 1", "parse.rank", "9:1", "0 indices are given"},
      {"y[,] = 1", "parse.syntax", "9:3", "expected a whole number"},
  };
  for (const Wrong& wrong : cases) check(inKernel(wrong.text), wrong);
}

TEST_CASE("the error shows the line and a caret under the place") {
  const auto parsed =
      parse("kernel k\nin rows f32 [4]\nout y f32 [4]\n4\n| y[{0}] = exp(row[{0}])\n",
            {{}, std::nullopt, "my.dojo"});
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().text() ==
        "my.dojo:5:16: unknown name 'row'; did you mean 'rows'? [parse.unknown-name]\n"
        "  | y[{0}] = exp(row[{0}])\n"
        "                 ^");
}

TEST_CASE("tabs, bytes and long lines are shown safely") {
  const auto bytes = parse("kernel k\nout y f32 []\n\ty =\t\xc3\xa9\n");
  REQUIRE_FALSE(bytes.ok());
  CHECK(bytes.error().where == "<text>:3:6");
  CHECK(bytes.error().detail == "   y = ??\n       ^");

  const auto longLine = parse("kernel k\nout y f32 []\ny = " + std::string(5000, '(') + "\n");
  REQUIRE_FALSE(longLine.ok());
  CHECK(longLine.error().code == "parse.depth");
  CHECK(longLine.error().detail.size() < 300);
}

TEST_CASE("given parameters must exist and fit") {
  const std::string text =
      "kernel k\nparam rows = 4\nparam e f32 = 1\nout y f32 [rows]\ny[0] = e\n";
  const auto given = [&](const std::string& name, std::int64_t value) {
    const auto parsed = parse(text, {{{name, value}}, std::nullopt, "f"});
    return parsed.ok() ? std::string("ok") : parsed.error().code;
  };
  CHECK(given("rows", 7) == "ok");
  CHECK(given("row", 7) == "parse.unknown-param");
  CHECK(given("e", 7) == "parse.unknown-param");
  CHECK(given("rows", 0) == "parse.extent");
  CHECK(given("rows", -1) == "parse.extent");
  CHECK(given("rows", std::int64_t{1} << 41) == "parse.overflow");
  CHECK(given("rows", std::numeric_limits<std::int64_t>::max()) == "parse.overflow");
  CHECK(given("rows", std::numeric_limits<std::int64_t>::min()) == "parse.overflow");
}

TEST_CASE("a dtype that can't hold the kernel's values is refused") {
  const std::string text =
      "kernel k\nin i i32 [2] in [0, 2)\nin x i32 [2]\nout y i32 [2]\ny[0] = x[i[0]]\n";
  const auto parsed = parse(text, {{}, DType::f32, "f"});
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().code == "parse.dtype");
}

TEST_CASE("wrong instructions") {
  const std::string head =
      "kernel k\n"
      "in a i8 [8]\n"
      "out c i32 []\n";
  const std::string declared = head +
                               "instruction sum2\n"
                               "| inout s i32 []\n"
                               "| in x i8 [2]\n"
                               "| 2\n"
                               "| | s[] += x[{0}]\n";
  struct Row {
    std::string text;
    Wrong wrong;
  };
  const Row rows[] = {
      {head + "instruction\n", {"", "parse.syntax", "4:12", "the instruction's name"}},
      {head + "instruction 5\n", {"", "parse.syntax", "4:13", "the instruction's name"}},
      {head + "instruction sum2\n4\n", {"", "parse.empty", "4:13", "has no fragment"}},
      {head + "instruction sum2\n| inout s i32 []\n| s[] = t[]\n",
       {"", "parse.unknown-name", "6:9", "unknown name 't'"}},
      // The kernel's own buffers are no operands.
      {head + "instruction sum2\n| inout s i32 []\n| s[] += a[0]\n",
       {"", "parse.unknown-name", "6:10", "unknown name 'a'"}},
      {head + "instruction sum2\n| inout s i32 []\n| s[] += 1\n| s[] += 2\n",
       {"", "parse.instruction", "4:13", "one scope or one operation"}},
      {head + "instruction sum2\n| in s i32 []\n| out d i32 []\n| d[] = s[] * 3 + 1\n",
       {"", "parse.instruction", "4:13", "one scope or one operation"}},
      {head + "instruction sum2\n| in s i32 [3]\n| out d i32 []\n| d[] = s[1]\n",
       {"", "parse.instruction", "4:13", "must be the variable of a scope of 3 iterations"}},
      {head + "instruction sum2\n| in s i32 []\n| out d i32 [2]\n| 2\n| | d[0] = s[]\n",
       {"", "parse.instruction", "4:13", "must be the variable"}},
      {declared + declared.substr(head.size()),
       {"", "parse.duplicate", "9:13", "already declared"}},
      {declared + "!sum3(c[], a[{0}])\n", {"", "parse.unknown-name", "9:2", "did you mean 'sum2'"}},
      {declared + "!\n", {"", "parse.syntax", "9:2", "the instruction's name"}},
      {declared + "!sum2\n", {"", "parse.syntax", "9:6", "'(' and the operands"}},
      {declared + "!sum2(c[])\n", {"", "parse.syntax", "9:10", "operand 'x' of sum2"}},
      {declared + "!sum2(c[], b[{0}])\n", {"", "parse.unknown-name", "9:12", "unknown name 'b'"}},
      {declared + "!sum2(c[], c[])\n",
       {"", "parse.dtype", "9:12", "operand 'x' of sum2 is i8, and 'c' is i32"}},
      {declared + "!sum2(c[], a[{1}])\n", {"", "parse.variable", "9:14", "bound by no scope"}},
      {declared + "!sum2(c[], a[])\n", {"", "parse.rank", "9:12", "has 1 dim"}},
      {declared + "!sum2(c[], a[{0}], a[{0}])\n", {"", "parse.syntax", "9:18", "no more operands"}},
      {declared + "c[] = 0\ninstruction b\n",
       {"", "parse.syntax", "10:1", "declarations stand before the tree"}},
  };
  for (const Row& row : rows) check(row.text, row.wrong);
}
