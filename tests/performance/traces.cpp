// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hand-made schedules of tests/traces against the plain programs and the measured peak of
// multiply-adds of one core, side by side: matmul 512^3 is to reach 70% of the peak, softmax
// 512 x 1024 ten times the plain program.
#include <fmt/format.h>

#include "base/text.h"
#include "kernels/kernels.h"
#include "moves/move.h"
#include "performance/must.h"
#include "tune/bench.h"
#include "tune/peak.h"
#include "tune/work.h"

using namespace dojo;

namespace {

double cyclesOf(tune::Bench& bench, const ir::Program& program) {
  bench.submit(search::candidate(program, {}));
  const std::optional<Outcome> outcome = bench.next();
  if (!outcome->ok()) {
    fmt::print(stderr, "{}\n", outcome->failure().detail);
    std::exit(1);
  }
  return outcome->measurement().cycles;
}

void replayed(transport::Device& device, const target::Target& target, const std::string& kernel) {
  const ir::Program plain = must(kernels::load(kernel)).program;
  const std::string file = DOJO_SOURCE_DIR "/tests/traces/" + kernel + ".trace";
  const moves::Trace trace = must(moves::parseTrace(must(readFile(file)), file));
  const ir::Program fast = must(moves::replay(plain, target, trace));
  tune::BenchOptions options;
  options.raceFactor = std::numeric_limits<double>::infinity();
  auto bench = must(tune::Bench::open(plain, target, device, options));
  const double slow = cyclesOf(*bench, plain);
  const double quick = cyclesOf(*bench, fast);
  const double us = quick / device.hello().timerHz * 1e6;
  fmt::print("{:<8} {:8.1f} us by the trace, {:.1f} times the plain program", kernel, us,
             slow / quick);
  const tune::Work work = tune::countWork(plain);
  if (kernel == "matmul" && work.terms) {
    bench.reset();
    const double peak = must(tune::measurePeak(device, target, ir::DType::f32));
    fmt::print(", {:.0f} of {:.0f} GFLOP/s: {:.1f}% of peak", *work.flops / us / 1e3,
               2 * peak * device.hello().timerHz / 1e9, *work.terms / quick / peak * 100);
  }
  fmt::print("\n");
}

}  // namespace

int main() {
  target::Target target = must(target::load("host"));
  target.harts = 1;
  auto device = must(tune::reach(target, ""));
  replayed(*device, target, "matmul");
  replayed(*device, target, "softmax");
}
