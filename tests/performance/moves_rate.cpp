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
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "moves/move.h"
#include "performance/random_play.h"
#include "support/some_target.h"

namespace dojo {

namespace {

/// Microseconds, the median of some runs.
template <class Fn>
double median(const Fn& fn) {
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) {
    const double start = threadSeconds();
    fn();
    times.push_back((threadSeconds() - start) * 1e6);
  }
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15];
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
    const Play played = playAtRandom(program, target, budget);
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
