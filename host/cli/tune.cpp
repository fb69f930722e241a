// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "cli/table.h"
#include "cli/version.h"
#include "cli/workplace.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "log/log.h"
#include "search/strategy.h"
#include "tune/peak.h"
#include "tune/tuner.h"
#include "tune/work.h"

namespace dojo::cli {

std::string progressText(const search::Progress& p, std::int64_t budget, double hz) {
  const double rate = p.seconds > 0 ? static_cast<double>(p.measured) / p.seconds : 0;
  std::string out = fmt::format("{}/{} trials, {} a second", p.trials, budget, showNumber(rate));
  auto time = [&](double cycles) {
    return hz > 0 ? showSeconds(cycles / hz) : showCount(cycles) + " ticks";
  };
  if (p.baseline > 0) out += ", baseline " + time(p.baseline);
  if (p.best > 0) out += ", best " + time(p.best);
  if (p.best > 0 && p.baseline > 0) {
    out += ", speed-up " + showNumber(p.baseline / p.best);
  }
  return out;
}

tune::Request requestFor(const TuneArgs& args, const LoadedKernel& kernel, const AgentUse& agent) {
  tune::Request request;
  request.kernel = kernel.program.name;
  request.shape = kernel.shape;
  request.dtype = kernel.dtype;
  request.plain = kernel.program;
  request.start = kernel.start;
  request.startTrace = kernel.trace;
  request.strategy = args.strategy;
  request.expert = !args.noExpert;
  request.warmStart = !args.noWarmStart;
  request.seed = args.measure.seed;
  request.budget.trials = args.trials;
  request.coldCache = args.measure.cache == "cold";
  request.referenceFolder = referenceFolder();
  request.tool = kVersion;
  request.interrupted = &interrupted();
  agent.applyTo(request);
  return request;
}

Result<AgentUse> checkStrategy(const TuneArgs& args, const ir::Program& program,
                               const target::Target& target) {
  if (!args.agent.agent.empty() || args.strategy == kAgentStrategy) {
    return useAgent(args.agent, args.strategy);
  }
  const search::Problem problem{program, program, {}, &target, 1, 1, false};
  auto strategy = search::makeStrategy(args.strategy, problem);
  if (!strategy.ok()) return strategy.error();
  return useAgent(args.agent, args.strategy);
}

double measuredPeak(transport::Device& device, const target::Target& target,
                    const std::string& dtype) {
  const std::optional<ir::DType> type = ir::dtypeFromName(dtype);
  if (!type) return 0;
  const Result<double> measured = tune::measurePeak(device, target, *type);
  return measured.ok() ? *measured * target.harts : 0;
}

void leaveBusyDevice(int code) {
  // A thread still waits for a kernel that doesn't return; the log is closed row by row.
  std::fflush(stdout);
  killAllProcesses();
  std::_Exit(code);
}

namespace {

using Options = TuneArgs;

Json driftsJson(const std::vector<tune::Drift>& drifts) {
  Json out = Json::array();
  for (const tune::Drift& drift : drifts) {
    out.push_back({{"from", drift.from},
                   {"to", drift.to},
                   {"factor", drift.factor},
                   {"spread", drift.spread}});
  }
  return out;
}

/// Trials during which the device changed its pace are worth less.
void printDrifts(const std::vector<tune::Drift>& drifts) {
  constexpr std::size_t kMost = 4;
  if (drifts.empty()) return;
  std::printf("the device drifted %zu times; later trials are compared at the new pace:\n",
              drifts.size());
  for (std::size_t k = 0; k < std::min(kMost, drifts.size()); ++k) {
    std::printf("  %s\n", tune::describe(drifts[k]).c_str());
  }
  if (drifts.size() > kMost) std::printf("  and %zu more\n", drifts.size() - kMost);
}

Json toJson(const tune::Tuned& tuned, const Options& options, const LoadedKernel& kernel,
            const target::Target& target) {
  Json json;
  json["kernel"] = kernel.program.name;
  json["shape"] = kernel.shape;
  json["dtype"] = kernel.dtype;
  json["target"] = target.name;
  json["strategy"] = options.strategyName();
  json["seed"] = options.measure.seed;
  json["end"] = search::name(tuned.end);
  json["trials"] = tuned.trials;
  json["failures"] = tuned.failures;
  json["pruned"] = tuned.pruned;
  Json codes = Json::object();
  for (const auto& [code, count] : tuned.failureCodes) codes[code] = count;
  json["failure_codes"] = std::move(codes);
  json["seconds"] = tuned.seconds;
  json["own_share"] = tuned.ownShare();
  json["cycles_are_time"] = target.cyclesAreTime;
  json["baseline_cycles"] = tuned.baseline;
  json["best_cycles"] = tuned.best;
  json["speedup"] = tuned.speedup();
  json["drifts"] = driftsJson(tuned.drifts);
  json["program"] = tuned.winner.program;
  if (const auto winner = ir::parse(tuned.winner.program)) {
    describePackingTo(json, kernel.program, winner->program);
  }
  json["trace"] = tuned.winner.trace;
  json["log_row"] = tuned.winner.row;
  json["log"] = options.log;
  json["run"] = tuned.run;
  return json;
}

void printSplit(const tune::Tuned& tuned) {
  if (tuned.measured == 0 || tuned.searching == 0) return;
  const TimeSplit& t = tuned.time;
  const auto n = static_cast<double>(tuned.measured);
  std::printf(
      "a trial, on average: compile %s, transfer %s, verify %s, run %s; %s trials a second, the "
      "device idle for %.1f%% of the time\n",
      showSeconds(t.compile / n).c_str(), showSeconds(t.transfer / n).c_str(),
      showSeconds(t.verify / n).c_str(), showSeconds(t.run / n).c_str(),
      showNumber(n / tuned.searching).c_str(), tuned.ownShare() * 100);
}

void printTable(const tune::Tuned& tuned, const LoadedKernel& kernel, double hz, double peak) {
  const tune::Work work = tune::countWork(kernel.program);
  Table table({"", ">ROW", hz > 0 ? ">CYCLES" : ">TICKS", hz > 0 ? ">TIME" : "", ">SPREAD",
               ">SPEED-UP", hz > 0 ? ">GFLOP/s" : "", hz > 0 ? ">GB/s" : "",
               hz > 0 && peak > 0 ? ">OF PEAK" : ""});
  for (std::size_t k = 0; k < tuned.finals.size(); ++k) {
    const tune::Final& one = tuned.finals[k];
    std::string what = k == 0 ? "winner" : one.tie ? "tie" : "";
    if (one.plain) what += what.empty() ? "plain" : ", plain";
    if (!one.trial.outcome.ok()) {
      table.add({what, std::to_string(one.trial.row), one.trial.outcome.failure().code});
      continue;
    }
    const Measurement& m = one.trial.outcome.measurement();
    const double seconds = hz > 0 ? m.cycles / hz : 0;
    std::string flops, ofPeak;
    if (seconds > 0 && work.flops && *work.flops > 0) {
      flops = showNumber(*work.flops / seconds / 1e9);
      if (peak > 0) ofPeak = fmt::format("{:.0f}%", *work.flops / m.cycles / (2 * peak) * 100);
    }
    table.add({what, std::to_string(one.trial.row), showNumber(m.cycles),
               seconds > 0 ? showSeconds(seconds) : "", fmt::format("{:.2g}%", m.spread * 100),
               showNumber(tuned.baseline / m.cycles), flops,
               seconds > 0 ? showNumber(work.bytes / seconds / 1e9) : "", ofPeak});
  }
  std::fputs(table.text().c_str(), stdout);
}

/// What is shown where the search didn't come to its finals.
void printBest(const tune::Tuned& tuned, const LoadedKernel& kernel, double hz) {
  std::printf("best so far, row %lld: %s; speed-up %s\n", static_cast<long long>(tuned.winner.row),
              describe(tuned.winner.outcome.measurement(), kernel.program, hz).c_str(),
              showNumber(tuned.speedup()).c_str());
}

/// What is told where nothing could be measured: the first error is the one to look at.
std::string firstFailure(const log::Log& log, const tune::Tuned& tuned) {
  log::Filter filter;
  filter.run = tuned.run;
  filter.limit = 1;
  Result<std::vector<log::Record>> first = log.query(filter);
  if (!first.ok() || first->empty() || (*first)[0].trial.outcome.ok()) return "";
  return "; the first: " + describe((*first)[0].trial.outcome.failure());
}

int run(const Options& options) {
  auto refuse = [&](const Error& error) { return fail(error, options.json); };
  if (options.suite == !options.kernel.kernel.empty()) {
    return refuse({"cli.usage",
                   options.suite ? "--suite tunes many: name them by --kernels"
                                 : "expected a kernel, or --suite for many",
                   "", ""});
  }
  if (options.suite) return tuneSuite(options);
  Result<target::Target> target = loadTarget(options.kernel.target, options.measure.threads);
  if (!target.ok()) return refuse(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return refuse(kernel.error());
  const Result<AgentUse> agent = checkStrategy(options, kernel->program, *target);
  if (!agent.ok()) return refuse(agent.error());
  tune::Request request = requestFor(options, *kernel, *agent);
  if (options.seconds > 0) request.budget.seconds = options.seconds;
  Result<log::Log> log = log::Log::open(options.log, log::Log::Mode::write);
  if (!log.ok()) return refuse(log.error());
  Result<std::unique_ptr<transport::Device>> device = tune::reach(*target, options.measure.runner);
  if (!device.ok()) return refuse(device.error());
  const double hz = tune::tickRate(*target, **device);

  ProgressLine line;
  line.note(fmt::format("tuning {} on {} by {}, seed {}, {} trials{}, {} s a call at most, log {}",
                        kernel->describe(), target->name,
                        options.strategyName() + (options.noExpert ? " without expert" : ""),
                        request.seed, options.trials,
                        options.seconds > 0 ? fmt::format(" or {} s", options.seconds) : "",
                        target->runner.callSeconds, options.log));
  for (const std::string& note : agent->notes) line.note(note);
  const double peak = measuredPeak(**device, *target, kernel->dtype);
  if (peak > 0 && hz > 0) {
    line.note(fmt::format("multiply-add peak of {}: {} GFLOP/s",
                          target->harts == 1 ? "one hart" : fmt::format("{} harts", target->harts),
                          showNumber(2 * peak * hz / 1e9)));
  }
  request.peakTermsPerTick = peak;
  tune::TuneHooks hooks;
  hooks.onNote = [&](const std::string& text) { line.note(text); };
  hooks.onProgress = [&](const search::Progress& progress) {
    line.update(progressText(progress, options.trials, hz));
  };
  Result<tune::Tuned> tuned = tune::tune(request, *target, **device, *log, hooks);
  line.finish();
  if (!tuned.ok()) return refuse(tuned.error());

  const bool stopped = tuned->end == search::End::stopped;
  int code = stopped || tuned->best == 0 ? kFailed : kDone;
  if (!options.saveTrace.empty() && tuned->best > 0) {
    if (Status s = writeFile(options.saveTrace, tuned->winner.trace); !s.ok()) {
      code = fail(s.error());
    }
  }
  if (options.json) {
    std::printf("%s\n", dump(toJson(*tuned, options, *kernel, *target)).c_str());
  } else {
    std::printf("%lld trials, %lld failures (%s), %s\n", static_cast<long long>(tuned->trials),
                static_cast<long long>(tuned->failures),
                std::string(search::name(tuned->end)).c_str(), showSeconds(tuned->seconds).c_str());
    for (const auto& [failure, count] : tuned->failureCodes) {
      std::printf("  %lld x %s\n", static_cast<long long>(count), failure.c_str());
    }
    if (tuned->pruned > 0) {
      std::printf("%lld more were left out as certainly slow, without compiling them\n",
                  static_cast<long long>(tuned->pruned));
    }
    printSplit(*tuned);
    printDrifts(tuned->drifts);
    if (!tuned->finals.empty()) {
      printTable(*tuned, *kernel, hz, peak);
    } else if (tuned->best > 0) {
      printBest(*tuned, *kernel, hz);
    }
    if (tuned->best > 0) {
      if (const auto winner = ir::parse(tuned->winner.program)) {
        std::fputs(describePacking(kernel->program, winner->program).c_str(), stdout);
      }
      std::printf("\n%s\nagain: dojo replay %lld --log %s\n", tuned->winner.program.c_str(),
                  static_cast<long long>(tuned->winner.row), options.log.c_str());
    }
  }
  if (tuned->best == 0 && !stopped) {
    std::fprintf(stderr, "dojo: no candidate could be measured%s\n",
                 firstFailure(*log, *tuned).c_str());
  }
  if (stopped) std::fprintf(stderr, "dojo: stopped; the same command goes on from here\n");
  if (tuned->deviceBusy) leaveBusyDevice(code);
  return code;
}

}  // namespace

void addTune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "tune", "Searches for the fastest program of a kernel by measuring",
                 "dojo tune softmax --trials 300 --seed 7", [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  command->get_option("kernel")->required(false);
  addMeasureOptions(*command, options->measure);
  addLogOption(*command, options->log);
  std::string known;
  for (const search::StrategyInfo& info : search::strategies()) {
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  known += ", " + std::string(kAgentStrategy);
  command->add_option("--strategy", options->strategy, known)->capture_default_str();
  addAgentOptions(*command, options->agent, true);
  command->add_flag("--no-expert", options->noExpert,
                    "Leaves the expert's program out, which is otherwise tried first");
  command->add_flag("--no-warm-start", options->noWarmStart,
                    "Tries nothing first that the log has of the kernel at other shapes");
  command->add_option("--trials", options->trials, "The most programs to measure")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}))
      ->capture_default_str();
  CLI::Option* time =
      command->add_option("--time", options->seconds, "The most seconds to search for")
          ->check(CLI::PositiveNumber);
  CLI::Option* save = command->add_option("--save-trace", options->saveTrace,
                                          "Writes the winner's moves to a file");
  CLI::Option* suite =
      command->add_flag("--suite", options->suite,
                        "Tunes all kernels of the suite; time goes to what still improves");
  for (const char* one : {"--shape", "--trace", "--expert"}) {
    suite->excludes(command->get_option(one));
  }
  suite->excludes(save)->excludes(time);
  command
      ->add_option("--kernels", options->kernels,
                   "Only these of the suite, or others: softmax,matmul:M=64,N=64,./mine.dojo")
      ->needs(suite);
  command->add_option("--minutes", options->minutes, "The most minutes for all of --suite")
      ->check(CLI::PositiveNumber)
      ->needs(suite);
  command->add_flag("--json", options->json, "One JSON object on standard output");
}

}  // namespace dojo::cli
