// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What people wrote for the Snitch class (tests/snitch) on the model of one core, verified, with
// cycles; then, with the argument --suite, every kernel of the suite at odd sizes, in its plain
// form and in the expert's. Further arguments: names of files or kernels.
#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "ir/parse.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "performance/must.h"
#include "search/expert.h"
#include "tune/bench.h"

using namespace dojo;

namespace {

std::string outcomeOf(const Outcome& outcome) {
  if (!outcome.ok()) return outcome.failure().code + " " + outcome.failure().detail;
  return fmt::format("{:.0f} cycles", outcome.measurement().cycles);
}

void report(transport::Device& device, const target::Target& target, const std::string& label,
            const ir::Program& start, const std::vector<search::Candidate>& candidates) {
  tune::BenchOptions options;
  options.raceFactor = std::numeric_limits<double>::infinity();
  auto bench = tune::Bench::open(start, target, device, options);
  fmt::print("{:<28}", label);
  if (!bench) {
    fmt::print(" {}\n", bench.error().text());
    return;
  }
  for (const search::Candidate& candidate : candidates) {
    (*bench)->submit(candidate);
    fmt::print(" {:>16}", outcomeOf(*(*bench)->next()));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  const bool suite = std::erase(names, "--suite") > 0;
  const auto wanted = [&](const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  const target::Target target = must(target::load("snitch1"));
  auto device = must(tune::reach(target, ""));
  if (!suite) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(DOJO_SOURCE_DIR "/tests/snitch")) {
      if (wanted(entry.path().stem().string())) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      const ir::Program program = must(ir::parse(must(readFile(file.string())))).program;
      report(*device, target, file.stem().string(), program, {search::candidate(program, {})});
    }
    return 0;
  }
  constexpr std::int64_t kSizes[] = {17, 5, 9, 3, 11, 1, 20};
  std::size_t turn = 0;
  for (const kernels::Kernel& kernel : kernels::list()) {
    ir::ParseOptions options;
    for (const auto& [name, value] : kernel.shape) {
      const std::int64_t size = kSizes[turn++ % std::size(kSizes)];
      options.params[name] = kernel.shape.size() > 4 ? 1 + size % 5 : size;
    }
    if (!wanted(kernel.name)) continue;
    const ir::Program plain = must(kernels::load(kernel.name, options)).program;
    const search::Position best =
        search::expert({std::make_shared<const moves::State>(plain, target), {}});
    report(*device, target, kernel.name, plain, {search::candidate(plain, {}), best.toCandidate()});
  }
}
