// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verified and timed candidates a second: short searches on kernels of about ten microseconds, and
// where the time of a trial goes. Compilation overlaps with the device, so that the whole may take
// less than the sum of its parts.
#include <fmt/format.h>

#include "base/clock.h"
#include "kernels/kernels.h"
#include "performance/must.h"
#include "search/search.h"
#include "target/target.h"
#include "tune/bench.h"

using namespace dojo;

namespace {

void searchOn(transport::Device& device, const target::Target& target, const std::string& name,
              const std::map<std::string, std::int64_t>& shape) {
  ir::ParseOptions parse;
  parse.params = shape;
  const ir::Program plain = must(kernels::load(name, parse)).program;
  const search::Problem problem{plain, plain, {}, &target, 1, 300};
  auto strategy = must(search::makeStrategy("annealing", problem));
  auto bench = must(tune::Bench::open(plain, target, device, {}));
  search::Search search(problem, *strategy, *bench);
  TimeSplit split;
  int failures = 0;
  search::Search::Hooks hooks;
  hooks.onOutcome = [&](std::int64_t, const search::Candidate&, Outcome& outcome) -> Status {
    split.compile += outcome.time.compile;
    split.transfer += outcome.time.transfer;
    split.verify += outcome.time.verify;
    split.run += outcome.time.run;
    failures += outcome.ok() ? 0 : 1;
    return {};
  };
  Stopwatch watch;
  must(search.run({.trials = problem.trials}, {}, hooks));
  const double seconds = watch.seconds();
  const search::Progress progress = search.progress();
  const double trials = static_cast<double>(progress.trials);
  const auto ms = [&](double sum) { return sum / trials * 1e3; };
  const double parts = split.compile + split.transfer + split.verify + split.run;
  const auto us = [&](double cycles) { return cycles / device.hello().timerHz * 1e6; };
  fmt::print(
      "{:<10} {:5.1f} us plain, {:5.2f} us best: {:4.0f} candidates/s ({:.0f}/s if nothing "
      "overlapped), {} failures; {:.2f} ms each: compile {:.2f}, transfer {:.2f}, verify {:.2f}, "
      "run {:.2f}\n",
      name, us(progress.baseline), us(progress.best), trials / seconds, trials / parts, failures,
      ms(seconds), ms(split.compile), ms(split.transfer), ms(split.verify), ms(split.run));
}

}  // namespace

int main() {
  target::Target target = must(target::load("host"));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  auto device = must(tune::reach(target, ""));
  searchOn(*device, target, "add", {{"N", 96}, {"M", 96}});
  searchOn(*device, target, "softmax", {{"N", 8}, {"M", 128}});
  searchOn(*device, target, "matmul", {{"M", 20}, {"N", 20}, {"K", 20}});
}
