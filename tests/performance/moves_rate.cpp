// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How fast moves are found and made: for every kernel of the suite in its plain form the time to
/// list all applicable moves and to apply one, and the rate of random play (pick a place, check
/// only that), on one core.
///
///     moves_rate [KERNEL] [SECONDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "support/some_target.h"

namespace dojo {

namespace {

/// Processor time of this thread in seconds: what others do on the machine doesn't count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Microseconds, the median of some runs.
template <class Fn>
double median(const Fn& fn) {
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) {
    const double start = now();
    fn();
    times.push_back((now() - start) * 1e6);
  }
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15];
}

struct Play {
  double movesPerSecond = 0;
  double accepted = 0;  ///< Share of the tries.
  std::size_t largest = 0;
};

/// Random play: games of up to 40 moves, each tried at a random place.
Play play(const ir::Program& start, const target::Target& target, double budget) {
  std::mt19937_64 random(1);
  std::int64_t tries = 0;
  std::int64_t made = 0;
  Play out;
  const double begin = now();
  while (now() - begin < budget) {
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
  out.movesPerSecond = static_cast<double>(made) / (now() - begin);
  out.accepted = static_cast<double>(made) / static_cast<double>(std::max<std::int64_t>(tries, 1));
  return out;
}

int run(const std::string& only, double budget) {
  const target::Target target = test::someTarget();
  std::printf("%-12s %6s %12s %12s %12s %9s %8s\n", "kernel", "moves", "list us", "apply us",
              "play moves/s", "accepted", "largest");
  for (const kernels::Kernel& kernel : kernels::list()) {
    if (!only.empty() && only != kernel.name) continue;
    const ir::Program program = kernels::load(kernel.name)->program;
    const std::vector<moves::Move> all = moves::applicable(program, target);
    const double list = median([&] { (void)moves::applicable(program, target); });
    std::mt19937_64 random(1);
    const double apply =
        median([&] { (void)moves::apply(program, target, all[random() % all.size()]); });
    const Play played = play(program, target, budget);
    std::printf("%-12s %6zu %12.0f %12.1f %12.0f %8.0f%% %8zu\n", kernel.name.c_str(), all.size(),
                list, apply, played.movesPerSecond, played.accepted * 100, played.largest);
  }
  return 0;
}

}  // namespace

}  // namespace dojo

int main(int argc, char** argv) {
  return dojo::run(argc > 1 ? argv[1] : "", argc > 2 ? std::atof(argv[2]) : 1.0);
}
