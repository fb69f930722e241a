// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/cost_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace dojo::agent {
namespace {

constexpr std::size_t kLeast = 8;  ///< Outcomes before anything is guessed.
/// Of the variance of what is measured, that which no embedding explains.
constexpr double kNoise = 0.02;
/// The length over which rewards are alike, of the typical distance.
constexpr double kLength = 0.7;
constexpr std::size_t kPairs = 64;

}  // namespace

std::vector<float> CostModel::normal(const float* embedding) const {
  double mean = 0, square = 0;
  for (std::size_t k = 0; k < width_; ++k) mean += static_cast<double>(embedding[k]);
  mean /= static_cast<double>(width_);
  for (std::size_t k = 0; k < width_; ++k) {
    const double off = static_cast<double>(embedding[k]) - mean;
    square += off * off;
  }
  const double length = std::sqrt(square) + 1e-12;
  std::vector<float> out;
  for (std::size_t k = 0; k < width_; ++k) {
    out.push_back(static_cast<float>((static_cast<double>(embedding[k]) - mean) / length));
  }
  return out;
}

double CostModel::alike(const float* a, const float* b) const {
  float sum = 0;
  for (std::size_t k = 0; k < width_; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::exp(-static_cast<double>(sum) / scale_);
}

/// The row's part of the factor.
void CostModel::extend(std::size_t row) {
  std::vector<double> made(row + 1);
  for (std::size_t j = 0; j <= row; ++j) {
    double value = alike(&rows_[row * width_], &rows_[j * width_]) + (j == row ? kNoise : 0);
    const std::vector<double>& other = j == row ? made : factor_[j];
    for (std::size_t k = 0; k < j; ++k) value -= made[k] * other[k];
    made[j] = j == row ? std::sqrt(std::max(value, kNoise / 4)) : value / other[j];
  }
  factor_.push_back(std::move(made));
}

void CostModel::refit() {
  // The typical distance, by pairs taken evenly.
  const std::size_t n = rewards_.size();
  std::vector<double> distances;
  const std::size_t step = std::max<std::size_t>(1, n * n / kPairs);
  for (std::size_t pair = 1; pair < n * n; pair += step) {
    const std::size_t a = pair / n, b = pair % n;
    if (a == b) continue;
    double sum = 0;
    for (std::size_t k = 0; k < width_; ++k) {
      const double off = static_cast<double>(rows_[a * width_ + k] - rows_[b * width_ + k]);
      sum += off * off;
    }
    distances.push_back(sum);
  }
  std::sort(distances.begin(), distances.end());
  const double typical = distances.empty() ? 1 : distances[distances.size() / 2];
  scale_ = std::max(2 * kLength * kLength * typical, 1e-9);
  factor_.clear();
  for (std::size_t row = 0; row < n; ++row) extend(row);
}

void CostModel::solve() {
  const std::size_t n = rewards_.size();
  mean_ = 0;
  for (const double reward : rewards_) mean_ += reward / static_cast<double>(n);
  variance_ = 1e-9;
  for (const double reward : rewards_) {
    variance_ += (reward - mean_) * (reward - mean_) / static_cast<double>(n);
  }
  weights_.assign(n, 0);
  for (std::size_t row = 0; row < n; ++row) {
    double value = rewards_[row] - mean_;
    for (std::size_t k = 0; k < row; ++k) value -= factor_[row][k] * weights_[k];
    weights_[row] = value / factor_[row][row];
  }
  for (std::size_t row = n; row-- > 0;) {
    double value = weights_[row];
    for (std::size_t k = row + 1; k < n; ++k) value -= factor_[k][row] * weights_[k];
    weights_[row] = value / factor_[row][row];
  }
}

void CostModel::add(const float* embedding, double reward) {
  if (rewards_.size() >= most_) return;
  const std::vector<float> row = normal(embedding);
  rows_.insert(rows_.end(), row.begin(), row.end());
  rewards_.push_back(reward);
  const std::size_t n = rewards_.size();
  if (n < kLeast) return;
  // The length is found again whenever there is twice as much.
  if (std::has_single_bit(n)) {
    refit();
  } else {
    extend(n - 1);
  }
  solve();
}

CostModel::Guess CostModel::guess(const float* embedding) const {
  const std::size_t n = rewards_.size();
  if (n < kLeast) return {};
  const std::vector<float> row = normal(embedding);
  std::vector<double> near(n);
  double mean = mean_;
  for (std::size_t k = 0; k < n; ++k) {
    near[k] = alike(row.data(), &rows_[k * width_]);
    mean += near[k] * weights_[k];
  }
  double left = 1 + kNoise;
  for (std::size_t j = 0; j < n; ++j) {
    double value = near[j];
    for (std::size_t k = 0; k < j; ++k) value -= factor_[j][k] * near[k];
    near[j] = value / factor_[j][j];
    left -= near[j] * near[j];
  }
  return {mean, std::sqrt(std::max(left, 1e-6) * variance_)};
}

}  // namespace dojo::agent
