// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/order.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace dojo::ir {

Answer meetsLater(const Accesses& accesses, const Site& first, const Site& second, int depth) {
  const auto differ =
      std::mismatch(first.path.begin(), first.path.end(), second.path.begin(), second.path.end());
  // A node's own place is no scope that both stand in.
  const auto common = static_cast<int>(
      std::min(std::distance(first.path.begin(), differ.first),
               static_cast<std::ptrdiff_t>(std::min(first.path.size(), second.path.size())) - 1));
  Answer out = Answer::no;
  const auto ask = [&](const std::vector<Relation>& relations) {
    if (out == Answer::yes) return;
    const Answer answer = meet(accesses, first, second, relations);
    if (answer != Answer::no) out = answer;
  };
  for (int k = depth; k < common; ++k) ask(equalThen(k, {Relation::less}));
  if (first.path < second.path) ask(equalThen(common, {}));
  return out;
}

}  // namespace dojo::ir
