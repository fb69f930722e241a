// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Weights of numbered places, whose sum up to any of them is known in logarithmic time.
#pragma once

#include <cstddef>
#include <vector>

namespace dojo::agent {

class SumTree {
 public:
  /// All weights are 0.
  explicit SumTree(std::size_t places);

  [[nodiscard]] std::size_t places() const { return places_; }
  void set(std::size_t place, double weight);  ///< Not below 0.
  [[nodiscard]] double weight(std::size_t place) const { return nodes_[leaves_ + place]; }
  [[nodiscard]] double total() const { return nodes_[1]; }
  /// The place where the sum of all weights up to it exceeds `mass` for the first time; 0 <= mass <
  /// total().
  [[nodiscard]] std::size_t find(double mass) const;

 private:
  std::size_t places_, leaves_;
  std::vector<double> nodes_;  ///< Node n has the sum of 2n and 2n + 1; leaves follow the rest.
};

}  // namespace dojo::agent
