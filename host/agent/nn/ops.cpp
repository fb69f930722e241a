// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/ops.h"

#include <algorithm>
#include <cmath>

#include "agent/nn/gemm.h"
#include "agent/nn/kernels.h"
#include "base/check.h"

namespace dojo::agent {
namespace {

constexpr float kNormEpsilon = 1e-5F;

}  // namespace

Var linear(Tape& tape, const Var& x, const Var& weight, const Var& bias) {
  const std::size_t rows = x.rows(), in = x.cols(), out = weight.cols();
  DOJO_CHECK(weight.rows() == in && bias.cols() == out, "shapes of a linear layer");
  Matrix y = Matrix::unset(rows, out);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy(bias.value().data(), bias.value().data() + out, y.row(i));
  }
  gemm(Transpose::no, Transpose::no, rows, out, in, 1, x.value().data(), in, weight.value().data(),
       out, 1, y.data(), out);
  return tape.result(std::move(y), {x, weight, bias}, [=](const Var& made) {
    const float* dy = made.grad().data();
    if (x.trained()) {
      gemm(Transpose::no, Transpose::yes, rows, in, out, 1, dy, out, weight.value().data(), out, 1,
           x.grad().data(), in);
    }
    if (weight.trained()) {
      gemm(Transpose::yes, Transpose::no, in, out, rows, 1, x.value().data(), in, dy, out, 1,
           weight.grad().data(), out);
    }
    if (bias.trained()) {
      for (std::size_t i = 0; i < rows; ++i) addTo(bias.grad().data(), dy + i * out, out);
    }
  });
}

Var gelu(Tape& tape, const Var& x) {
  Matrix y = Matrix::unset(x.rows(), x.cols());
  geluOf(y.data(), x.value().data(), y.size());
  return tape.result(std::move(y), {x}, [=](const Var& made) {
    addGeluGradient(x.grad().data(), x.value().data(), made.grad().data(), made.value().size());
  });
}

Var layerNorm(Tape& tape, const Var& x, const Var& gain, const Var& bias) {
  const std::size_t rows = x.rows(), cols = x.cols();
  Matrix unit = Matrix::unset(rows, cols), y = Matrix::unset(rows, cols);
  std::vector<float> scales(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    scales[i] = normalise(unit.row(i), x.value().row(i), cols, kNormEpsilon);
    std::copy(bias.value().data(), bias.value().data() + cols, y.row(i));
    addProduct(y.row(i), unit.row(i), gain.value().data(), cols);
  }
  if (!tape.recording()) return tape.constant(std::move(y));
  auto backward = [=, unit = std::move(unit), scales = std::move(scales)](const Var& made) {
    std::vector<float> d(cols);
    for (std::size_t i = 0; i < rows; ++i) {
      const float* dy = made.grad().row(i);
      if (gain.trained()) addProduct(gain.grad().data(), dy, unit.row(i), cols);
      if (bias.trained()) addTo(bias.grad().data(), dy, cols);
      if (!x.trained()) continue;
      d.assign(cols, 0);
      addProduct(d.data(), dy, gain.value().data(), cols);
      const float mean = sumOf(d.data(), cols) / static_cast<float>(cols);
      const float along = dot(d.data(), unit.row(i), cols) / static_cast<float>(cols);
      float* dx = x.grad().row(i);
      for (std::size_t j = 0; j < cols; ++j) {
        dx[j] += scales[i] * (d[j] - mean - unit(i, j) * along);
      }
    }
  };
  return tape.result(std::move(y), {x, gain, bias}, std::move(backward));
}

Var add(Tape& tape, const Var& a, const Var& b) {
  DOJO_CHECK(a.value().sameShape(b.value()), "adding different shapes");
  Matrix y = a.value();
  addTo(y.data(), b.value().data(), y.size());
  return tape.result(std::move(y), {a, b}, [=](const Var& made) {
    for (const Var* one : {&a, &b}) {
      if (one->trained()) addTo(one->grad().data(), made.grad().data(), made.value().size());
    }
  });
}

Var scaled(Tape& tape, const Var& x, float factor) {
  Matrix y(x.rows(), x.cols());
  addScaled(y.data(), x.value().data(), factor, y.size());
  return tape.result(std::move(y), {x}, [=](const Var& made) {
    addScaled(x.grad().data(), made.grad().data(), factor, made.value().size());
  });
}

Var pick(Tape& tape, const Var& table, const std::vector<std::size_t>& rows) {
  const std::size_t cols = table.cols();
  Matrix y = Matrix::unset(rows.size(), cols);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    DOJO_CHECK(rows[i] < table.rows(), "picking a row that isn't there");
    std::copy(table.value().row(rows[i]), table.value().row(rows[i]) + cols, y.row(i));
  }
  if (!tape.recording()) return tape.constant(std::move(y));
  return tape.result(std::move(y), {table}, [=](const Var& made) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      addTo(table.grad().row(rows[i]), made.grad().row(i), cols);
    }
  });
}

Var joined(Tape& tape, const std::vector<Var>& parts) {
  std::size_t cols = 0;
  for (const Var& part : parts) cols += part.cols();
  const std::size_t rows = parts.at(0).rows();
  Matrix y = Matrix::unset(rows, cols);
  std::size_t at = 0;
  for (const Var& part : parts) {
    DOJO_CHECK(part.rows() == rows, "joining parts of different height");
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy(part.value().row(i), part.value().row(i) + part.cols(), y.row(i) + at);
    }
    at += part.cols();
  }
  return tape.result(std::move(y), parts, [=](const Var& made) {
    std::size_t begin = 0;
    for (const Var& part : parts) {
      for (std::size_t i = 0; part.trained() && i < rows; ++i) {
        addTo(part.grad().row(i), made.grad().row(i) + begin, part.cols());
      }
      begin += part.cols();
    }
  });
}

Var stacked(Tape& tape, const std::vector<Var>& parts) {
  std::size_t rows = 0;
  for (const Var& part : parts) rows += part.rows();
  const std::size_t cols = parts.at(0).cols();
  Matrix y = Matrix::unset(rows, cols);
  std::size_t at = 0;
  for (const Var& part : parts) {
    DOJO_CHECK(part.cols() == cols, "stacking parts of different width");
    std::copy(part.value().data(), part.value().data() + part.value().size(), y.row(at));
    at += part.rows();
  }
  return tape.result(std::move(y), parts, [=](const Var& made) {
    std::size_t begin = 0;
    for (const Var& part : parts) {
      if (part.trained()) addTo(part.grad().data(), made.grad().row(begin), part.value().size());
      begin += part.rows();
    }
  });
}

Var meanOf(Tape& tape, const Var& x, const Groups& groups) {
  DOJO_CHECK(groups.rows() == x.rows(), "groups of other rows");
  const std::size_t cols = x.cols();
  Matrix y(groups.count(), cols);
  for (std::size_t g = 0; g < groups.count(); ++g) {
    const float share = 1.0F / static_cast<float>(groups.size(g));
    for (std::size_t i = groups.starts[g]; i < groups.starts[g + 1]; ++i) {
      addScaled(y.row(g), x.value().row(i), share, cols);
    }
  }
  if (!tape.recording()) return tape.constant(std::move(y));
  return tape.result(std::move(y), {x}, [=](const Var& made) {
    for (std::size_t g = 0; g < groups.count(); ++g) {
      const float share = 1.0F / static_cast<float>(groups.size(g));
      for (std::size_t i = groups.starts[g]; i < groups.starts[g + 1]; ++i) {
        addScaled(x.grad().row(i), made.grad().row(g), share, cols);
      }
    }
  });
}

Var unitRows(Tape& tape, const Var& x) {
  const std::size_t rows = x.rows(), cols = x.cols();
  Matrix y(rows, cols);
  std::vector<float> scales(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const float* row = x.value().row(i);
    scales[i] = 1.0F / std::sqrt(dot(row, row, cols) + 1e-12F);
    addScaled(y.row(i), row, scales[i], cols);
  }
  return tape.result(std::move(y), {x}, [=](const Var& made) {
    for (std::size_t i = 0; i < rows; ++i) {
      const float along = dot(made.grad().row(i), made.value().row(i), cols);
      addScaled(x.grad().row(i), made.grad().row(i), scales[i], cols);
      addScaled(x.grad().row(i), made.value().row(i), -scales[i] * along, cols);
    }
  });
}

Var products(Tape& tape, const Var& a, const Var& b, float factor) {
  const std::size_t m = a.rows(), n = b.rows(), k = a.cols();
  DOJO_CHECK(b.cols() == k, "products of rows of different length");
  Matrix y(m, n);
  gemm(Transpose::no, Transpose::yes, m, n, k, factor, a.value().data(), k, b.value().data(), k, 0,
       y.data(), n);
  return tape.result(std::move(y), {a, b}, [=](const Var& made) {
    const float* dy = made.grad().data();
    if (a.trained()) {
      gemm(Transpose::no, Transpose::no, m, k, n, factor, dy, n, b.value().data(), k, 1,
           a.grad().data(), k);
    }
    if (b.trained()) {
      gemm(Transpose::yes, Transpose::no, n, k, m, factor, dy, n, a.value().data(), k, 1,
           b.grad().data(), k);
    }
  });
}

Var addScaledBy(Tape& tape, const Var& a, const Var& b, const Matrix& c) {
  DOJO_CHECK(a.value().sameShape(b.value()) && a.value().sameShape(c), "adding different shapes");
  Matrix y = a.value();
  addProduct(y.data(), b.value().data(), c.data(), y.size());
  if (!tape.recording()) return tape.constant(std::move(y));
  return tape.result(std::move(y), {a, b}, [=](const Var& made) {
    const std::size_t n = made.value().size();
    if (a.trained()) addTo(a.grad().data(), made.grad().data(), n);
    if (b.trained()) addProduct(b.grad().data(), made.grad().data(), c.data(), n);
  });
}

Var crossEntropy(Tape& tape, const Var& logits, const std::vector<std::size_t>& targets) {
  const std::size_t rows = logits.rows(), cols = logits.cols();
  DOJO_CHECK(targets.size() == rows && rows > 0, "a target for each row");
  Matrix chances = logits.value();
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    softmaxInPlace(chances.row(i), cols);
    // From the scores, not from their rounded chance, which may be 0.
    const float* row = logits.value().row(i);
    double most = row[0], total = 0;
    for (std::size_t j = 1; j < cols; ++j) most = std::max<double>(most, row[j]);
    for (std::size_t j = 0; j < cols; ++j) total += std::exp(row[j] - most);
    sum -= row[targets[i]] - most - std::log(total);
  }
  const float share = 1.0F / static_cast<float>(rows);
  auto backward = [=, chances = std::move(chances)](const Var& loss) {
    const float factor = loss.grad()(0, 0) * share;
    for (std::size_t i = 0; i < rows; ++i) {
      addScaled(logits.grad().row(i), chances.row(i), factor, cols);
      logits.grad()(i, targets[i]) -= factor;
    }
  };
  return tape.result(Matrix(1, 1, static_cast<float>(sum / static_cast<double>(rows))), {logits},
                     std::move(backward));
}

Var huber(Tape& tape, const Var& x, const Matrix& target, const Matrix& weights, float delta) {
  const std::size_t n = x.value().size();
  DOJO_CHECK(n > 0 && x.value().sameShape(target) && target.sameShape(weights), "shapes of a loss");
  Matrix slope(x.rows(), x.cols());
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float error = x.value().data()[i] - target.data()[i];
    const float size = std::abs(error), weight = weights.data()[i];
    sum += weight * (size <= delta ? 0.5F * error * error : delta * (size - 0.5F * delta));
    slope.data()[i] = weight * std::clamp(error, -delta, delta) / static_cast<float>(n);
    if (std::isnan(error)) slope.data()[i] = error;
  }
  return tape.result(Matrix(1, 1, static_cast<float>(sum / static_cast<double>(n))), {x},
                     [=, slope = std::move(slope)](const Var& loss) {
                       addScaled(x.grad().data(), slope.data(), loss.grad()(0, 0), n);
                     });
}

Var weighted(Tape& tape, const std::vector<std::pair<Var, float>>& losses) {
  float sum = 0;
  std::vector<Var> inputs;
  for (const auto& [loss, factor] : losses) {
    sum += loss.value()(0, 0) * factor;
    inputs.push_back(loss);
  }
  return tape.result(Matrix(1, 1, sum), inputs, [=](const Var& total) {
    for (const auto& [loss, factor] : losses) {
      if (loss.trained()) loss.grad()(0, 0) += total.grad()(0, 0) * factor;
    }
  });
}

}  // namespace dojo::agent
