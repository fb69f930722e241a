// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the tuner is on kernels of about ten microseconds: verified and timed candidates a
// second in short searches, where the time of a candidate goes, and moves a second in random play.
// Compilation overlaps with the device, so that the whole takes less than the sum of its parts.
//
//   throughput [--json]
#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "codegen/codegen.h"
#include "kernels/kernels.h"
#include "link/link.h"
#include "performance/must.h"
#include "performance/random_play.h"
#include "search/search.h"
#include "target/target.h"
#include "tune/bench.h"

using namespace dojo;

namespace {

using Json = nlohmann::ordered_json;

struct Subject {
  std::string kernel;
  std::map<std::string, std::int64_t> shape;
};

const std::vector<Subject> kSubjects = {{"add", {{"N", 96}, {"M", 96}}},
                                        {"softmax", {{"N", 8}, {"M", 128}}},
                                        {"matmul", {{"M", 20}, {"N", 20}, {"K", 20}}}};

/// Milliseconds to place the code of a program at an address.
double linkMs(const ir::Program& program, const target::Target& target) {
  constexpr int kTimes = 50;
  const codegen::Object object = must(codegen::compile(program, target));
  Stopwatch watch;
  for (int i = 0; i < kTimes; ++i) {
    must(link::place(object.bytes, codegen::kEntry, 0x100000, 1 << 20,
                     {{"dojo_parallel_for", 0x80000}}));
  }
  return watch.seconds() / kTimes * 1e3;
}

Json tryKernel(transport::Device& device, const target::Target& target, const Subject& subject) {
  ir::ParseOptions parse;
  parse.params = subject.shape;
  const ir::Program plain = must(kernels::load(subject.kernel, parse)).program;
  const search::Problem problem{plain, plain, {}, &target, 1, 300};
  auto strategy = must(search::makeStrategy("annealing", problem));
  auto bench = must(tune::Bench::open(plain, target, device, {}));
  search::Search search(problem, *strategy);
  TimeSplit split;
  search::Search::Hooks hooks;
  hooks.onOutcome = [&](std::int64_t, const search::Candidate&, Outcome& outcome) -> Status {
    split.compile += outcome.time.compile;
    split.transfer += outcome.time.transfer;
    split.verify += outcome.time.verify;
    split.run += outcome.time.run;
    return {};
  };
  Stopwatch watch;
  must(search.run(*bench, {.trials = problem.trials}, hooks));
  const double seconds = watch.seconds();
  const search::Progress progress = search.progress();
  const auto trials = static_cast<double>(progress.trials);
  constexpr double kPlaySeconds = 0.5;
  Json row;
  row["kernel"] = subject.kernel;
  row["plain_us"] = progress.baseline / device.hello().timerHz * 1e6;
  row["best_us"] = progress.best / device.hello().timerHz * 1e6;
  row["candidates_per_second"] = trials / seconds;
  row["moves_per_second"] = playAtRandom(plain, target, kPlaySeconds).movesPerSecond;
  row["compile_ms"] = split.compile / trials * 1e3;  // Placing the code included.
  row["link_ms"] = linkMs(plain, target);
  row["transfer_ms"] = split.transfer / trials * 1e3;
  row["verify_ms"] = split.verify / trials * 1e3;
  row["run_ms"] = split.run / trials * 1e3;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) {
    fmt::print(stderr, "usage: throughput [--json]\n");
    return 2;
  }
  target::Target target = must(target::load("host"));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  auto device = must(tune::reach(target, ""));
  std::vector<Json> rows;
  for (const Subject& subject : kSubjects) {
    rows.push_back(tryKernel(*device, target, subject));
    if (json) continue;
    const auto figure = [&](const char* key) { return rows.back()[key].get<double>(); };
    fmt::print(
        "{:<8} {:4.0f} candidates/s ({:.2f} us plain, {:.2f} best); compile {:.2f} ms, of which "
        "placing {:.3f}; transfer {:.2f}, verify {:.2f}, run {:.2f}; {:.0f} moves/s\n",
        subject.kernel, figure("candidates_per_second"), figure("plain_us"), figure("best_us"),
        figure("compile_ms"), figure("link_ms"), figure("transfer_ms"), figure("verify_ms"),
        figure("run_ms"), figure("moves_per_second"));
  }
  // The mean of the kernels.
  Json out;
  for (const char* key : {"candidates_per_second", "moves_per_second", "compile_ms", "link_ms",
                          "verify_ms", "run_ms"}) {
    double sum = 0;
    for (const Json& row : rows) sum += row[key].get<double>();
    out[key] = sum / static_cast<double>(rows.size());
  }
  out["kernels"] = rows;
  if (json) fmt::print("{}\n", out.dump(2));
}
