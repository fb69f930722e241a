// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expert's schedule of every kernel against its plain form, in one run on one hart. Arguments:
// names of kernels; none: all. With --text the programs are printed too.
#include "search/expert.h"

#include "base/clock.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "performance/must.h"
#include "tune/bench.h"
#include "tune/peak.h"
#include "tune/work.h"

using namespace dojo;

namespace {

void compare(transport::Device& device, const target::Target& target, double peak,
             const std::string& name, bool text) {
  const ir::Program plain = must(kernels::load(name)).program;
  Stopwatch watch;
  const search::Position best =
      search::expert({std::make_shared<const moves::State>(plain, target), {}});
  const double planning = watch.seconds();
  if (text) fmt::print("{}\n", ir::print(best.state()->program()));
  for (const auto& step : best.steps()) {
    if (text) fmt::print("# {}\n", moves::toString(step.call));
  }
  tune::BenchOptions options;
  options.raceFactor = std::numeric_limits<double>::infinity();
  auto bench = must(tune::Bench::open(plain, target, device, options));
  bench->submit(search::candidate(plain, {}));
  bench->submit(best.toCandidate());
  const Outcome slow = *bench->next(), fast = *bench->next();
  if (!slow.ok() || !fast.ok()) {
    fmt::print("{:<12} {}\n", name,
               !slow.ok() ? slow.failure().detail : fast.failure().code + fast.failure().detail);
    return;
  }
  const double hz = device.hello().timerHz;
  const double seconds = fast.measurement().cycles / hz;
  const tune::Work work = tune::countWork(plain);
  fmt::print(
      "{:<12} {:9.1f} us, plain {:10.1f} us: {:6.1f} times; {:6.1f} GFLOP/s ({:2.0f}% of peak), "
      "{:5.1f} GB/s; planned in {:.0f} ms, compiled in {:.0f} ms\n",
      name, seconds * 1e6, slow.measurement().cycles / hz * 1e6,
      slow.measurement().cycles / fast.measurement().cycles, work.flops.value_or(0) / seconds / 1e9,
      work.flops.value_or(0) / fast.measurement().cycles / (2 * peak) * 100,
      work.bytes / seconds / 1e9, planning * 1e3, fast.time.compile * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  target::Target target = must(target::load("host"));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  auto device = must(tune::reach(target, ""));
  const double peak = must(tune::measurePeak(*device, target, ir::DType::f32));
  bool text = false;
  std::vector<std::string> names;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--text") == 0) {
      text = true;
    } else {
      names.emplace_back(argv[k]);
    }
  }
  if (names.empty()) {
    for (const kernels::Kernel& kernel : kernels::list()) names.push_back(kernel.name);
  }
  for (const std::string& name : names) compare(*device, target, peak, name, text);
}
