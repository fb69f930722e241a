// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Figures of samples.
#pragma once

#include <vector>

namespace dojo::measure {

/// The q-quantile (0..1), linear between neighbours; NaN of nothing.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);

/// Median and spread of samples.
struct Summary {
  double median = 0;
  double lower = 0;   ///< The quarter quantile.
  double upper = 0;   ///< The three-quarter quantile.
  double spread = 0;  ///< Half the interquartile range over the median.
};
[[nodiscard]] Summary summarize(const std::vector<double>& values);

/// True where the difference of two medians is inside their spreads: |a - b| is at most the half
/// interquartile ranges of both together.
[[nodiscard]] bool tie(const Summary& a, const Summary& b);

/// Watches the lower quantile of a growing list of samples.
class Stability {
 public:
  /// Stable: at least `least` samples, and the quarter quantile of all differs by at most
  /// `tolerance` (relative) from that of the first two thirds.
  explicit Stability(double tolerance = 0.002, int least = 12)
      : tolerance_(tolerance), least_(least) {}
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] bool stable() const;

 private:
  double tolerance_;
  int least_;
  std::vector<double> values_;
};

}  // namespace dojo::measure
