// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strategies against each other: equal numbers of measured trials, from the plain program, several
// seeds; medians, their spread, and curves. What the log in the folder has isn't measured again.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "performance/agents/arena.h"
#include "performance/agents/curves.h"
#include "performance/must.h"

using namespace dojo;
using namespace dojo::contest;

namespace {

std::atomic<bool> interrupted = false;

struct Options {
  std::string kernels;
  std::vector<std::string> targets = {"host", "qemu-rv64gcv", "snitch1"};
  std::vector<std::string> strategies;
  int seeds = 5;
  std::int64_t trials = 200;
  double seconds = 0;
  std::string folder = "dojo-contest";
  AgentFiles agent;
  bool json = false, ablations = false, transfer = false;
  std::vector<std::string> trainedKernels, trainedTargets;
};

/// A name as a file's.
std::string fileName(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return text;
}

std::vector<Player> playersFor(const Options& options) {
  std::vector<std::string> names = options.strategies;
  if (names.empty()) {
    names = options.ablations ? ablations() : options.transfer ? transferPlayers() : usualPlayers();
  }
  std::vector<Player> out;
  for (const std::string& name : names) out.push_back(must(playerOf(name, options.agent)));
  return out;
}

class Contest {
 public:
  explicit Contest(const Options& options)
      : options_(options),
        subjects_(options.kernels.empty() ? heldOut() : must(subjectsOf(options.kernels))),
        players_(playersFor(options)) {
    std::error_code failed;
    std::filesystem::create_directories(options.folder, failed);
    log_ = std::make_unique<log::Log>(
        must(log::Log::open(options.folder + "/log.sqlite", log::Log::Mode::write)));
    for (const std::string& target : options.targets) {
      arenas_.push_back(must(Arena::open(target, *log_, options.folder, interrupted)));
    }
  }

  /// Everybody on everything. `trials` says how many a strategy has there.
  template <class Trials>
  std::vector<Row> hold(Trials trials) {
    std::vector<Row> out;
    for (const auto& arena : arenas_) {
      for (const Subject& subject : subjects_) {
        const std::size_t first = out.size();
        for (int seed = 1; seed <= options_.seeds; ++seed) {
          for (const Player& player : players_) {
            const std::int64_t count = trials(subject.kernel, arena->target().name, player.name);
            if (count < 1) continue;
            out.push_back(
                must(arena->play(subject, player, static_cast<std::uint64_t>(seed), count)));
            const Row& row = out.back();
            fmt::print(stderr, "{} on {}, {}, seed {}: {:.0f} ticks of {:.0f} after {} trials{}\n",
                       row.kernel, row.target, row.strategy, seed, row.best, row.plain, row.trials,
                       row.seconds ? fmt::format(", {:.1f} s", *row.seconds) : "");
          }
        }
        std::vector<Row*> rows;
        for (std::size_t k = first; k < out.size(); ++k) rows.push_back(&out[k]);
        if (Status s = arena->together(subject, rows); !s.ok()) must(Result<int>(s.error()));
      }
    }
    return out;
  }

  /// A file for each kernel and target.
  void draw(const std::vector<Row>& rows) const {
    const Table table(rows);
    for (const Field& field : table.fields()) {
      std::vector<Row> some;
      for (const Row& row : rows) {
        if (Field(row.kernel, row.target) == field) some.push_back(row);
      }
      const std::string path = fmt::format("{}/{}{}.svg", options_.folder,
                                           options_.ablations  ? "ablations-"
                                           : options_.transfer ? "transfer-"
                                                               : "",
                                           fileName(field.first + "-" + field.second));
      const Row& one = some.front();
      const std::string title = fmt::format("{} {} {} on {}, {} seeds", one.kernel, one.shape,
                                            one.dtype, one.target, options_.seeds);
      const Status written = writeFile(path, drawCurves(some, title, "ticks"));
      if (!written.ok()) must(Result<int>(written.error()));
      fmt::print(stderr, "{}\n", path);
    }
  }

 private:
  const Options& options_;
  std::vector<Subject> subjects_;
  std::vector<Player> players_;
  std::unique_ptr<log::Log> log_;
  std::vector<std::unique_ptr<Arena>> arenas_;
};

/// Trials in so many seconds, at the pace of the searches so far; 0: nothing is known.
std::int64_t trialsIn(double seconds, const std::vector<Row>& rows, const std::string& kernel,
                      const std::string& target, const std::string& strategy) {
  std::vector<double> each;
  for (const Row& row : rows) {
    if (row.kernel != kernel || row.target != target || row.strategy != strategy) continue;
    if (row.seconds && row.trials > 0)
      each.push_back(*row.seconds / static_cast<double>(row.trials));
  }
  return each.empty() ? 0 : std::max<std::int64_t>(1, std::llround(seconds / median(each)));
}

int run(const Options& options) {
  Contest contest(options);
  const std::vector<Row> rows = contest.hold(
      [&](const std::string&, const std::string&, const std::string&) { return options.trials; });
  contest.draw(rows);
  std::vector<Row> timed;
  if (options.seconds > 0) {
    timed = contest.hold(
        [&](const std::string& kernel, const std::string& target, const std::string& strategy) {
          return trialsIn(options.seconds, rows, kernel, target, strategy);
        });
  }
  const std::vector<Transfer> transfers =
      options.transfer ? transfersOf(rows, options.trainedKernels, options.trainedTargets)
                       : std::vector<Transfer>();
  if (options.json) {
    nlohmann::ordered_json out = toJson(rows);
    if (options.transfer) out["transfer"] = toJson(transfers);
    if (!timed.empty()) {
      out["by_time"] = toJson(timed);
      out["by_time"]["seconds"] = options.seconds;
    }
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{}", toText(rows));
  if (options.transfer) fmt::print("{}", toText(transfers));
  if (!timed.empty()) {
    fmt::print("\nAs many trials for each as it makes in {} s:\n{}", options.seconds,
               toText(timed));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Strategies against each other");
  app.add_option("--kernels", options.kernels,
                 "As in softmax,matmul:M=8,N=6,K=4; by default those that nobody trains on");
  app.add_option("--targets", options.targets, "Separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--strategies", options.strategies,
                 "Separated by semicolons; by default all, and perfllm")
      ->delimiter(';');
  app.add_option("--seeds", options.seeds, "Searches of each strategy")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--trials", options.trials, "Measured trials of a search")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "A second contest: as many trials as each strategy makes in this time")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--folder", options.folder, "Of the log and the curves; the same goes on")
      ->capture_default_str();
  app.add_option("--agent-file", options.agent.checkpoint, "perfllm's checkpoint; none: untrained");
  app.add_option("--embedding", options.agent.weights, "Weights of perfllm's encoder");
  app.add_flag("--ablations", options.ablations,
               "The untrained agent, and it with one part taken away each");
  app.add_option("--trained-kernels", options.trainedKernels, "That --agent-file was trained on")
      ->delimiter(',');
  app.add_option("--trained-targets", options.trainedTargets, "That --agent-file was trained on")
      ->delimiter(',');
  app.add_flag("--transfer", options.transfer,
               "What the agent of --agent-file learned, beside the untrained one")
      ->excludes("--ablations");
  app.add_flag("--json", options.json, "For machines");
  CLI11_PARSE(app, argc, argv);
  const auto stop = [](int) { interrupted = true; };
  (void)std::signal(SIGINT, stop);
  (void)std::signal(SIGTERM, stop);
  return run(options);
}
