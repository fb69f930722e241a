// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/sizes.h"

#include <algorithm>

#include "moves/arguments.h"

namespace dojo::moves {

namespace {

void sortUnique(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

std::vector<std::int64_t> factors(const target::Target& target) {
  std::vector<std::int64_t> out = {2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 128, 256};
  for (const int bytes : {8, 4, 2, 1}) {
    if (target.lanes(bytes) > 1) out.push_back(target.lanes(bytes));
  }
  sortUnique(out);
  return out;
}

std::vector<std::int64_t> cuts(const target::Target& target, std::int64_t n) {
  std::vector<std::int64_t> out;
  if (n < 2) return out;
  out = {1, n - 1};
  for (const std::int64_t f : factors(target)) {
    if (f < n && n % f != 0) out.push_back(n / f * f);
  }
  sortUnique(out);
  return out;
}

Status needsDepth(const ir::Path& place, int height) {
  if (depthOf(place) + height <= ir::kMaxDepth) return {};
  return refuse("move.depth", "scopes would nest deeper than " + std::to_string(ir::kMaxDepth),
                place);
}

}  // namespace dojo::moves
