// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "agent/nn/gemm.h"
#include "agent/nn/kernels.h"
#include "agent/nn/ops.h"
#include "base/check.h"

namespace dojo::agent {
namespace {

/// Where a head of a group finds its parts in the rows of qkv and of the result.
struct Head {
  std::size_t rows, width, all;  ///< Rows of the group; columns of the head, and of all heads.
  std::size_t first, column;

  [[nodiscard]] const float* query(const Matrix& qkv) const { return qkv.row(first) + column; }
  [[nodiscard]] const float* key(const Matrix& qkv) const { return query(qkv) + all; }
  [[nodiscard]] const float* worth(const Matrix& qkv) const { return query(qkv) + 2 * all; }
  [[nodiscard]] float scale() const { return 1.0F / std::sqrt(static_cast<float>(width)); }
};

/// Calls `fn(head, index, square)` for each head of each group; `square`: where its rows x rows
/// numbers begin among those of all.
template <class Fn>
void forEachHead(const Groups& groups, std::size_t heads, std::size_t all, const Fn& fn) {
  std::size_t square = 0;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    const std::size_t rows = groups.size(g);
    for (std::size_t h = 0; h < heads; ++h) {
      fn(Head{rows, all / heads, all, groups.starts[g], h * (all / heads)}, h, square);
    }
    square += rows * rows;
  }
}

std::size_t squares(const Groups& groups) {
  std::size_t sum = 0;
  for (std::size_t g = 0; g < groups.count(); ++g) sum += groups.size(g) * groups.size(g);
  return sum;
}

Var attend(Tape& tape, const Var& qkv, const Groups& groups, std::size_t heads,
           const Relations* relations, const Var* bias) {
  DOJO_CHECK(qkv.cols() % (3 * heads) == 0 && groups.rows() == qkv.rows(), "shapes of attention");
  const std::size_t all = qkv.cols() / 3;
  const std::size_t square = squares(groups);
  DOJO_CHECK(relations == nullptr || relations->size() == square, "relations of other groups");
  Matrix y = Matrix::unset(qkv.rows(), all);
  // Chances of every head, kept for the way back; else of one at a time.
  std::vector<float> chances(tape.recording() ? square * heads : 0);
  std::vector<float> one;
  forEachHead(groups, heads, all, [&](const Head& head, std::size_t h, std::size_t at) {
    const std::size_t n = head.rows;
    float* p = nullptr;
    if (tape.recording()) {
      p = chances.data() + h * square + at;
    } else {
      one.resize(std::max(one.size(), n * n));
      p = one.data();
    }
    const Matrix& in = qkv.value();
    gemm(Transpose::no, Transpose::yes, n, n, head.width, head.scale(), head.query(in), 3 * all,
         head.key(in), 3 * all, 0, p, n);
    if (bias != nullptr) {
      const std::uint8_t* classes = relations->data() + at;
      for (std::size_t k = 0; k < n * n; ++k) p[k] += bias->value()(classes[k], h);
    }
    for (std::size_t i = 0; i < n; ++i) softmaxInPlace(p + i * n, n);
    gemm(Transpose::no, Transpose::no, n, head.width, n, 1, p, n, head.worth(in), 3 * all, 0,
         y.row(head.first) + head.column, all);
  });
  if (!tape.recording()) return tape.constant(std::move(y));

  std::vector<Var> inputs = {qkv};
  if (bias != nullptr) inputs.push_back(*bias);
  auto backward = [=, chances = std::move(chances),
                   classes = relations ? *relations : Relations()](const Var& made) {
    std::vector<float> slope;
    forEachHead(groups, heads, all, [&](const Head& head, std::size_t h, std::size_t at) {
      const std::size_t n = head.rows;
      const float* p = chances.data() + h * square + at;
      const float* dy = made.grad().row(head.first) + head.column;
      const Matrix& in = inputs[0].value();
      float* dq = inputs[0].grad().row(head.first) + head.column;
      float* dk = dq + all;
      float* dv = dq + 2 * all;
      gemm(Transpose::yes, Transpose::no, n, head.width, n, 1, p, n, dy, all, 1, dv, 3 * all);
      slope.resize(std::max(slope.size(), n * n));
      gemm(Transpose::no, Transpose::yes, n, n, head.width, 1, dy, all, head.worth(in), 3 * all, 0,
           slope.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        float* row = slope.data() + i * n;
        const float along = dot(row, p + i * n, n);
        for (std::size_t j = 0; j < n; ++j) row[j] = p[i * n + j] * (row[j] - along);
      }
      if (inputs.size() > 1 && inputs[1].trained()) {
        for (std::size_t k = 0; k < n * n; ++k) inputs[1].grad()(classes[at + k], h) += slope[k];
      }
      gemm(Transpose::no, Transpose::no, n, head.width, n, head.scale(), slope.data(), n,
           head.key(in), 3 * all, 1, dq, 3 * all);
      gemm(Transpose::yes, Transpose::no, n, head.width, n, head.scale(), slope.data(), n,
           head.query(in), 3 * all, 1, dk, 3 * all);
    });
  };
  return tape.result(std::move(y), inputs, std::move(backward));
}

}  // namespace

Var attention(Tape& tape, const Var& qkv, const Groups& groups, std::size_t heads) {
  return attend(tape, qkv, groups, heads, nullptr, nullptr);
}

Var attention(Tape& tape, const Var& qkv, const Groups& groups, std::size_t heads,
              const Relations& relations, const Var& relationBias) {
  return attend(tape, qkv, groups, heads, &relations, &relationBias);
}

}  // namespace dojo::agent
