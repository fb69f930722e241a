// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What strategies find in equal trials without the expert, and what the agent's own time is:
//   agent_play TARGET TRIALS SEEDS STRATEGIES KERNEL[:SHAPE]...
// Strategies by commas: those of search, perfllm, perfllm-new (an agent that has learned nothing).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "agent/play/open.h"
#include "kernels/kernels.h"
#include "must.h"
#include "search/search.h"
#include "tune/bench.h"
#include "tune/shared_table.h"

using namespace dojo;

namespace {

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Takes the time of what the strategy does.
class Timed final : public search::Strategy {
 public:
  explicit Timed(search::Strategy& inner) : inner_(inner) {}
  std::optional<search::Candidate> propose(const search::History& history) override {
    const double start = now();
    auto out = inner_.propose(history);
    seconds += now() - start;
    return out;
  }
  void report(const search::History& history, std::int64_t index) override {
    const double start = now();
    inner_.report(history, index);
    seconds += now() - start;
  }
  [[nodiscard]] int lookahead() const override { return inner_.lookahead(); }
  double seconds = 0;

 private:
  search::Strategy& inner_;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: agent_play TARGET TRIALS SEEDS STRATEGIES KERNEL[:SHAPE]...\n");
    return 2;
  }
  target::Target target = must(target::load(argv[1]));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  const std::int64_t trials = std::atoll(argv[2]);
  const int seeds = std::atoi(argv[3]);
  const std::vector<std::string> strategies = split(argv[4], ',');
  auto device = must(tune::reach(target, ""));
  std::map<std::string, double> logs;
  std::map<std::string, double> overhead;
  int kernels = 0;
  for (int k = 5; k < argc; ++k) {
    const std::vector<std::string> parts = split(argv[k], ':');
    ir::ParseOptions shape;
    if (parts.size() > 1) {
      for (const std::string& one : split(parts[1], ',')) {
        const auto pair = split(one, '=');
        shape.params[pair[0]] = std::atoll(pair[1].c_str());
      }
    }
    const ir::Program program = must(kernels::load(parts[0], shape)).program;
    tune::BenchOptions options;
    options.raceFactor = std::numeric_limits<double>::infinity();  // All see the same outcomes.
    auto bench = must(tune::Bench::open(program, target, *device, options));
    tune::SharedTable table;
    ++kernels;
    std::map<std::string, double> found;
    for (const std::string& name : strategies) {
      std::vector<double> best;
      double baseline = 0;
      for (int seed = 1; seed <= seeds; ++seed) {
        const search::Problem problem{
            program, program, {}, &target, static_cast<std::uint64_t>(seed), trials, false};
        agent::AgentSettings settings;
        if (name == "perfllm-new") settings.checkpoint = agent::kUntrained;
        auto inner = name.starts_with("perfllm") ? must(agent::makePerfLlm(settings, problem))
                                                 : must(search::makeStrategy(name, problem));
        Timed timed(*inner);
        search::Search search(problem, timed);
        tune::TableEvaluator evaluator(*bench, table);
        must(search.run(evaluator, {trials}, {}));
        best.push_back(search.progress().best);
        baseline = search.progress().baseline;
        overhead[name] += timed.seconds / static_cast<double>(trials) / seeds;
      }
      found[name] = median(best);
      logs[name] += std::log(median(best));
      fmt::print("{:28} {:12} plain {:9.0f} best", argv[k], name, baseline);
      for (const double one : best) fmt::print(" {:8.0f}", one);
      fmt::print(
          "  median {:8.0f}{}\n", found[name],
          name == strategies[0] ? "" : fmt::format("  {:.3f}", found[strategies[0]] / found[name]));
      std::fflush(stdout);
    }
  }
  for (const std::string& name : strategies) {
    fmt::print("{:12} {:.3f} times as fast as {}, own time of a trial {:.2f} ms\n", name,
               std::exp((logs[strategies[0]] - logs[name]) / kernels), strategies[0],
               1e3 * overhead[name] / kernels);
  }
  return 0;
}
