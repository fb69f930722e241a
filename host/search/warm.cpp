// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/warm.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace dojo::search {
namespace {

/// Of the divisors that are nearest, so many are tried.
constexpr std::size_t kNearest = 6;

/// The sizes that the arguments of a move are about: the extent of a scope, the dims of a buffer.
std::vector<std::int64_t> sizesOf(const moves::State& state, const moves::Move& move) {
  std::vector<std::int64_t> out;
  const ir::Program& program = state.program();
  for (const moves::Arg& arg : move.args) {
    if (const auto* path = std::get_if<ir::Path>(&arg)) {
      for (const ir::Visit& visit : state.nodes()) {
        if (visit.path != *path || visit.node->isLeaf()) continue;
        const ir::Extent& extent = visit.node->scope().extent;
        if (extent.isConstant()) out.push_back(extent.count);
      }
    } else if (const auto* name = std::get_if<std::string>(&arg)) {
      for (const ir::Buffer& buffer : program.buffers) {
        if (buffer.name != *name) continue;
        for (const ir::Dim& dim : buffer.dims) out.push_back(dim.extent);
      }
    }
  }
  return out;
}

/// Divisors of the sizes, the nearest to `value` first.
std::vector<std::int64_t> nearest(const std::vector<std::int64_t>& sizes, std::int64_t value) {
  std::set<std::int64_t> divisors;
  for (const std::int64_t size : sizes) {
    for (std::int64_t d = 1; d * d <= size; ++d) {
      if (size % d != 0) continue;
      divisors.insert(d);
      divisors.insert(size / d);
    }
  }
  divisors.erase(value);
  std::vector<std::int64_t> out(divisors.begin(), divisors.end());
  auto distance = [value](std::int64_t d) {
    return std::abs(std::log(static_cast<double>(d) / static_cast<double>(value)));
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
  if (out.size() > kNearest) out.resize(kNearest);
  return out;
}

/// Adds the move with one of its numbers replaced.
bool addFitted(Position& position, const moves::Move& move) {
  const std::vector<std::int64_t> sizes = sizesOf(*position.state(), move);
  for (std::size_t k = 0; k < move.args.size(); ++k) {
    const auto* number = std::get_if<std::int64_t>(&move.args[k]);
    if (number == nullptr || *number < 2) continue;
    for (const std::int64_t other : nearest(sizes, *number)) {
      if (other < 2) continue;
      moves::Move changed = move;
      changed.args[k] = other;
      if (position.add(changed)) return true;
    }
  }
  return false;
}

}  // namespace

Position fitted(const Position& start, const moves::Trace& trace) {
  Position out = start;
  for (const moves::Move& move : trace) {
    if (!out.add(move)) (void)addFitted(out, move);
  }
  return out;
}

}  // namespace dojo::search
