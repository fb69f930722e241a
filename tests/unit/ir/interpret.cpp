// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interpret.h"

#include <cmath>
#include <ctime>
#include <limits>

#include <catch2/catch.hpp>

#include "ir/parse.h"

using namespace dojo;
using namespace dojo::ir;

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr double kSlowdown = 20;
#else
constexpr double kSlowdown = 1;
#endif

Program program(const std::string& text) {
  auto parsed = parse(text);
  if (!parsed) FAIL(parsed.error().text());
  return parsed->program;
}

Tensor tensor(DType type, const std::vector<double>& values) {
  Tensor out{type,
             std::vector<std::byte>(values.size() * static_cast<std::size_t>(sizeBytes(type)))};
  for (std::size_t i = 0; i < values.size(); ++i)
    store(out, static_cast<std::int64_t>(i), values[i]);
  return out;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out;
  const auto size = static_cast<std::size_t>(sizeBytes(tensor.dtype));
  for (std::size_t i = 0; i < tensor.bytes.size() / size; ++i) {
    out.push_back(loadAsDouble(tensor, static_cast<std::int64_t>(i)));
  }
  return out;
}

std::string codeOf(const std::string& text, std::vector<Tensor> arguments = {},
                   std::uint64_t seed = 1) {
  const Program p = program(text);
  if (arguments.empty()) arguments = makeInputs(p, InputSet::uniform, 1);
  auto result = interpret(p, arguments, {.seed = seed});
  return result ? "" : result.error().code;
}

const char* const kSoftmax = R"(kernel softmax
param N = 3, M = 5
in x f32 [N, M]
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
)";

}  // namespace

TEST_CASE("softmax by hand") {
  const Program p = program(kSoftmax);
  const auto inputs = makeInputs(p, InputSet::uniform, 3);
  const auto result = interpret(p, inputs);
  REQUIRE(result);
  for (int i = 0; i < 3; ++i) {
    float m = -std::numeric_limits<float>::infinity();
    float s = 0;
    float e[5];
    const auto x = [&](int j) { return static_cast<float>(loadAsDouble(inputs[0], i * 5 + j)); };
    for (int j = 0; j < 5; ++j) m = std::max(m, x(j));
    for (int j = 0; j < 5; ++j) {
      e[j] = static_cast<float>(std::exp(static_cast<double>(x(j) - m)));
      s += e[j];
    }
    for (int j = 0; j < 5; ++j) CHECK(loadAsDouble((*result)[1], i * 5 + j) == e[j] / s);
  }
  CHECK((*result)[0] == inputs[0]);
}

TEST_CASE("data-dependent extents, gathers and guards") {
  const Program p = program(R"(kernel spmv
in row i32 [4] monotone in [0, 5]
in col i32 [5] in [0, 3)
in v f32 [5]
in x f32 [3]
out y f32 [3]

3
| y[{0}] = 0
| row[{0}]..row[{0} + 1]
| | y[{0}] += v[{1}] * x[col[{1}]] if {1} in [0, 4)
)");
  const auto result =
      interpret(p, {tensor(DType::i32, {0, 2, 2, 5}), tensor(DType::i32, {0, 2, 1, 1, 0}),
                    tensor(DType::f32, {1, 2, 3, 4, 5}), tensor(DType::f32, {10, 20, 30}),
                    tensor(DType::f32, {0, 0, 0})});
  REQUIRE(result);
  CHECK(values((*result)[4]) == std::vector<double>{70, 0, 140});
}

TEST_CASE("what is wrong is said with a code and the line") {
  CHECK(codeOf("kernel k\nin x f32 [4]\nout y f32 [4]\n\n4\n| y[{0}] = x[{0} + 1]\n") ==
        "interpret.bounds");
  CHECK(codeOf("kernel k\nin x f32 [4]\nout y f32 [4]\n\n3\n| y[{0}] = x[{0}]\n") ==
        "interpret.unwritten-out");
  CHECK(codeOf("kernel k\nin x f32 [4]\nout y f32 [4]\n\n4\n| y[{0}] += x[{0}]\n") ==
        "interpret.unwritten");
  CHECK(codeOf("kernel k\nin x i32 [4]\nout y i32 [4]\n\n4\n| y[{0}] = x[{0}] / 0\n") ==
        "interpret.division");
  const std::string gather =
      "kernel k\nin i i32 [2] in [0, 3)\nin x f32 [3]\nout y f32 [2]\n\n2\n| y[{0}] = x[i[{0}]]\n";
  const Tensor x = tensor(DType::f32, {1, 2, 3});
  const Tensor y = tensor(DType::f32, {0, 0});
  CHECK(codeOf(gather, {tensor(DType::i32, {0, 2}), x, y}).empty());
  CHECK(codeOf(gather, {tensor(DType::i32, {0, 3}), x, y}) == "interpret.value-range");
  CHECK(codeOf(gather, {x, y}) == "interpret.arguments");
  const std::string copy = "kernel k\nin x f32 [2] finite\nout y f32 [2]\n\n2\n| y[{0}] = x[{0}]\n";
  CHECK(codeOf(copy, {tensor(DType::f32, {1, -0.0}), y}).empty());
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    CHECK(codeOf(copy, {tensor(DType::f32, {1, value}), y}) == "interpret.value-range");
    Program untold = program(copy);
    untold.buffer(0).finite = false;
    CHECK(interpret(untold, {tensor(DType::f32, {1, value}), y}));
  }

  const Program p = program("kernel k\nin x f32 [4]\nout y f32 [4]\n\n4\n| y[{0}] = x[{0} + 1]\n");
  const auto result = interpret(p, makeInputs(p, InputSet::uniform, 1));
  REQUIRE_FALSE(result);
  CHECK(result.error().where == "line 6");
  CHECK(result.error().message == "index 4 of dim 0 of x is outside of [0, 4)");
  CHECK(interpret(program(kSoftmax), makeInputs(program(kSoftmax), InputSet::uniform, 1), {1, 10})
            .error()
            .code == "interpret.budget");
}

TEST_CASE("a value whose storage was reused is not there any more") {
  CHECK(codeOf(R"(kernel k
in x f32 [4]
out y f32 [4]
tmp t f32 [~4]

4
| t[{0}] = x[{0}]
4
| y[{0}] = t[{0}]
)") == "interpret.unwritten");
  CHECK(codeOf(R"(kernel k
in x f32 [4]
out y f32 [4]
tmp t f32 [4~2]

t[0] = x[0]
3
| t[{0} + 1] = x[{0} + 1]
| y[{0}] = t[{0}]
y[3] = t[3]
)")
            .empty());
}

TEST_CASE("a value that another buffer took the storage of is not there any more") {
  const auto text = [](const std::string& last) {
    return "kernel k\nin x f32 [4]\nout y f32 [4]\ntmp a f32 [4]\ntmp b f32 [2, 2] shares a\n\n4\n"
           "| a[{0}] = x[{0}]\n2\n| b[0, {0}] = a[{0}] + a[{0} + 2]\n4\n| y[{0}] = " +
           last + "\n";
  };
  CHECK(codeOf(text("b[0, 0] + b[0, 1]")).empty());
  CHECK(codeOf(text("b[0, 0] + a[2]")).empty());
  CHECK(codeOf(text("a[0]")) == "interpret.unwritten");
  CHECK(codeOf(text("b[1, 0]")) == "interpret.unwritten");
  const Program p = program(text("a[1]"));
  CHECK(interpret(p, makeInputs(p, InputSet::uniform, 1)).error().message ==
        "an element of a is read after b was written to its storage");
  // Private storage that two buffers share is one thing.
  const std::string stack = R"(kernel k
in x f32 [8]
out y f32 [8]
tmp a f32 [~8] @stack
tmp b f32 [~8] @stack shares a

8:parallel
| a[{0}] = x[{0}]
| b[{0}] = a[{0}] * 2
| y[{0}] = b[{0}]
)";
  CHECK(codeOf(stack).empty());
  std::string apart = stack;
  apart.replace(apart.find("| b["), 1, "8:parallel\n|");
  CHECK(codeOf(apart) == "interpret.unwritten");
}

TEST_CASE("vector lanes read before any of them writes") {
  const std::string prefix =
      "kernel k\nin x f32 [8]\nout y f32 [8]\n\ny[0] = x[0]\n7MAP\n| y[{0} + 1] = y[{0}] + x[{0} + "
      "1]\n";
  const auto with = [&](const std::string& mapping) {
    std::string text = prefix;
    return text.replace(text.find("MAP"), 3, mapping);
  };
  CHECK(codeOf(with("")).empty());
  CHECK(codeOf(with(":vector")) == "interpret.unwritten");

  // In place the elements are all there, so the answer is wrong instead.
  const std::string inPlace =
      "kernel k\ninout y f32 [8]\n\n7MAP\n| y[{0} + 1] = y[{0}] + y[{0} + 1]\n";
  const auto run = [&](const std::string& mapping, std::uint64_t seed) {
    std::string text = inPlace;
    text.replace(text.find("MAP"), 3, mapping);
    const auto result =
        interpret(program(text), {tensor(DType::f32, {1, 1, 1, 1, 1, 1, 1, 1})}, {seed});
    REQUIRE(result);
    return values((*result)[0]);
  };
  CHECK(run("", 1) == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(run(":vector", 1) == std::vector<double>{1, 2, 2, 2, 2, 2, 2, 2});
  bool wrong = false;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    wrong = wrong || run(":parallel", seed) != run("", 1);
  CHECK(wrong);
}

TEST_CASE("reductions by a vector scope, sequential scopes inside of it, several leaves") {
  const Program p = program(R"(kernel k
in x f32 [3, 8]
out s f32 []
tmp a f32 [8]
tmp t f32 [~8] @register

8:vector
| a[{0}] = 0
| 3
| | t[{0}] = x[{1}, {0}]
| | a[{0}] += t[{0}]
s[] = 0
8:vector
| s[] += a[{0}]
)");
  std::vector<double> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const auto result = interpret(p, {tensor(DType::f32, x), tensor(DType::f32, {0})});
  REQUIRE(result);
  CHECK(loadAsDouble((*result)[1], 0) == 276);
}

TEST_CASE("private storage is each iteration's own, shared storage is not") {
  const std::string text = R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64] @WHERE

64:parallel
| t[{0}] = x[{0}]
| y[{0}] = t[{0}]
)";
  const auto with = [&](const std::string& location) {
    std::string out = text;
    return out.replace(out.find("WHERE"), 5, location);
  };
  CHECK(codeOf(with("register")).empty());
  CHECK(codeOf(with("stack")).empty());
  CHECK(codeOf(with("heap")) == "interpret.unwritten");
  // Poisoned at the start of each iteration: what the one before left there is gone.
  CHECK(codeOf(R"(kernel k
in x f32 [4]
out y f32 [4]
tmp t f32 [] @register

4:parallel
| t[] = x[{0}] if {0} in [0, 1)
| y[{0}] = t[]
)") == "interpret.unwritten");
}

TEST_CASE("parallel iterations are interleaved leaf by leaf, nested ones too") {
  const Program p = program(R"(kernel k
out y i32 [4, 4]
inout s i32 []

4:parallel
| 4:parallel
| | s[] += 1
| | y[{0}, {1}] = s[]
)");
  bool interleaved = false;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto result = interpret(p, {makeTensor(p.buffer(0)), tensor(DType::i32, {0})}, {seed});
    REQUIRE(result);
    CHECK(values((*result)[1]) == std::vector<double>{16});
    auto seen = values((*result)[0]);
    std::sort(seen.begin(), seen.end());
    interleaved = interleaved || std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  }
  CHECK(interleaved);
}

TEST_CASE("over the field, allowed rewrites are equal and others are not") {
  const auto exact = [](const std::string& text) {
    auto result = interpretExact(program(text), 5);
    if (!result) FAIL(result.error().text());
    return *result;
  };
  const std::string head = "kernel k\nin x f32 [4]\nin c f32 []\nout y f32 [4]\ntmp t f32 [4]\n\n";
  const auto divided = exact(head + "4\n| y[{0}] = x[{0}] / c[]\n");
  CHECK(divided == exact(head + "4\n| t[{0}] = 1 / c[]\n| y[{0}] = x[{0}] * t[{0}]\n"));
  CHECK(divided != exact(head + "4\n| t[{0}] = 1 / c[]\n| y[{0}] = c[] * t[{0}]\n"));

  const std::string dot =
      "kernel k\nin x f32 [4]\nin z f32 [4]\nout s f32 []\ntmp t f32 [4]\n\ns[] = 0\n";
  const auto sum = exact(dot + "4\n| s[] += x[{0}] * z[{0}]\n");
  CHECK(sum == exact(dot + "4\n| s[] fma+= x[{0}] * z[{0}]\n"));
  CHECK(sum == exact(dot + "4\n| s[] += x[{0}*-1 + 3] * z[{0}*-1 + 3]\n"));
  CHECK(sum != exact(dot + "3\n| s[] += x[{0}] * z[{0}]\n"));
  CHECK(exact(dot + "4\n| t[{0}] = x[{0}] / z[0]\n4\n| s[] += t[{0}]\n") ==
        exact(dot + "4\n| s[] += x[{0}]\ns[] = s[] / z[0]\n"));

  const std::string most = "kernel k\nin x f32 [4]\nout s f32 []\ntmp t f32 [4]\n\n";
  const auto maximum = exact(most + "s[] = -inf\n4\n| s[] max= x[{0}]\n");
  CHECK(maximum == exact(most + "s[] = x[3]\n3\n| s[] max= x[{0}*-1 + 2]\n"));
  CHECK(maximum ==
        exact(most + "s[] = inf\n4\n| t[{0}] = neg(x[{0}])\n| s[] min= t[{0}]\ns[] = neg(s[])\n"));
  CHECK(maximum != exact(most + "s[] = inf\n4\n| s[] min= x[{0}]\n"));
  CHECK(exact(most + "s[] = x[0] * 0.1\n") == exact(most + "s[] = x[0] / 10\n"));
  CHECK(exact(most + "s[] = exp(x[0])\n") != exact(most + "s[] = exp(x[1])\n"));

  CHECK(exact(most + "s[] = exp(x[0] + x[1])\n") == exact(most + "s[] = exp(x[0]) * exp(x[1])\n"));
  CHECK(exact(most + "s[] = exp(x[0] + x[1])\n") != exact(most + "s[] = exp(x[0]) + exp(x[1])\n"));
  CHECK(exact(most + "s[] = exp(exp(x[0]))\n") != exact(most + "s[] = exp(exp(x[1]))\n"));
  CHECK(exact(most + "s[] = exp(0)\n") == exact(most + "s[] = 1\n"));
  const std::string least = "-3.4028235e+38";
  CHECK(exact(most + "s[] = max(x[0], " + least + ")\n") == exact(most + "s[] = x[0]\n"));
  CHECK(exact(most + "s[] = max(-inf, " + least + ")\n") == exact(most + "s[] = " + least + "\n"));
  CHECK(exact(most + "s[] = -inf\n") != exact(most + "s[] = " + least + "\n"));
}

TEST_CASE("small programs are interpreted in well under a millisecond") {
  const Program p = program(kSoftmax);
  const std::clock_t start = std::clock();
  for (int i = 0; i < 200; ++i) REQUIRE(interpretExact(p, static_cast<std::uint64_t>(i)));
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(took / 200 < 1e-3 * kSlowdown);
}
