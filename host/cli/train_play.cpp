// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The agent plays game after game: a kernel at some shape on a target. After each game all that
// going on takes is kept, so that one that was interrupted is played again, with what was measured
// of it taken from the log.
#include "cli/train_play.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "agent/store/events.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/tune.h"
#include "cli/version.h"
#include "ir/print.h"
#include "tune/bench.h"
#include "tune/shared_table.h"

namespace dojo::cli {
namespace {

constexpr const char* kHeader =
    "game,kernel,shape,target,trials,measured,speedup,round_geomean,loss,learned,seconds\n";
constexpr const char* kProgress = "progress";
/// Steps of learning for every choice that is remembered would be too few in short games.
constexpr std::size_t kReplay = 6000;

struct Row {
  std::int64_t game = 0;
  std::string kernel, shape, target;
  std::int64_t trials = 0, measured = 0;
  double speedup = 1, geomean = 1, loss = 0;
  std::int64_t learned = 0;
  double seconds = 0;  ///< Of training until then, all its processes together.

  [[nodiscard]] std::string csv() const {
    return fmt::format("{},{},\"{}\",{},{},{},{:.4f},{:.4f},{:.5f},{},{:.1f}\n", game, kernel,
                       shape, target, trials, measured, speedup, geomean, loss, learned, seconds);
  }
};

/// The command that trains the same agent, given the same outcomes.
std::string commandOf(const TrainPlayArgs& args) {
  std::string out =
      fmt::format("dojo train --games {} --trials {} --seed {} --learn {} --targets {}", args.games,
                  args.trials, args.seed, args.learn, fmt::join(args.targets, ","));
  if (!args.kernels.empty()) out += fmt::format(" --kernels {}", fmt::join(args.kernels, ","));
  if (args.fixedShapes) out += " --fixed-shapes";
  return out;
}

/// What must be as it was for training to go on; the number of games may grow.
std::string settingsText(const TrainPlayArgs& args) {
  return fmt::format("trials {} seed {} learn {} targets {} kernels {} fixed {}", args.trials,
                     args.seed, args.learn, fmt::join(args.targets, ","),
                     fmt::join(args.kernels, ","), args.fixedShapes);
}

/// Sizes of a kernel's own parameters that make trials fast: the more there are, the smaller.
std::string variedShape(const kernels::Kernel& kernel, search::Random& random) {
  std::vector<std::string> large;
  for (const auto& [name, value] : kernel.shape) {
    // What is worked out from others follows them.
    const bool given = kernel.text.find(name + " = " + std::to_string(value)) != std::string::npos;
    if (given && value > 8) large.push_back(name);
  }
  static const std::vector<std::int64_t> few = {48, 64, 128, 256, 512};
  static const std::vector<std::int64_t> two = {8, 16, 24, 32, 48};
  static const std::vector<std::int64_t> more = {4, 8, 12, 16};
  static const std::vector<std::int64_t> many = {4, 6, 8};
  const std::vector<std::int64_t>& sizes = large.size() <= 1   ? few
                                           : large.size() == 2 ? two
                                           : large.size() == 3 ? more
                                                               : many;
  std::string out;
  for (const std::string& name : large) {
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(random.pick(sizes));
  }
  return out;
}

std::string sparkline(const std::vector<double>& values) {
  static const char* const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string out;
  for (const double value : values) {
    const double part = *most > *least ? (value - *least) / (*most - *least) : 0.5;
    out += bars[static_cast<std::size_t>(std::min(7.0, part * 8))];
  }
  return out;
}

class Training {
 public:
  explicit Training(const TrainPlayArgs& args)
      : args_(args),
        checkpoint_(args.folder + "/agent-training"),
        shipped_(args.folder + "/agent"),
        csv_(args.folder + "/training.csv"),
        events_(args.folder + "/events.out.tfevents.0000000001.dojo") {}

  int run();

 private:
  struct Place {
    target::Target target;
    std::unique_ptr<transport::Device> device;
  };

  Status begin();
  Status resume(agent::OpenedAgent& opened);
  Status play(std::int64_t game);
  Status keep();
  Status log(const tune::TableEvaluator& table, const log::Run& run, std::int64_t index,
             const search::Candidate& candidate, Outcome& outcome);
  [[nodiscard]] double seconds() const { return before_ + systemClock().now() - start_; }
  [[nodiscard]] std::size_t perRound() const { return cases_.size() * places_.size(); }
  void tell();

  const TrainPlayArgs& args_;
  std::string checkpoint_, shipped_, csv_, events_;
  std::vector<kernels::Case> cases_;
  std::vector<Place> places_;
  std::unique_ptr<agent::Agent> agent_;
  std::unique_ptr<log::Log> log_;
  std::vector<Row> rows_;
  ProgressLine progress_;
  double before_ = 0, start_ = systemClock().now();
};

std::vector<std::string> fieldsOf(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

Status Training::resume(agent::OpenedAgent& opened) {
  std::map<std::string, std::string> extra = {{kProgress, ""}};
  const auto notes = opened.agent->load(checkpoint_, &extra);
  if (!notes.ok()) return notes.error();
  for (const std::string& note : *notes) progress_.note(note);
  const std::string& text = extra[kProgress];
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || text.substr(0, end) != settingsText(args_)) {
    return Error{"train.settings",
                 "the folder has another training: " + text.substr(0, end) + "; this is " +
                     settingsText(args_) + "; name another --folder",
                 checkpoint_, ""};
  }
  for (std::size_t at = end + 1; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> f = fieldsOf(text.substr(at, stop - at));
    at = stop + 1;
    if (f.size() != 11) return Error{"agent.damaged", "the curve isn't whole", checkpoint_, ""};
    Row row{std::strtoll(f[0].c_str(), nullptr, 10),
            f[1],
            f[2],
            f[3],
            std::strtoll(f[4].c_str(), nullptr, 10),
            std::strtoll(f[5].c_str(), nullptr, 10),
            std::strtod(f[6].c_str(), nullptr),
            std::strtod(f[7].c_str(), nullptr),
            std::strtod(f[8].c_str(), nullptr),
            std::strtoll(f[9].c_str(), nullptr, 10),
            std::strtod(f[10].c_str(), nullptr)};
    rows_.push_back(std::move(row));
  }
  if (!rows_.empty()) before_ = rows_.back().seconds;
  progress_.note(fmt::format("going on after game {} of {}", rows_.size(), checkpoint_));
  return {};
}

Status Training::begin() {
  std::string names;
  for (const std::string& name : args_.kernels) names += (names.empty() ? "" : ",") + name;
  cases_ = parseCases(names);
  if (cases_.empty()) {
    for (const kernels::Kernel& kernel : kernels::list()) cases_.push_back({kernel.name, ""});
  }
  agent::AgentSettings settings = settingsOf(args_.agent);
  if (settings.checkpoint.empty()) settings.checkpoint = agent::kUntrained;
  settings.learner.seed = args_.seed;
  settings.learner.replay.capacity = kReplay;
  Result<agent::OpenedAgent> opened = agent::openAgent(settings);
  if (!opened.ok()) return opened.error();
  std::error_code ignored;
  std::filesystem::create_directories(args_.folder, ignored);
  if (std::filesystem::exists(checkpoint_)) {
    if (Status s = resume(*opened); !s.ok()) return s;
  }
  agent_ = std::move(opened->agent);
  Result<log::Log> log = log::Log::open(args_.log, log::Log::Mode::write);
  if (!log.ok()) return log.error();
  log_ = std::make_unique<log::Log>(std::move(log).value());
  for (const std::string& name : args_.targets) {
    Result<target::Target> target = loadTarget(name, 1);
    if (!target.ok()) return target.error();
    Result<std::unique_ptr<transport::Device>> device = tune::reach(*target, args_.runner);
    if (!device.ok()) return device.error();
    places_.push_back({std::move(target).value(), std::move(device).value()});
  }
  return {};
}

Status Training::log(const tune::TableEvaluator& table, const log::Run& run, std::int64_t index,
                     const search::Candidate& candidate, Outcome& outcome) {
  if (!table.measured()) return {};
  if (!outcome.ok() && outcome.failure().code == "link.dead") {
    return Error{outcome.failure().code, outcome.failure().detail, "", ""};
  }
  log::Trial trial;
  trial.run = run.id;
  trial.index = index;
  trial.program = candidate.text;
  trial.trace = moves::toString(candidate.trace);
  trial.outcome = outcome;
  const TimeSplit& t = outcome.time;
  trial.wallSeconds = t.compile + t.transfer + t.verify + t.run + t.queue;
  const Result<log::Trial> row = log_->append(trial);
  if (!row.ok()) return row.error();
  outcome = row->outcome;
  return {};
}

Status Training::play(std::int64_t game) {
  const auto round = static_cast<std::uint64_t>(game) / perRound();
  const std::size_t turn = static_cast<std::size_t>(game) % perRound();
  // All kernels on all targets in an order of each round's own.
  search::Random order(args_.seed * 1000003 + round);
  std::vector<std::size_t> turns(perRound());
  for (std::size_t k = 0; k < turns.size(); ++k) turns[k] = k;
  for (std::size_t k = turns.size(); k > 1; --k) std::swap(turns[k - 1], turns[order.below(k)]);
  Place& place = places_[turns[turn] % places_.size()];
  const kernels::Case& one = cases_[turns[turn] / places_.size()];

  search::Random random(args_.seed * 7919 + static_cast<std::uint64_t>(game));
  KernelArgs kernelArgs;
  kernelArgs.kernel = one.kernel;
  kernelArgs.shape = one.shape;
  kernelArgs.target = place.target.name;
  for (const kernels::Kernel& kernel : kernels::list()) {
    if (kernel.name == one.kernel && one.shape.empty() && !args_.fixedShapes) {
      kernelArgs.shape = variedShape(kernel, random);
    }
  }
  const Result<LoadedKernel> kernel = loadKernel(kernelArgs, place.target);
  if (!kernel.ok()) return kernel.error();
  Row row;
  row.game = game;
  row.kernel = kernel->program.name;
  row.shape = kernel->shape;
  row.target = place.target.name;

  tune::BenchOptions options;
  options.seed = args_.seed;
  options.referenceFolder = referenceFolder();
  options.raceFactor = std::numeric_limits<double>::infinity();  // An outcome stands for itself.
  options.interrupted = &interrupted();
  options.first = kernel->program;
  const auto bench = tune::Bench::open(kernel->program, place.target, *place.device, options);
  if (bench.ok()) {
    tune::Request request;
    request.kernel = row.kernel;
    request.shape = row.shape;
    request.dtype = kernel->dtype;
    request.plain = request.start = kernel->program;
    request.strategy = fmt::format("training, game {} of {}", game,
                                   hex(contentHash(settingsText(args_) + args_.folder)));
    request.expert = request.warmStart = false;
    request.seed = args_.seed;
    request.budget.trials = args_.trials;
    request.tool = kVersion;
    const log::RunSettings settings = tune::settingsOf(request, place.target, *place.device);
    Result<log::Run> run = log_->resume(settings);
    if (!run.ok()) return run.error();
    Result<tune::SharedTable> table = tune::SharedTable::of(*log_, settings);
    if (!table.ok()) return table.error();
    tune::TableEvaluator evaluator(**bench, *table);
    const search::Problem problem{kernel->program, kernel->program, {},   &place.target,
                                  random.next(),   args_.trials,    false};
    agent::PerfLlm player(problem, *agent_, settingsOf(args_.agent).play);
    search::Search search(problem, player);
    search::Search::Hooks hooks;
    hooks.onOutcome = [&](std::int64_t index, const search::Candidate& candidate, Outcome& out) {
      return log(evaluator, *run, index, candidate, out);
    };
    hooks.onProgress = [&](const search::Progress& p) {
      if (progress_.due()) {
        progress_.update(fmt::format("game {}/{}, {} {} on {}: {}/{} trials, speed-up {}", game,
                                     args_.games, row.kernel, row.shape, row.target, p.trials,
                                     args_.trials,
                                     showNumber(p.best > 0 ? p.baseline / p.best : 0)));
      }
    };
    const Result<search::End> end = search.run(evaluator, {args_.trials}, hooks);
    if (!end.ok()) return end.error();
    if (*end == search::End::stopped) return {};
    search.settle();
    if (!player.counts().trouble.ok()) return player.counts().trouble;
    player.keepOpenings(row.kernel + " " + row.shape);
    const search::Progress p = search.progress();
    row.trials = p.trials;
    row.measured = p.trials - evaluator.found();
    if (p.best > 0 && p.baseline > 0) row.speedup = p.baseline / p.best;
    if (Status s = log_->end(*run); !s.ok()) return s;
  } else if (bench.error().code.starts_with("link.")) {
    return bench.error();
  } else {
    progress_.note(fmt::format("game {}: {} {} can't be played on {}: {}", game, row.kernel,
                               row.shape, row.target, bench.error().message));
  }
  if (interrupted()) return {};
  const auto steps = static_cast<std::int64_t>(args_.learn * static_cast<double>(row.trials));
  for (std::int64_t k = 0; k < steps && !args_.agent.noLearn; ++k) {
    const Result<double> loss = agent_->learner().learn();
    if (!loss.ok()) return loss.error();
    row.loss += *loss / static_cast<double>(steps);
  }
  agent_->learner().tidy();
  row.learned = agent_->learner().learned();
  row.seconds = seconds();
  rows_.push_back(row);
  // Of as many games as a round has, the last.
  const std::size_t count = std::min(perRound(), rows_.size());
  double sum = 0;
  for (std::size_t k = rows_.size() - count; k < rows_.size(); ++k) {
    sum += std::log(rows_[k].speedup) / static_cast<double>(count);
  }
  rows_.back().geomean = std::exp(sum);
  return keep();
}

Status Training::keep() {
  std::string progress = settingsText(args_) + "\n", csv = kHeader;
  std::string events = agent::eventsHeader(0);
  for (const Row& row : rows_) {
    progress += row.csv();
    csv += row.csv();
    events += agent::scalarsEvent(row.seconds, row.game,
                                  {{"speedup/" + row.target, row.speedup},
                                   {"speedup/geomean", row.geomean},
                                   {"loss", row.loss}});
  }
  // What training goes on from comes first: a curve that is older is made anew from it.
  if (Status s = agent_->save(checkpoint_, {{kProgress, progress}}); !s.ok()) return s;
  if (Status s = agent_->saveForPlay(shipped_, commandOf(args_)); !s.ok()) return s;
  if (Status s = writeFile(csv_, csv); !s.ok()) return s;
  return writeFile(events_, events);
}

void Training::tell() {
  if (rows_.size() % perRound() != 0) return;
  std::vector<double> curve;
  for (std::size_t k = perRound(); k <= rows_.size(); k += perRound()) {
    curve.push_back(std::log(rows_[k - 1].geomean));
  }
  progress_.note(fmt::format(
      "round {}: {} times as fast as plain (geometric mean), loss {:.4f}  {}", curve.size(),
      showNumber(rows_.back().geomean), rows_.back().loss, sparkline(curve)));
}

int Training::run() {
  if (Status s = begin(); !s.ok()) return fail(s.error());
  while (static_cast<std::int64_t>(rows_.size()) < args_.games && !interrupted()) {
    const std::size_t before = rows_.size();
    if (Status s = play(static_cast<std::int64_t>(before)); !s.ok()) {
      progress_.finish();
      return fail(s.error());
    }
    if (rows_.size() > before) tell();
  }
  progress_.finish();
  if (static_cast<std::int64_t>(rows_.size()) < args_.games) {
    std::fprintf(stderr, "dojo: stopped; the same command goes on from here\n");
    return kFailed;
  }
  if (Status s = keep(); !s.ok()) return fail(s.error());
  std::printf("%s\n", shipped_.c_str());
  return kDone;
}

}  // namespace

int trainPlay(const TrainPlayArgs& args) {
  if (args.games < 1 || args.trials < 2 || args.targets.empty() || !(args.learn >= 0)) {
    return fail({"cli.usage",
                 "expected at least one game, two trials and one target, and --learn of 0 or more",
                 "", ""});
  }
  return Training(args).run();
}

}  // namespace dojo::cli
