// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random play: pick a place, pick a move there, ask that one alone.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <random>

#include "moves/move.h"
#include "moves/rule.h"

namespace dojo {

/// Processor time of this thread in seconds: what others do on the machine doesn't count.
inline double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Play {
  double movesPerSecond = 0;
  double accepted = 0;      ///< Share of the tries.
  std::size_t largest = 0;  ///< Nodes of the largest program.
};

/// Games of up to 40 moves from `start`, for `budget` seconds.
inline Play playAtRandom(const ir::Program& start, const target::Target& target, double budget) {
  std::mt19937_64 random(1);
  std::int64_t tries = 0;
  std::int64_t made = 0;
  Play out;
  const double begin = threadSeconds();
  while (threadSeconds() - begin < budget) {
    auto state = std::make_unique<moves::State>(start, target);
    for (int step = 0; step < 40; ++step) {
      const auto& nodes = state->nodes();
      out.largest = std::max(out.largest, nodes.size());
      const auto offered = moves::candidatesAt(*state, nodes[random() % nodes.size()].path);
      if (offered.empty()) continue;
      ++tries;
      auto next = moves::apply(*state, offered[random() % offered.size()]);
      if (!next) continue;
      ++made;
      state = std::make_unique<moves::State>(std::move(*next), target);
    }
  }
  out.movesPerSecond = static_cast<double>(made) / (threadSeconds() - begin);
  out.accepted = static_cast<double>(made) / static_cast<double>(std::max<std::int64_t>(tries, 1));
  return out;
}

}  // namespace dojo
