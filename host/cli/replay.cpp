// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/rows.h"
#include "cli/table.h"
#include "cli/workplace.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "log/log.h"

namespace dojo::cli {
namespace {

/// Beyond the spreads of both measurements, what another process and another moment may differ by.
constexpr double kMomentToMoment = 0.03;
constexpr int kTries = 3;

struct Options {
  std::string row;
  std::string log;
  std::string target;  ///< Empty: what the row names.
  std::string runner;
  bool json = false;
};

/// The record's program made again: the source parsed, the trace applied.
Result<LoadedKernel> remake(const log::Record& record, const target::Target& target) {
  LoadedKernel out;
  ir::ParseOptions options;
  options.file = fmt::format("source of row {}", record.trial.row);
  Result<ir::Parsed> parsed = ir::parse(record.settings.source, options);
  if (!parsed.ok()) return parsed.error();
  Result<moves::Trace> trace =
      moves::parseTrace(record.trial.trace, fmt::format("trace of row {}", record.trial.row));
  if (!trace.ok()) return trace.error();
  Result<ir::Program> start = moves::replay(parsed->program, target, *trace);
  if (!start.ok()) return start.error();
  out.program = std::move(parsed->program);
  out.trace = std::move(trace).value();
  out.start = std::move(start).value();
  if (ir::print(out.start) != record.trial.program) {
    return Error{"replay.text", "the trace leads to another program than the one recorded",
                 fmt::format("row {}", record.trial.row), ""};
  }
  return out;
}

int run(const Options& options) {
  auto refuse = [&](const Error& error) { return fail(error, options.json); };
  Result<log::Log> log = log::Log::open(options.log, log::Log::Mode::read);
  if (!log.ok()) return refuse(log.error());
  Result<log::Record> record = findRow(*log, options.row);
  if (!record.ok()) return refuse(record.error());
  const log::RunSettings& settings = record->settings;
  // The record's description hash holds the number of harts: try those that there are.
  const std::string& name = options.target.empty() ? settings.target : options.target;
  Result<target::Target> whole = target::load(name);
  if (!whole.ok()) return refuse(whole.error());
  int threads = 1;
  for (int n = 1; n <= std::max(1, whole->harts); ++n) {
    if (settings.fingerprint.description == tune::describedBy(*whole, n)) threads = n;
  }
  Result<target::Target> target = loadTarget(name, threads);
  if (!target.ok()) return refuse(target.error());
  Result<LoadedKernel> kernel = remake(*record, *target);
  if (!kernel.ok()) return refuse(kernel.error());
  MeasureArgs measure;
  measure.threads = threads;
  measure.cache = settings.cache;
  measure.seed = settings.seed;
  measure.runner = options.runner;
  Workplace workplace(*target, measure, kernel->program);
  if (Status s = workplace.open(); !s.ok()) return refuse(s.error());
  const bool sameDevice = tune::fingerprint(*target, workplace.device()) == settings.fingerprint;
  const double hz = tune::tickRate(*target, workplace.device());

  Json json;
  json["row"] = record->trial.row;
  json["kernel"] = settings.kernel;
  json["shape"] = settings.shape;
  json["dtype"] = settings.dtype;
  json["target"] = settings.target;
  json["same_text"] = true;
  json["same_device"] = sameDevice;
  const Outcome& before = record->trial.outcome;
  Outcome now;
  bool reproduced = false;
  for (int attempt = 0; attempt < kTries && !reproduced; ++attempt) {
    workplace.submit(search::candidate(kernel->start, kernel->trace));
    std::optional<Outcome> outcome = workplace.next();
    if (!outcome) return refuse({"run.stopped", "stopped", "", ""});
    now = std::move(*outcome);
    if (now.ok() != before.ok()) break;
    if (!now.ok()) {
      reproduced = now.failure().code == before.failure().code;
      break;
    }
    const Measurement& a = before.measurement();
    const Measurement& b = now.measurement();
    const double off = std::abs(a.cycles - b.cycles) / a.cycles;
    reproduced = off <= a.spread + b.spread + kMomentToMoment || a.censored;
  }
  auto show = [&](const char* when, const Outcome& outcome) {
    const std::string text = outcome.ok() ? describe(outcome.measurement(), kernel->program, hz)
                                          : describe(outcome.failure());
    if (!options.json) std::printf("%s  %s\n", when, text.c_str());
    Json member;
    if (outcome.ok()) {
      describeTo(member, outcome.measurement(), kernel->program, hz);
    } else {
      member["code"] = outcome.failure().code;
      member["message"] = outcome.failure().detail;
    }
    json[outcome.ok() ? when : std::string(when) + "_failure"] = std::move(member);
  };
  if (!options.json) {
    std::printf("row %lld: %s (%s, %s) on %s, %zu moves: the same text\n",
                static_cast<long long>(record->trial.row), settings.kernel.c_str(),
                settings.shape.c_str(), settings.dtype.c_str(), settings.target.c_str(),
                kernel->trace.size());
  }
  if (!options.json) {
    std::fputs(describePacking(kernel->program, kernel->start).c_str(), stdout);
  }
  describePackingTo(json, kernel->program, kernel->start);
  show("recorded", before);
  show("measured", now);
  json["reproduced"] = reproduced && sameDevice;
  if (options.json) std::printf("%s\n", dump(json).c_str());
  if (!sameDevice) {
    if (!options.json) {
      std::printf("this isn't the device that the row was recorded on: times aren't compared\n");
    }
    return now.ok() == before.ok() ? kDone : kFailed;
  }
  if (!options.json) {
    std::printf(reproduced ? "reproduced within the spread\n"
                           : "NOT reproduced: the times differ by more than their spread\n");
  }
  return reproduced ? kDone : kFailed;
}

}  // namespace

void addReplay(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "replay", "Makes the program of a row again, measures it, and compares",
                 "dojo replay 17", [options] { return run(*options); });
  command->add_option("row", options->row, "Number of the row, or beginning of its uuid")
      ->required();
  addLogOption(*command, options->log);
  command->add_option("--target", options->target,
                      "Name or .json file of the row's target, where it isn't one that ships");
  command->add_option("--runner", options->runner, "Path of another runner");
  command->add_flag("--json", options->json, "One JSON object");
}

}  // namespace dojo::cli
