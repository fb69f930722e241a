// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/selfcheck_timing.h"
#include "cli/table.h"
#include "cli/workplace.h"
#include "proof/prove_moves.h"
#include "proof/ulp.h"
#include "tune/execute.h"
#include "tune/faults.h"

namespace dojo::cli {
namespace {

struct Options {
  std::int64_t moves = 20000;
  std::uint64_t seed = 1;
  int jobs = 1;
  std::string target = "host";
  std::string runner;
  bool math = false;
  bool faults = false;
  std::int64_t trials = 10000;
  bool exhaustive = false;
  std::string timing;
  std::string rows;
  bool json = false;
};

int checkMoves(const Options& options) {
  Result<target::Target> target = target::load(options.target);
  if (!target.ok()) return fail(target.error(), options.json);
  proof::ProofOptions proof;
  proof.moves = options.moves;
  proof.seed = options.seed;
  proof.jobs = options.jobs;
  const std::atomic<bool>& stop = interrupted();
  ProgressLine line;
  Stopwatch watch;
  const proof::ProofReport report =
      proof::proveMoves(proof::withEverything(*target), proof, [&](const proof::ProofReport& now) {
        if (line.due()) {
          line.update(fmt::format("{} of {} moves on {} programs, {} a second", now.moves,
                                  options.moves, now.programs,
                                  showNumber(static_cast<double>(now.moves) / watch.seconds())));
        }
        return !stop.load();
      });
  line.finish();
  const std::int64_t least = proof::leastApplications(options.moves);
  std::string rare;
  for (const proof::MoveCount& count : report.counts) {
    if (count.applied < least) rare += (rare.empty() ? "" : ", ") + count.name;
  }
  const bool good = report.failures.empty() && rare.empty();
  if (options.json) {
    Json json;
    json["moves"] = report.moves;
    json["programs"] = report.programs;
    json["seed"] = options.seed;
    json["undecided"] = report.undecided;
    Json counts = Json::object();
    for (const proof::MoveCount& count : report.counts) counts[count.name] = count.applied;
    json["applied"] = std::move(counts);
    json["least"] = least;
    Json failures = Json::array();
    for (const proof::MoveFailure& failure : report.failures) failures.push_back(failure.text());
    json["failures"] = std::move(failures);
    json["stopped"] = stop.load();
    std::printf("%s\n", dump(json).c_str());
  } else {
    Table table({"MOVE", ">APPLIED"});
    for (const proof::MoveCount& count : report.counts) {
      table.add({count.name, std::to_string(count.applied)});
    }
    std::fputs(table.text().c_str(), stdout);
    for (const proof::MoveFailure& failure : report.failures) {
      std::printf("\n%s\n", failure.text().c_str());
    }
    std::printf(
        "%lld moves on %lld random programs, seed %llu: %s\n", static_cast<long long>(report.moves),
        static_cast<long long>(report.programs), static_cast<unsigned long long>(options.seed),
        report.failures.empty() ? "no wrong result, and each was undone" : "WRONG, see above");
    if (!rare.empty() && !stop.load()) {
      std::printf("applied less than %lld times: %s\n", static_cast<long long>(least),
                  rare.c_str());
    }
  }
  if (stop.load()) std::fprintf(stderr, "dojo: stopped after what is shown\n");
  return good && !stop.load() ? kDone : kFailed;
}

int checkMath(const Options& options) {
  Result<target::Target> target = loadTarget(options.target, 1);
  if (!target.ok()) return fail(target.error(), options.json);
  Result<std::unique_ptr<transport::Device>> device = tune::reach(*target, options.runner);
  if (!device.ok()) return fail(device.error(), options.json);
  proof::UlpOptions ulp;
  ulp.exhaustive = options.exhaustive;
  ulp.seed = options.seed;
  ulp.lanesOfF32 = target->lanes(4);
  bool good = true;
  Table table({"FUNCTION", "DTYPE", ">ARGUMENTS", ">WORST ULP", ">ALLOWED", "AT"});
  ProgressLine line;
  Result<std::vector<proof::UlpRow>> rows = proof::ulpTable(
      [&](const ir::Program& program, const std::vector<ir::Tensor>& arguments) {
        return tune::execute(**device, *target, program, arguments);
      },
      ulp,
      [&](const proof::UlpRow& row) {
        line.update(fmt::format("{} {}", ir::info(row.op).spelling, ir::name(row.dtype)));
      });
  line.finish();
  if (!rows.ok()) return fail(rows.error(), options.json);
  for (const proof::UlpRow& row : *rows) {
    good = good && row.worst <= row.allowed;
    if (options.json) {
      Json json;
      json["function"] = ir::info(row.op).spelling;
      json["dtype"] = ir::name(row.dtype);
      json["arguments"] = row.samples;
      json["worst_ulp"] = row.worst;
      json["allowed_ulp"] = row.allowed;
      json["x"] = row.x;
      if (row.op == ir::Op::pow) json["y"] = row.y;
      json["got"] = row.got;
      std::printf("%s\n", dump(json).c_str());
      continue;
    }
    std::string at = fmt::format("{}", row.x);
    if (row.op == ir::Op::pow) at += fmt::format(", {}", row.y);
    table.add({std::string(ir::info(row.op).spelling), std::string(ir::name(row.dtype)),
               std::to_string(row.samples), fmt::format("{:.3f}", row.worst),
               fmt::format("{:g}", row.allowed), at});
  }
  if (!options.json) std::fputs(table.text().c_str(), stdout);
  return good ? kDone : kFailed;
}

int checkFaults(const Options& options) {
  Result<target::Target> target = loadTarget(options.target, 1);
  if (!target.ok()) return fail(target.error(), options.json);
  // Shared memory would leave nothing to the link.
  if (const auto at = target->runner.command.find(" {memory}"); at != std::string::npos) {
    target->runner.command.erase(at, 9);
  }
  tune::FaultOptions faults;
  faults.trials = options.trials;
  faults.seed = options.seed;
  faults.faults.rate = 1.0 / 50;
  faults.runnerPath = options.runner;
  const std::atomic<bool>& stop = interrupted();
  ProgressLine line;
  faults.onTrial = [&](std::int64_t done) {
    if (line.due()) line.update(fmt::format("{} of {} trials", done, options.trials));
    return !stop.load();
  };
  Result<tune::FaultReport> report = tune::checkFaults(*target, faults);
  line.finish();
  if (!report.ok()) return fail(report.error(), options.json);
  const bool good = report->wrongTrials == 0 && !stop.load();
  if (options.json) {
    Json json;
    json["trials"] = report->trials;
    json["seed"] = options.seed;
    json["spoiled_frames"] = report->spoiled;
    json["samples"] = report->samples;
    json["ended"] = report->ended;
    json["wrong_trials"] = report->wrongTrials;
    json["wrong"] = report->wrong;
    json["retries"] = report->link.retries;
    json["recoveries"] = report->link.recoveries;
    json["seconds"] = report->seconds;
    std::printf("%s\n", dump(json).c_str());
    return good ? kDone : kFailed;
  }
  Table table({"ENDED IN", ">TRIALS"});
  for (const auto& [code, count] : report->ended) table.add({code, std::to_string(count)});
  std::fputs(table.text().c_str(), stdout);
  for (const std::string& wrong : report->wrong) std::printf("%s\n", wrong.c_str());
  std::printf(
      "%s\n",
      fmt::format("{} trials in {:.1f} s, {} samples, {} frames spoiled, {} sent again, "
                  "the device brought back {} times: {}",
                  report->trials, report->seconds, report->samples, report->spoiled,
                  report->link.retries, report->link.recoveries,
                  report->wrongTrials == 0 ? "none lost, doubled or mistaken" : "WRONG, see above")
          .c_str());
  return good ? kDone : kFailed;
}

}  // namespace

void addSelfcheck(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = addCommand(
      app, "selfcheck",
      "Tests this program: random chains of moves, the math functions, trials over a bad link, or "
      "the timing of a model",
      "dojo selfcheck --moves 100000 --seed 3\n  dojo selfcheck --math\n"
      "  dojo selfcheck --faults --trials 10000 --seed 1\n  dojo selfcheck --timing snitch",
      [options] {
        if (!options->timing.empty()) {
          return checkTimingTable(options->timing, options->runner, options->rows, options->json);
        }
        if (options->faults) return checkFaults(*options);
        return options->math ? checkMath(*options) : checkMoves(*options);
      });
  command->add_option("--moves", options->moves, "Moves to apply, compare and undo")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000000}))
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "Threads, each with seeds of its own")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of programs, chains and inputs")
      ->capture_default_str();
  command->add_flag("--math", options->math, "The table of errors of exp, log, tanh ... in ULP");
  command->add_flag("--faults", options->faults,
                    "Trials over a link that spoils one frame in 50, with 20 kernels that hang, "
                    "20 that crash and 5 devices that die");
  command->add_option("--trials", options->trials, "With --faults")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}))
      ->capture_default_str();
  command->add_option(
      "--timing", options->timing,
      "A target: what sequences of instructions take on it beside what they take on "
      "the machine that it is judged against");
  command->add_option("--rows", options->rows, "With --timing: rows whose name contains this");
  command->add_flag("--exhaustive", options->exhaustive, "With --math: every f32 there is");
  addTargetOption(*command, options->target);
  command->add_option("--runner", options->runner, "Path of another runner");
  command->add_flag("--json", options->json, "JSON instead of tables");
}

}  // namespace dojo::cli
