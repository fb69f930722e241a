// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include "agent/nn/adam.h"
#include "agent/nn/gemm.h"
#include "agent/nn/kernels.h"
#include "agent/nn/ops.h"
#include "gradients.h"

using namespace dojo;
using namespace dojo::agent;
using dojo::test::checkGradients;

namespace {

Matrix randomMatrix(std::size_t rows, std::size_t cols, search::Random& random) {
  Matrix out(rows, cols);
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<float>(normal(random));
  return out;
}

/// A loss with another weight for each element, so that no error hides in a sum.
Var lossOf(Tape& tape, const Var& x) {
  Matrix target(x.rows(), x.cols()), weights(x.rows(), x.cols());
  search::Random random(3);
  for (std::size_t i = 0; i < target.size(); ++i) {
    target.data()[i] = static_cast<float>(normal(random));
    weights.data()[i] = static_cast<float>(0.5 + random.real());
  }
  return scaled(tape, huber(tape, x, target, weights, 100), static_cast<float>(target.size()));
}

Groups groupsOf(const std::vector<std::size_t>& sizes) {
  Groups groups;
  for (const std::size_t size : sizes) groups.add(size);
  return groups;
}

}  // namespace

TEST_CASE("agent: products of matrices, transposed and in part, are those of plain loops") {
  search::Random random(1);
  for (const Transpose ta : {Transpose::no, Transpose::yes}) {
    for (const Transpose tb : {Transpose::no, Transpose::yes}) {
      const std::size_t m = 13, n = 9, k = 21, gap = 3;
      const std::size_t lda = (ta == Transpose::no ? k : m) + gap;
      const std::size_t ldb = (tb == Transpose::no ? n : k) + gap;
      const Matrix a = randomMatrix(ta == Transpose::no ? m : k, lda, random);
      const Matrix b = randomMatrix(tb == Transpose::no ? k : n, ldb, random);
      const Matrix start = randomMatrix(m, n + gap, random);
      Matrix c = start, plain = start;
      gemm(ta, tb, m, n, k, 0.5F, a.data(), lda, b.data(), ldb, 2, c.data(), n + gap);
      gemmPlain(ta, tb, m, n, k, 0.5F, a.data(), lda, b.data(), ldb, 2, plain.data(), n + gap);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n + gap; ++j) {
          double sum = 2.0 * start(i, j);
          for (std::size_t l = 0; l < k && j < n; ++l) {
            sum += 0.5 * (ta == Transpose::no ? a(i, l) : a(l, i)) *
                   (tb == Transpose::no ? b(l, j) : b(j, l));
          }
          if (j >= n) sum = start(i, j);
          CHECK(c(i, j) == Approx(sum).epsilon(1e-5).margin(1e-5));
          CHECK(plain(i, j) == Approx(sum).epsilon(1e-5).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("agent: the exponential is close everywhere and finite at the ends") {
  for (double x = -86; x < 88; x += 0.037) {
    const auto in = static_cast<float>(x);
    float out = 0;
    expOf(&out, &in, 1);
    CHECK(out == Approx(std::exp(in)).epsilon(4e-7));
  }
  const float ends[] = {-1000, 1000};
  float out[2];
  expOf(out, ends, 2);
  CHECK(out[0] < 1e-37F);
  CHECK(std::isfinite(out[1]));
}

TEST_CASE("agent: a softmax of scores that overflow alone") {
  float x[] = {1000, 1001, -1000};
  softmaxInPlace(x, 3);
  CHECK(x[0] == Approx(1 / (1 + std::exp(1.0))));
  CHECK(x[1] == Approx(1 - 1 / (1 + std::exp(1.0))));
  CHECK(x[2] == Approx(0).margin(1e-30));
}

TEST_CASE("agent: values of layers computed by hand") {
  Tape tape(false);
  Matrix x(1, 2);
  x(0, 0) = 1;
  x(0, 1) = 3;
  const Var in = tape.constant(x);
  SECTION("layer norm") {
    Matrix gain(1, 2, 2), bias(1, 2, 1);
    const Var y = layerNorm(tape, in, tape.constant(gain), tape.constant(bias));
    CHECK(y.value()(0, 0) == Approx(-1).epsilon(1e-4));
    CHECK(y.value()(0, 1) == Approx(3).epsilon(1e-4));
  }
  SECTION("GELU") {
    const Var y = gelu(tape, in);
    CHECK(y.value()(0, 0) == Approx(0.841192).epsilon(1e-5));
    CHECK(y.value()(0, 1) == Approx(2.996363).epsilon(1e-5));
  }
  SECTION("cross-entropy") {
    const Var loss = crossEntropy(tape, in, {0});
    CHECK(loss.value()(0, 0) == Approx(std::log(1 + std::exp(2.0))));
  }
  SECTION("Huber") {
    Matrix target(1, 2), weights(1, 2, 1);
    weights(0, 1) = 2;
    // 1: half its square. 3: a line beyond 2.
    CHECK(huber(tape, in, target, weights, 2).value()(0, 0) == Approx((0.5 + 2 * 4.0) / 2));
  }
}

TEST_CASE("agent: gradients of the layers") {
  search::Random random(11);
  Parameters ps;
  SECTION("linear") {
    Parameter& x = ps.add("x", 5, 4, 1, random);
    Parameter& w = ps.add("w", 4, 3, 1, random);
    Parameter& b = ps.add("b", 1, 3, 1, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, linear(t, t.parameter(x), t.parameter(w), t.parameter(b)));
    });
  }
  SECTION("GELU") {
    Parameter& x = ps.add("x", 4, 9, 2, random);
    checkGradients(ps, [&](Tape& t) { return lossOf(t, gelu(t, t.parameter(x))); });
  }
  SECTION("layer norm") {
    Parameter& x = ps.add("x", 4, 37, 2, random);
    Parameter& g = ps.add("g", 1, 37, 1, random);
    Parameter& b = ps.add("b", 1, 37, 1, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, layerNorm(t, t.parameter(x), t.parameter(g), t.parameter(b)));
    });
  }
  SECTION("embedding, with a row used twice and one not at all") {
    Parameter& x = ps.add("x", 5, 3, 1, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, pick(t, t.parameter(x), {3, 0, 3, 1, 4}));
    });
  }
  SECTION("sums, parts side by side and one below the other, means of groups") {
    Parameter& x = ps.add("x", 6, 3, 1, random);
    Parameter& y = ps.add("y", 6, 3, 1, random);
    checkGradients(ps, [&](Tape& t) {
      const Var a = t.parameter(x), b = t.parameter(y);
      const Var both = joined(t, {add(t, a, scaled(t, b, 0.3F)), b, a});
      return lossOf(t, meanOf(t, stacked(t, {both, both}), groupsOf({1, 4, 7})));
    });
  }
  SECTION("rows of length 1 and their products") {
    Parameter& x = ps.add("x", 4, 6, 1, random);
    Parameter& y = ps.add("y", 3, 6, 1, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, products(t, unitRows(t, t.parameter(x)), unitRows(t, t.parameter(y)), 3));
    });
  }
  SECTION("a sum with scaled noise") {
    Parameter& x = ps.add("x", 4, 6, 1, random);
    Parameter& y = ps.add("y", 4, 6, 1, random);
    const Matrix noise = randomMatrix(4, 6, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, addScaledBy(t, t.parameter(x), t.parameter(y), noise));
    });
  }
  SECTION("softmax cross-entropy") {
    Parameter& x = ps.add("x", 5, 7, 1, random);
    checkGradients(ps, [&](Tape& t) { return crossEntropy(t, t.parameter(x), {6, 0, 3, 3, 1}); });
  }
  SECTION("Huber beyond its bend") {
    Parameter& x = ps.add("x", 3, 5, 3, random);
    const Matrix target = randomMatrix(3, 5, random), weights(3, 5, 0.7F);
    checkGradients(ps, [&](Tape& t) { return huber(t, t.parameter(x), target, weights, 1); });
  }
  SECTION("attention within groups") {
    Parameter& x = ps.add("x", 9, 3 * 8, 1, random);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(t, attention(t, t.parameter(x), groupsOf({3, 1, 5}), 2));
    });
  }
  SECTION("attention that knows how rows are related") {
    Parameter& x = ps.add("x", 7, 3 * 8, 1, random);
    Parameter& bias = ps.add("bias", 3, 2, 1, random);
    Relations relations;
    for (std::size_t k = 0; k < 9 + 16; ++k) relations.push_back((k * 7 / 3) % 3);
    checkGradients(ps, [&](Tape& t) {
      return lossOf(
          t, attention(t, t.parameter(x), groupsOf({3, 4}), 2, relations, t.parameter(bias)));
    });
  }
  SECTION("a loss of several") {
    Parameter& x = ps.add("x", 2, 3, 1, random);
    checkGradients(ps, [&](Tape& t) {
      const Var a = t.parameter(x);
      return weighted(t, {{lossOf(t, a), 0.5F}, {crossEntropy(t, a, {0, 2}), 2.0F}});
    });
  }
}

TEST_CASE("agent: attention sees its own group alone") {
  search::Random random(5);
  const Matrix all = randomMatrix(8, 24, random);
  Matrix part(3, 24);
  for (std::size_t i = 0; i < 3; ++i) std::copy(all.row(i + 2), all.row(i + 2) + 24, part.row(i));
  Tape tape(false);
  const Var whole = attention(tape, tape.constant(all), groupsOf({2, 3, 3}), 2);
  const Var alone = attention(tape, tape.constant(part), groupsOf({3}), 2);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      CHECK(whole.value()(i + 2, j) == Approx(alone.value()(i, j)).margin(1e-6));
    }
  }
}

TEST_CASE("agent: a recording tape computes what another does") {
  search::Random random(6);
  const Matrix in = randomMatrix(6, 24, random);
  Tape silent(false), recording(true);
  const Var a = attention(silent, silent.constant(in), groupsOf({2, 4}), 4);
  const Var b = attention(recording, recording.constant(in), groupsOf({2, 4}), 4);
  CHECK(a.value() == b.value());
}

TEST_CASE("agent: two steps of Adam computed by hand") {
  Parameters ps;
  Parameter& x = ps.addFilled("x", 2, 1, 1);
  Adam adam(ps, {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8});
  // Constant gradient 2: each step moves by the rate.
  for (int k = 1; k <= 2; ++k) {
    x.grad.fill(2);
    REQUIRE(adam.step().ok());
    CHECK(x.value(0, 0) == Approx(1 - 0.1 * k).epsilon(1e-5));
    CHECK(x.grad(0, 0) == 0);
  }
  // Then 0: the mean is 0.9 * (0.9 * 0.2 + 0.2) and so on, corrected by 1 - 0.9^3 and 1 - 0.99^3.
  REQUIRE(adam.step().ok());
  const double mean = 0.9 * (0.9 * 0.2 + 0.2) / (1 - std::pow(0.9, 3));
  const double square = 0.99 * (0.99 * 0.04 + 0.04) / (1 - std::pow(0.99, 3));
  CHECK(x.value(0, 0) == Approx(0.8 - 0.1 * mean / std::sqrt(square)).epsilon(1e-5));
  CHECK(adam.steps() == 3);
}

TEST_CASE("agent: Adam clips, decays matrices alone, and refuses gradients that aren't finite") {
  Parameters ps;
  Parameter& w = ps.addFilled("w", 2, 2, 1);
  Parameter& b = ps.addFilled("b", 1, 2, 1);
  Adam adam(ps, {.rate = 0.1, .decay = 0.5, .clip = 1});
  REQUIRE(adam.step().ok());
  CHECK(w.value(0, 0) == Approx(0.95));
  CHECK(b.value(0, 0) == Approx(1));
  const Matrix before = w.value;
  w.grad(0, 0) = std::nanf("");
  const Status status = adam.step();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == "agent.nan");
  CHECK(w.value == before);
  CHECK(adam.steps() == 1);
}

TEST_CASE("agent: a network learns to tell what no line tells, the same way from the same seed") {
  auto train = [](std::uint64_t seed) {
    search::Random random(seed);
    Parameters ps;
    Parameter& w1 = ps.add("w1", 2, 16, 0.7, random);
    Parameter& b1 = ps.addFilled("b1", 1, 16, 0);
    Parameter& w2 = ps.add("w2", 16, 2, 0.3, random);
    Parameter& b2 = ps.addFilled("b2", 1, 2, 0);
    Adam adam(ps, {.rate = 0.03});
    Matrix x(4, 2);
    for (std::size_t i = 0; i < 4; ++i) {
      x(i, 0) = static_cast<float>(i % 2);
      x(i, 1) = static_cast<float>(i / 2);
    }
    float last = 0;
    for (int step = 0; step < 200; ++step) {
      Tape t(true);
      const Var hidden = gelu(t, linear(t, t.constant(x), t.parameter(w1), t.parameter(b1)));
      const Var loss =
          crossEntropy(t, linear(t, hidden, t.parameter(w2), t.parameter(b2)), {0, 1, 1, 0});
      last = loss.value()(0, 0);
      t.backward(loss);
      REQUIRE(adam.step().ok());
    }
    return std::make_pair(last, w1.value);
  };
  const auto first = train(1), again = train(1), other = train(2);
  CHECK(first.first < 0.05F);
  CHECK(first == again);
  CHECK_FALSE(first.second == other.second);
}
