// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dojo::measure {
namespace {

double sortedQuantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return std::lerp(sorted[low], sorted[high], at - static_cast<double>(low));
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return sortedQuantile(values, q);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Summary summarize(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  Summary out;
  out.median = sortedQuantile(sorted, 0.5);
  out.lower = sortedQuantile(sorted, 0.25);
  out.upper = sortedQuantile(sorted, 0.75);
  out.spread = out.median > 0 ? (out.upper - out.lower) / 2 / out.median : 0;
  return out;
}

bool tie(const Summary& a, const Summary& b) {
  const double room = (a.upper - a.lower) / 2 + (b.upper - b.lower) / 2;
  return std::abs(a.median - b.median) <= room;
}

bool Stability::stable() const {
  if (values_.size() < static_cast<std::size_t>(least_)) return false;
  const auto before = static_cast<std::ptrdiff_t>(values_.size() - values_.size() / 3);
  const double earlier = quantile({values_.begin(), values_.begin() + before}, 0.25);
  const double now = quantile(values_, 0.25);
  return std::abs(now - earlier) <= tolerance_ * now;
}

}  // namespace dojo::measure
