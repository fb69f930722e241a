// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/sum_tree.h"

#include <bit>

#include "base/check.h"

namespace dojo::agent {

SumTree::SumTree(std::size_t places)
    : places_(places), leaves_(std::bit_ceil(places)), nodes_(2 * leaves_) {
  DOJO_CHECK(places > 0, "a tree of no places");
}

void SumTree::set(std::size_t place, double weight) {
  DOJO_CHECK(place < places_ && weight >= 0, "a weight below 0, or of no place");
  std::size_t node = leaves_ + place;
  nodes_[node] = weight;
  // Sums are made anew from their parts: no error gathers.
  for (node /= 2; node > 0; node /= 2) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
}

std::size_t SumTree::find(double mass) const {
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    // Rounding mustn't lead to where there is nothing.
    if (mass >= nodes_[node] && nodes_[node + 1] > 0) {
      mass -= nodes_[node];
      ++node;
    }
  }
  return node - leaves_;
}

}  // namespace dojo::agent
