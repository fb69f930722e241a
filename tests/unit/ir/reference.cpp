// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <ctime>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "ir/interpret.h"
#include "ir/numeric.h"
#include "ir/parse.h"

using namespace dojo;
using namespace dojo::ir;

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr double kSlowdown = 20;
#else
constexpr double kSlowdown = 1;
#endif

const double kInf = std::numeric_limits<double>::infinity();
constexpr InputSet kSets[] = {InputSet::uniform, InputSet::exact, InputSet::wide, InputSet::awkward,
                              InputSet::equal};

Program program(const std::string& text, std::optional<DType> dtype = {}) {
  ParseOptions options;
  options.dtype = dtype;
  auto parsed = parse(text, options);
  if (!parsed) FAIL(parsed.error().text() << "\n" << text);
  return parsed->program;
}

Tensor tensor(DType type, const std::vector<double>& values) {
  Tensor out{type,
             std::vector<std::byte>(values.size() * static_cast<std::size_t>(sizeBytes(type)))};
  for (std::size_t i = 0; i < values.size(); ++i)
    store(out, static_cast<std::int64_t>(i), values[i]);
  return out;
}

std::vector<std::vector<Bounded>> referenceOf(const Program& p, const std::vector<Tensor>& inputs) {
  auto result = reference(p, inputs);
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

struct Agreement {
  double worst = 0;  ///< Error over bound.
  int compared = 0, outside = 0, skipped = 0;
};

Agreement compare(const std::vector<std::vector<Bounded>>& expected,
                  const std::vector<Tensor>& got) {
  Agreement out;
  for (std::size_t a = 0; a < expected.size(); ++a) {
    for (std::size_t i = 0; i < expected[a].size(); ++i) {
      const Bounded& e = expected[a][i];
      if (!e.isCompared()) {
        ++out.skipped;
        continue;
      }
      ++out.compared;
      const double off = excess(e, got[a], static_cast<std::int64_t>(i));
      if (off > 1) ++out.outside;
      out.worst = std::max(out.worst, off);
    }
  }
  return out;
}

/// `candidate` computed in the arithmetic of its dtypes against the reference of `start`.
Agreement agreement(const Program& start, const Program& candidate, InputSet set,
                    std::uint64_t seed) {
  const auto inputs = makeInputs(start, set, seed);
  auto result = interpret(candidate, inputs, {seed});
  if (!result) FAIL(result.error().text());
  return compare(referenceOf(start, inputs), *result);
}

const char* const kDot = R"(kernel dot
in x f32 [64]
in y f32 [64]
out s f32 []

s[] = 0
64
| s[] += x[{0}] * y[{0}]
)";

const std::vector<std::string> kKernels = {
    kDot,
    R"(kernel softmax
in x f32 [5, 37]
out y f32 [5, 37]
tmp m f32 [5]
tmp e f32 [5, 37]
tmp s f32 [5]

5
| m[{0}] = -inf
| 37
| | m[{0}] max= x[{0}, {1}]
| s[{0}] = 0
| 37
| | e[{0}, {1}] = exp(x[{0}, {1}] - m[{0}])
| | s[{0}] += e[{0}, {1}]
| 37
| | y[{0}, {1}] = e[{0}, {1}] / s[{0}]
)",
    R"(kernel layernorm
in x f32 [4, 50]
in g f32 [50]
out y f32 [4, 50]
tmp mean f32 [4]
tmp d f32 [4, 50]
tmp v f32 [4]

4
| mean[{0}] = 0
| 50
| | mean[{0}] += x[{0}, {1}]
| mean[{0}] = mean[{0}] / 50
| v[{0}] = 0
| 50
| | d[{0}, {1}] = x[{0}, {1}] - mean[{0}]
| | v[{0}] += d[{0}, {1}] * d[{0}, {1}]
| v[{0}] = rsqrt(v[{0}] / 50 + 1e-3)
| 50
| | y[{0}, {1}] = d[{0}, {1}] * v[{0}] * g[{1}]
)",
    R"(kernel conv
in x f32 [3, 9, 9]
in w f32 [2, 3, 3, 3]
out y f32 [2, 9, 9]

2
| 9
| | 9
| | | y[{0}, {1}, {2}] = 0
| | | 3
| | | | 3
| | | | | 3
| | | | | | y[{0}, {1}, {2}] += x[{3}, {1} + {4} - 1, {2} + {5} - 1] * w[{0}, {3}, {4}, {5}] if {1} + {4} - 1 in [0, 9) and {2} + {5} - 1 in [0, 9)
)",
    R"(kernel activations
in x f32 [300]
out y f32 [300]
out z f32 [300]
out w f32 [300]

300
| y[{0}] = 0.5 * x[{0}] * (1 + erf(x[{0}] * 0.7071))
| z[{0}] = x[{0}] * sigmoid(x[{0}]) + tanh(x[{0}])
| w[{0}] = sqrt(abs(x[{0}]) + 0.5) - log(abs(x[{0}]) + 1.5) + pow(abs(x[{0}]) + 0.5, 1.75)
)",
    R"(kernel choices
in x f32 [100]
in z f32 [100]
out y f32 [100]
out q f32 [100]
tmp c bool [100]

100
| c[{0}] = x[{0}] * z[{0}] < x[{0}] + z[{0}]
| y[{0}] = select(c[{0}], x[{0}] / 3, neg(z[{0}]) * 1.7)
| q[{0}] = round(x[{0}] * 10) + floor(z[{0}] * 7.3) - ceil(x[{0}]) + trunc(min(x[{0}], z[{0}]) * 9)
)",
    R"(kernel prefix
in x f32 [60]
out y f32 [60]

y[0] = x[0]
59
| y[{0} + 1] = y[{0}] + x[{0} + 1]
)",
    R"(kernel product
in x f32 [12]
out y f32 []

y[] = 1
12
| y[] *= x[{0}] + 1.5
)",
};

}  // namespace

TEST_CASE("values and bounds by hand") {
  const Program p = program(R"(kernel k
in x f32 [3]
out s f32 []
out t f32 []
out m f32 []

s[] = 0
m[] = -inf
3
| s[] += x[{0}]
| m[] max= x[{0}]
t[] = x[0] * x[1]
)");
  const auto third = static_cast<double>(1.0F / 3);
  const auto out = referenceOf(p, {tensor(DType::f32, {third, -0.7, 5e-9}), tensor(DType::f32, {0}),
                                   tensor(DType::f32, {0}), tensor(DType::f32, {0})});
  const auto x1 = static_cast<double>(-0.7F);
  const auto x2 = static_cast<double>(5e-9F);
  CHECK(out[0].empty());
  CHECK(out[1][0].value == Approx(third + x1 + x2).epsilon(1e-15));
  CHECK(out[1][0].bound == Approx(4 * 0x1p-24 * (third - x1 + x2)).epsilon(0.01));
  CHECK(out[2][0].value == third * x1);
  CHECK(out[2][0].bound == Approx(-0x1p-24 * third * x1).epsilon(0.01));
  CHECK(out[3][0].value == third);
  CHECK(out[3][0].bound == 0);
}

TEST_CASE("arithmetic of the dtypes stays within the bounds") {
  for (const std::string& text : kKernels) {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const Program p = program(text, type);
      int compared = 0;
      for (const InputSet set : kSets) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          const Agreement found = agreement(p, p, set, seed);
          INFO(p.name << " " << name(type) << " " << name(set) << " seed " << seed << " worst "
                      << found.worst);
          CHECK(found.outside == 0);
          compared += found.compared;
        }
      }
      INFO(p.name << " " << name(type));
      CHECK(compared > 0);
    }
  }
}

TEST_CASE("allowed rewrites stay within the bounds") {
  const std::string head =
      "kernel k\nin x f32 [64]\nin y f32 [64]\nout s f32 []\ntmp p f32 [8]\ntmp r f32 []\n\n";
  struct Pair {
    std::string start, candidate;
  };
  const std::string dot = head + "s[] = 0\n64\n| s[] += x[{0}] * y[{0}]\n";
  const std::vector<Pair> pairs = {
      {dot, head + "s[] = 0\n64\n| s[] fma+= x[{0}*-1 + 63] * y[{0}*-1 + 63]\n"},
      {dot, head + "8\n| p[{0}] = 0\n8\n| 8:vector\n| | p[{1}] += x[{0}*8 + {1}] * y[{0}*8 + {1}]\n"
                   "s[] = 0\n8:vector\n| s[] += p[{0}]\n"},
      {head + "s[] = 0\n64\n| s[] += x[{0}] / y[3]\n",
       head + "r[] = 1 / y[3]\ns[] = 0\n64\n| s[] += x[{0}]\ns[] = s[] * r[]\n"},
      {head + "s[] = 0\n64\n| s[] += x[{0}]\ns[] = s[] * y[5]\n",
       head + "s[] = 0\n64\n| s[] += x[{0}] * y[5]\n"},
      {head + "s[] = 0\n64\n| s[] += x[{0}]\ns[] = s[] / 64\n",
       head + "s[] = 0\n64\n| s[] += x[{0}] * 0.015625\n"},
      {head + "s[] = 1\n12\n| s[] *= y[{0}]\n",
       head + "s[] = y[11]\n11\n| s[] *= y[{0}*-1 + 10]\n"},
  };
  for (const Pair& pair : pairs) {
    for (const DType type : {DType::f32, DType::f64, DType::f16}) {
      for (const InputSet set : kSets) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          const Agreement found =
              agreement(program(pair.start, type), program(pair.candidate, type), set, seed);
          INFO(pair.candidate << name(type) << " " << name(set) << " worst " << found.worst);
          CHECK(found.outside == 0);
        }
      }
    }
  }
}

TEST_CASE("a lost, doubled or exchanged term is outside of the bounds") {
  const Program start = program(kDot);
  std::string lost = kDot;
  lost.replace(lost.find("64\n| s"), 2, "63");
  std::string doubled = kDot;
  doubled += "s[] += x[63] * y[63]\n";
  std::string exchanged = kDot;
  exchanged.replace(exchanged.rfind("y[{0}]"), 6, "y[{0}*-1 + 63]");
  for (const std::string& wrong : {lost, doubled, exchanged}) {
    for (const InputSet set : {InputSet::uniform, InputSet::exact}) {
      CHECK(agreement(start, program(wrong), set, 7).outside == 1);
    }
  }
}

TEST_CASE("on the exact set a lost term can't hide in a long sum") {
  const std::string text = R"(kernel sum
param N = 1048576
in x f32 [N]
in y f32 [N]
out s f32 []

s[] = 0
N
| s[] += x[{0}] * y[{0}]
)";
  const Program p = program(text);
  const auto exact = referenceOf(p, makeInputs(p, InputSet::exact, 1));
  CHECK(exact[2][0].bound == 0);
  CHECK(exact[2][0].value > 1e5);
  const auto uniform = referenceOf(p, makeInputs(p, InputSet::uniform, 1));
  CHECK(uniform[2][0].bound > 1);
}

TEST_CASE("sums lose their exactness when it isn't there") {
  const auto boundOf = [](const std::vector<double>& terms, DType type) {
    const Program p =
        program("kernel k\nin x f32 [4]\nout s f32 []\n\ns[] = 0\n4\n| s[] += x[{0}]\n", type);
    return referenceOf(p, {tensor(type, terms), tensor(type, {0})})[1][0].bound;
  };
  CHECK(boundOf({1, 2, 3, -0.5}, DType::f32) == 0);
  CHECK(boundOf({0x1p24, 2, -2, 0}, DType::f32) == 0);
  CHECK(boundOf({0x1p24, 1, -1, 0}, DType::f32) > 0);
  CHECK(boundOf({1024, 1, 1, 1}, DType::f16) == 0);
  CHECK(boundOf({2048, 1, 1, 1}, DType::f16) > 0);
  CHECK(boundOf({0x1p53, 1, -1, 0}, DType::f64) > 0);
  CHECK(boundOf({0x1p52, 1, -1, 0}, DType::f64) == 0);
}

TEST_CASE("overflow on the way is not compared, certain infinities are") {
  const Program p = program(
      "kernel k\nin x f32 [3]\nout s f32 []\nout e f32 [3]\n\ns[] = 0\n3\n| s[] += x[{0}]\n3\n| "
      "e[{0}] = exp(x[{0}])\n");
  const auto sum = [&](const std::vector<double>& x) {
    return referenceOf(
        p, {tensor(DType::f32, x), tensor(DType::f32, {0}), tensor(DType::f32, {0, 0, 0})});
  };
  CHECK(sum({3e38, 3e38, -3e38})[1][0].bound == kInf);
  CHECK(sum({100, 1, 1})[2][0].bound == kInf);
  CHECK(sum({kInf, 1, 1})[1][0].value == kInf);
  CHECK(sum({kInf, 1, 1})[1][0].bound == 0);
  CHECK(std::isnan(sum({kInf, -kInf, 1})[1][0].value));
  CHECK(sum({kInf, -kInf, 1})[1][0].bound == 0);
  CHECK(sum({-kInf, -kInf, 1})[2][0].value == 0);
}

TEST_CASE("integers are exact, also where doubles aren't, and wrap") {
  const Program p = program(R"(kernel k
in x i64 [4]
out s i64 []
out b i8 [4]
out m i64 []

s[] = 0
m[] = x[0]
4
| s[] += x[{0}] * 3
| m[] max= x[{0}]
| b[{0}] = cast(x[{0}])
)");
  Tensor x = makeTensor(p.buffer(0));
  const std::int64_t big = (std::int64_t{1} << 60) + 7;
  store(x, 0, big);
  store(x, 1, std::int64_t{-5});
  store(x, 2, std::int64_t{300});
  store(x, 3, big);
  const std::vector<Tensor> inputs = {x, makeTensor(p.buffer(1)), makeTensor(p.buffer(2)),
                                      makeTensor(p.buffer(3))};
  const auto out = referenceOf(p, inputs);
  const auto interpreted = interpret(p, inputs);
  REQUIRE(interpreted);
  const std::int64_t sum = loadAsInteger((*interpreted)[1], 0);
  CHECK(static_cast<std::int64_t>(out[1][0].value) + static_cast<std::int64_t>(out[1][0].low) ==
        sum);
  CHECK(out[1][0].bound == 0);
  CHECK(out[3][0].value == 0x1p60);
  CHECK(out[3][0].low == 7);
  for (int i = 0; i < 4; ++i) {
    CHECK(out[2][static_cast<std::size_t>(i)].value == loadAsDouble((*interpreted)[2], i));
  }
}

TEST_CASE("requantisation, casts and gathers") {
  const Program p = program(R"(kernel q
in a i8 [6, 40]
in b i8 [40, 7]
in pick i32 [6] in [0, 6)
out y i8 [6, 7]
out z f32 [6, 7]
tmp acc i32 [6, 7]

6
| 7
| | acc[{0}, {1}] = 0
| | 40
| | | acc[{0}, {1}] += a[pick[{0}], {2}] * b[{2}, {1}]
| | y[{0}, {1}] = sat_cast((acc[{0}, {1}] * 77 + 8192) >> 14)
| | z[{0}, {1}] = cast(acc[{0}, {1}]) * 0.013
)");
  for (const InputSet set : kSets) {
    const auto inputs = makeInputs(p, set, 2);
    const auto out = referenceOf(p, inputs);
    const auto interpreted = interpret(p, inputs);
    REQUIRE(interpreted);
    const Agreement found = compare(out, *interpreted);
    CHECK(found.outside == 0);
    CHECK(found.skipped == 0);
    for (const Bounded& element : out[3]) CHECK(element.bound == 0);
  }
}

TEST_CASE("data-dependent extents, folded storage, in place, padding") {
  const Program p = program(R"(kernel k
in row i32 [9] monotone in [0, 20]
in col i32 [20] in [0, 6)
in v f32 [20]
in x f32 [6 pad 2]
out y f32 [8 pad 3]
inout acc f32 [8]
tmp t f32 [8~2]

8
| t[{0}] = 0
| row[{0}]..row[{0} + 1]
| | t[{0}] += v[{1}] * x[col[{1}]]
| y[{0}] = t[{0}] * 2
| acc[{0}] += y[{0}]
)");
  for (const InputSet set : kSets) {
    const auto inputs = makeInputs(p, set, 2);
    const auto out = referenceOf(p, inputs);
    const auto interpreted = interpret(p, inputs);
    REQUIRE(interpreted);
    const Agreement found = compare(out, *interpreted);
    CHECK(found.outside == 0);
    CHECK(found.skipped == 3);  // The padding.
    CHECK(found.compared == 16);
  }
}

TEST_CASE("an index outside of its dim is an error, not a crash") {
  for (const std::string leaf :
       {"y[{0}] = x[{0} + 1]", "y[{0}*2] = x[{0}]", "y[{0}] = x[{0} - 1]"}) {
    const Program p = program("kernel k\nin x f32 [4]\nout y f32 [4]\n\n4\n| " + leaf + "\n");
    const auto result = reference(p, makeInputs(p, InputSet::uniform, 1));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "interpret.bounds");
    CHECK(result.error().where == "line 6");
  }
}

TEST_CASE("random elementwise programs stay within the bounds") {
  std::mt19937_64 random(5);
  const std::vector<std::string> unary = {"neg",   "abs",   "exp",  "tanh",  "erf", "sigmoid",
                                          "round", "floor", "sqrt", "rsqrt", "log"};
  const std::vector<std::string> binary = {" + ", " - ", " * ", " / "};
  int compared = 0;
  int skipped = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string text =
        "kernel k\nin a f32 [33]\nin b f32 [33]\nout y f32 [33]\ntmp t f32 [6, 33]\n\n33\n";
    for (int i = 0; i < 6; ++i) {
      const auto operand = [&]() -> std::string {
        const auto pick = random() % static_cast<std::uint64_t>(i + 3);
        if (pick == 0) return "a[{0}]";
        if (pick == 1) return "b[{0}]";
        if (pick == 2) return "0.3";
        return "t[" + std::to_string(pick - 3) + ", {0}]";
      };
      const std::string dst = "| t[" + std::to_string(i) + ", {0}] = ";
      switch (random() % 4) {
        case 0:
          text += dst + unary[random() % unary.size()] + "(" + operand() + ")\n";
          break;
        case 1:
          text += dst + "max(" + operand() + ", " + operand() + ")\n";
          break;
        case 2:
          text += dst + "fma(a[{0}], " + operand() + ", " + operand() + ")\n";
          break;
        default:
          text += dst + operand() + binary[random() % 4] + operand() + "\n";
          break;
      }
    }
    text += "| y[{0}] = t[5, {0}] + b[{0}]\n";
    for (const DType type : {DType::f32, DType::f64, DType::f16}) {
      const Program p = program(text, type);
      for (const InputSet set : {InputSet::uniform, InputSet::wide, InputSet::awkward}) {
        const Agreement found = agreement(p, p, set, static_cast<std::uint64_t>(trial));
        INFO(text << name(type) << " " << name(set) << " worst " << found.worst);
        REQUIRE(found.outside == 0);
        compared += found.compared;
        skipped += found.skipped;
      }
    }
  }
  CHECK(compared > skipped);
}

TEST_CASE("a matrix product of 512 takes a second or two") {
  const Program p = program(R"(kernel matmul
param M = 512, N = 512, K = 512
in a f32 [M, K]
in b f32 [K, N]
out c f32 [M, N]

M
| N
| | c[{0}, {1}] = 0
| | K
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)");
  const auto inputs = makeInputs(p, InputSet::uniform, 1);
  const std::clock_t start = std::clock();
  const auto out = referenceOf(p, inputs);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 3 * kSlowdown);
  double sum = 0;
  for (int k = 0; k < 512; ++k) {
    sum += loadAsDouble(inputs[0], 17 * 512 + k) * loadAsDouble(inputs[1], k * 512 + 99);
  }
  CHECK(out[2][17 * 512 + 99].value == Approx(sum).epsilon(1e-12));
}

TEST_CASE("an infinity times a number of many digits is an infinity") {
  const Program p = program(
      "kernel k\nin x f64 [4]\nin s f64 []\nout y f64 [4]\ntmp t f64 []\n\n4\n| t[] = x[{0}] + 1\n"
      "| y[{0}] = s[] * t[]\n");
  const double tiny = std::ldexp(1, -60);
  const auto expected =
      referenceOf(p, {tensor(DType::f64, {tiny, -tiny, 0, -3}), tensor(DType::f64, {-kInf}),
                      tensor(DType::f64, {0, 0, 0, 0})});
  for (int i = 0; i < 3; ++i) {
    CHECK(expected[2][static_cast<std::size_t>(i)].value == -kInf);
    CHECK(expected[2][static_cast<std::size_t>(i)].bound == 0);
  }
  CHECK(expected[2][3].value == kInf);
}
