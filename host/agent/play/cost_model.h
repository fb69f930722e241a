// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Guesses what a program is worth from what was measured of others: a Gaussian process over
/// embeddings. It learns from an outcome at once, in closed form, so that it depends on nothing but
/// the outcomes in their order.
#pragma once

#include <cstddef>
#include <vector>

namespace dojo::agent {

class CostModel {
 public:
  explicit CostModel(std::size_t width, std::size_t most = 1000) : width_(width), most_(most) {}

  /// An embedding with the reward that was measured; beyond `most` nothing more is learned.
  void add(const float* embedding, double reward);
  [[nodiscard]] std::size_t size() const { return rewards_.size(); }

  struct Guess {
    double mean = 0;
    double deviation = 0;
  };
  /// Deviation 0 until enough was measured: then nothing is known.
  [[nodiscard]] Guess guess(const float* embedding) const;

 private:
  [[nodiscard]] double alike(const float* a, const float* b) const;
  [[nodiscard]] std::vector<float> normal(const float* embedding) const;
  void refit();
  void extend(std::size_t row);
  void solve();

  std::size_t width_, most_;
  std::vector<float> rows_;  ///< Normalised embeddings.
  std::vector<double> rewards_;
  double scale_ = 0;  ///< Of squared distances; 0: not fitted yet.
  double mean_ = 0, variance_ = 1;
  std::vector<std::vector<double>> factor_;  ///< Of the covariance, lower triangle.
  std::vector<double> weights_;              ///< Covariance^-1 (rewards - mean), scaled.
};

}  // namespace dojo::agent
