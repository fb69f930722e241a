// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The operations that the networks are made of, each with its gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/nn/tape.h"

namespace dojo::agent {

/// Rows of a matrix that belong together: group g is rows starts[g] .. starts[g + 1].
struct Groups {
  std::vector<std::size_t> starts = {0};

  [[nodiscard]] std::size_t count() const { return starts.size() - 1; }
  [[nodiscard]] std::size_t rows() const { return starts.back(); }
  [[nodiscard]] std::size_t size(std::size_t group) const {
    return starts[group + 1] - starts[group];
  }
  void add(std::size_t rows) { starts.push_back(starts.back() + rows); }
};

/// x W + b, b in every row.
[[nodiscard]] Var linear(Tape& tape, const Var& x, const Var& weight, const Var& bias);
[[nodiscard]] Var gelu(Tape& tape, const Var& x);
/// Each row to mean 0 and variance 1, then times `gain` plus `bias`.
[[nodiscard]] Var layerNorm(Tape& tape, const Var& x, const Var& gain, const Var& bias);
[[nodiscard]] Var add(Tape& tape, const Var& a, const Var& b);
[[nodiscard]] Var scaled(Tape& tape, const Var& x, float factor);
/// The rows of `table` that `rows` name, in that order; rows may repeat. An embedding.
[[nodiscard]] Var pick(Tape& tape, const Var& table, const std::vector<std::size_t>& rows);
/// Side by side.
[[nodiscard]] Var joined(Tape& tape, const std::vector<Var>& parts);
/// One below the other.
[[nodiscard]] Var stacked(Tape& tape, const std::vector<Var>& parts);
/// The mean row of each group; groups aren't empty.
[[nodiscard]] Var meanOf(Tape& tape, const Var& x, const Groups& groups);
/// Each row to length 1.
[[nodiscard]] Var unitRows(Tape& tape, const Var& x);
/// a b^T * factor
[[nodiscard]] Var products(Tape& tape, const Var& a, const Var& b, float factor);
/// a + b * c element by element; c is no variable.
[[nodiscard]] Var addScaledBy(Tape& tape, const Var& a, const Var& b, const Matrix& c);

/// How rows of a group stand to one another, for attention: of each group a square of classes, row
/// by row, one group after the other.
using Relations = std::vector<std::uint8_t>;

/// Multi-head attention within groups. `qkv` has queries, keys and values side by side; a head is
/// an equal part of each. Where `relationBias` (classes x heads) is given, the score of row j for
/// row i has that of the class of (i, j) added.
[[nodiscard]] Var attention(Tape& tape, const Var& qkv, const Groups& groups, std::size_t heads);
[[nodiscard]] Var attention(Tape& tape, const Var& qkv, const Groups& groups, std::size_t heads,
                            const Relations& relations, const Var& relationBias);

/// \name Losses: 1 x 1.
/// @{
/// The mean of -log softmax(row)[target] over all rows.
[[nodiscard]] Var crossEntropy(Tape& tape, const Var& logits,
                               const std::vector<std::size_t>& targets);
/// The mean over all elements of weight * h(x - target); h is half the square, and beyond `delta`
/// a line.
[[nodiscard]] Var huber(Tape& tape, const Var& x, const Matrix& target, const Matrix& weights,
                        float delta);
/// The sum of them all, each times its factor.
[[nodiscard]] Var weighted(Tape& tape, const std::vector<std::pair<Var, float>>& losses);
/// @}

}  // namespace dojo::agent
