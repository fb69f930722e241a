// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/tuner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "tune/bench.h"
#include "tune/elsewhere.h"
#include "tune/finals.h"
#include "tune/work.h"

namespace dojo::tune {
namespace {

/// Listing what can be done to a longer program takes too long for a search.
constexpr std::size_t kMostNodes = 5000;
/// So many of the best are measured again.
constexpr int kFinalists = 4;
/// What measuring the best again takes, beside preparing it.
constexpr double kFinalSeconds = 1, kFinalToSlowest = 1.5;

/// The name under which a run keeps the schedules that it began with.
constexpr const char* kWarmStart = "warm start";

/// The peak is a measurement too, and the clock may be higher at another moment.
constexpr double kPeakSlack = 0.8;

/// Programs that took the device down twice in what the log holds for this device.
Status banTwiceFatal(Bench& bench, const log::Log& log, const log::RunSettings& settings) {
  std::map<std::string, int> fatal;
  log::Filter filter;
  filter.kernel = settings.kernel;
  filter.target = settings.target;
  filter.fingerprint = settings.fingerprint;
  Status status = log.forEach(filter, [&](const log::Record& record) {
    if (record.trial.outcome.ok()) return;
    const std::string& code = record.trial.outcome.failure().code;
    if (code == "run.crash" || code == "run.timeout") ++fatal[record.trial.program];
  });
  for (const auto& [text, times] : fatal) {
    if (times >= 2) bench.ban(text);
  }
  return status;
}

void add(TimeSplit& sum, const TimeSplit& time) {
  sum.compile += time.compile;
  sum.transfer += time.transfer;
  sum.verify += time.verify;
  sum.run += time.run;
  sum.queue += time.queue;
}

/// For a search whose trials are all recorded.
class Idle final : public search::Evaluator {
 public:
  void submit(const search::Candidate& /*candidate*/) override {
    DOJO_CHECK(false, "a trial of the log was to be measured");
  }
  std::optional<Outcome> next() override { return std::nullopt; }
};

void conclude(Tuned& out) {
  for (const Final& one : out.finals) {
    if (one.plain && one.trial.outcome.ok()) out.baseline = one.trial.outcome.measurement().cycles;
  }
  if (out.winner.outcome.ok()) {
    out.best = out.winner.outcome.measurement().cycles;
    out.spread = out.winner.outcome.measurement().spread;
  }
}

}  // namespace

log::RunSettings settingsOf(const Request& request, const target::Target& target,
                            const transport::Device& device) {
  log::RunSettings s;
  s.kernel = request.kernel;
  s.source = ir::print(request.plain);
  s.shape = request.shape;
  s.dtype = request.dtype;
  s.target = target.name;
  s.fingerprint = fingerprint(target, device);
  s.strategy = request.strategy;
  if (!request.startTrace.empty()) {
    s.strategy += " from trace " + hex(contentHash(moves::toString(request.startTrace)));
  }
  if (!request.expert) s.strategy += " without expert";
  if (!request.warmStart) s.strategy += " without warm start";
  s.seed = request.seed;
  s.trials = request.budget.trials;
  s.cache = request.coldCache ? "cold" : "warm";
  s.tool = request.tool;
  return s;
}

struct Tuner::State {
  Request request;
  const target::Target& target;
  transport::Device& device;
  log::Log& log;
  TuneHooks hooks;
  log::RunSettings settings;
  log::Run run;
  std::unique_ptr<search::Strategy> strategy;
  std::unique_ptr<search::Search> search;
  std::vector<search::Recorded> known;  ///< For the search, until it's made.
  std::vector<std::int64_t> rowOf;      ///< Rows of the trials.
  std::int64_t recorded = 0;            ///< Trials that the log had already.
  double bestScore = search::kFailed;
  std::string bestText;  ///< Of the program with that score.
  std::vector<Drift> drifts;
  TimeSplit time;      ///< Of all trials.
  double seconds = 0;  ///< Of all slices.
  double searching = 0;
  double preparing = 0;
  double slowest = 0;  ///< Trial of those measured here.
  bool prepared = false, estimated = false, deviceBusy = false;

  State(Request asked, const target::Target& on, transport::Device& at, log::Log& in,
        TuneHooks tell)
      : request(std::move(asked)), target(on), device(at), log(in), hooks(std::move(tell)) {}

  void note(const std::string& text) const {
    if (hooks.onNote) hooks.onNote(text);
  }
  Status begin();
  Status makeSearch();
  Result<std::vector<moves::Trace>> warmStart();
  Result<std::unique_ptr<Bench>> openBench();
  void rank(const std::string& text, const Outcome& outcome);
  [[nodiscard]] double pace() const;
  Status drifted(const Drift& drift);
  [[nodiscard]] DriftWatch::Options watchOptions() const;
  Status append(std::int64_t index, const search::Candidate& candidate, Outcome& outcome);
  void estimate(std::int64_t index, const TimeSplit& time);
  [[nodiscard]] log::Trial trialOf(std::int64_t index) const;
  [[nodiscard]] std::vector<search::Candidate> finalists() const;
  Status addFinals(Tuned& out);
};

Status Tuner::State::begin() {
  settings = settingsOf(request, target, device);
  Result<log::Run> found = log.resume(settings);
  if (!found.ok()) return found.error();
  run = std::move(found).value();
  Result<std::vector<log::Trial>> rows = log.trials(run.id, log::Kind::search);
  if (!rows.ok()) return rows.error();
  for (log::Trial& row : *rows) {
    // A gap can't come from one tuner that was killed; what is after it isn't used.
    if (row.index != static_cast<std::int64_t>(known.size())) break;
    rank(row.program, row.outcome);
    rowOf.push_back(row.row);
    known.push_back({std::move(row.program), std::move(row.outcome)});
  }
  recorded = static_cast<std::int64_t>(known.size());
  Result<std::vector<Drift>> before = keptDrifts(log, run);
  if (!before.ok()) return before.error();
  drifts = std::move(before).value();
  if (recorded > 0) {
    note(fmt::format("the log has {} of {} trials of this run already", recorded,
                     request.budget.trials));
  }
  return {};
}

void Tuner::State::rank(const std::string& text, const Outcome& outcome) {
  const double score = search::scoreOf(outcome);
  if (score >= bestScore) return;
  bestScore = score;
  bestText = text;
}

/// How many times as long anything takes as when the run began.
double Tuner::State::pace() const {
  double out = 1;
  for (const Drift& drift : drifts) out *= drift.factor;
  return out;
}

Status Tuner::State::drifted(const Drift& drift) {
  drifts.push_back(drift);
  note("the device drifted; " + describe(drift));
  return keepDrift(log, run, drift);
}

DriftWatch::Options Tuner::State::watchOptions() const {
  DriftWatch::Options out;
  out.firstTrial = static_cast<std::int64_t>(rowOf.size());
  out.pace = pace();
  // What the log holds was parsed before it was tried.
  if (const auto best = ir::parse(bestText); best.ok() && bestScore != search::kFailed) {
    out.reference = search::candidate(best->program, {});
    out.referenceScore = bestScore;
  }
  return out;
}

/// Makes the search when it's needed first: what others have found by then may help it.
Status Tuner::State::makeSearch() {
  if (search) return {};
  search::Problem problem{request.plain, request.start,         request.startTrace, &target,
                          request.seed,  request.budget.trials, request.expert};
  Result<std::vector<moves::Trace>> warm = warmStart();
  if (!warm.ok()) return warm.error();
  problem.warm = std::move(warm).value();
  if (request.makeRanker) {
    Result<std::shared_ptr<search::Ranker>> ranker = request.makeRanker();
    if (!ranker.ok()) return ranker.error();
    problem.ranker = std::move(ranker).value();
  }
  Result<std::unique_ptr<search::Strategy>> made =
      request.makeStrategy ? request.makeStrategy(problem)
                           : search::makeStrategy(request.strategy, problem);
  if (!made.ok()) return made.error();
  strategy = std::move(made).value();
  search = std::make_unique<search::Search>(problem, *strategy, std::exchange(known, {}));
  return {};
}

/// What the run began with, else what the log has now; a run from before there was this has none.
Result<std::vector<moves::Trace>> Tuner::State::warmStart() {
  std::vector<moves::Trace> out;
  if (!request.warmStart || !request.startTrace.empty()) return out;
  Result<std::optional<std::vector<std::string>>> texts = log.kept(run, kWarmStart);
  if (!texts.ok()) return texts.error();
  if (!texts->has_value()) {
    std::vector<std::string> chosen;
    if (recorded == 0) {
      Result<std::vector<std::string>> found = schedulesElsewhere(log, settings);
      if (!found.ok()) return found.error();
      chosen = std::move(found).value();
    }
    Result<std::vector<std::string>> kept = log.keep(run, kWarmStart, chosen);
    if (!kept.ok()) return kept.error();
    texts = std::optional(std::move(kept).value());
  }
  for (const std::string& text : **texts) {
    // Of another version there may be moves that this one doesn't know: what it means is nothing.
    if (Result<moves::Trace> trace = moves::parseTrace(text, "warm start"); trace.ok()) {
      out.push_back(std::move(trace).value());
    }
  }
  if (!out.empty()) {
    note(fmt::format("{} schedules of {} at other shapes are tried first", out.size(),
                     request.kernel));
  }
  return out;
}

Result<std::unique_ptr<Bench>> Tuner::State::openBench() {
  Stopwatch watch;
  BenchOptions options;
  options.harts = target.harts;
  options.seed = request.seed;
  options.coldCache = request.coldCache;
  options.referenceFolder = request.referenceFolder;
  options.interrupted = request.interrupted;
  options.first = request.start;
  if (!prepared) note("drawing inputs and computing what must come out of them");
  Result<std::unique_ptr<Bench>> bench = Bench::open(request.plain, target, device, options);
  if (!bench.ok()) return bench.error();
  preparing = watch.seconds();
  if (!prepared) {
    prepared = true;
    note(fmt::format("{} input sets in {:.1f} s", (*bench)->inputSets().size(), preparing));
    for (const measure::VerifiedSet& dropped : (*bench)->droppedSets()) {
      note(
          fmt::format("input set '{}' isn't used: rounding may be {:.1g} of half the results, "
                      "which proves nothing",
                      dropped.name, dropped.medianBound));
    }
  }
  const Work work = countWork(request.plain);
  if (request.peakTermsPerTick > 0 && work.terms) {
    (*bench)->setLeastCycles(*work.terms / request.peakTermsPerTick * kPeakSlack);
  }
  if (Status s = banTwiceFatal(**bench, log, settings); !s.ok()) return s.error();
  if (bestScore != search::kFailed) (*bench)->setBest(bestScore * pace());
  return bench;
}

void Tuner::State::estimate(std::int64_t index, const TimeSplit& t) {
  if (std::exchange(estimated, true)) return;
  const double each = t.compile + t.transfer + t.verify + t.run;
  const auto left = static_cast<double>(request.budget.trials - index - 1);
  std::string text = fmt::format(
      "the plain program took {:.2g} s: {} more trials take at most about {:.0f} s, mostly much "
      "less",
      each, left, left * each);
  if (left * each > request.budget.seconds) {
    text += fmt::format(", cut at {:.0f} s", request.budget.seconds);
  }
  note(text);
}

Status Tuner::State::append(std::int64_t index, const search::Candidate& candidate,
                            Outcome& outcome) {
  // Nothing is known of this one: it's measured when there is a device again.
  if (!outcome.ok() && outcome.failure().code == "link.dead") {
    return Error{outcome.failure().code, outcome.failure().detail, "", ""};
  }
  log::Trial trial;
  trial.run = run.id;
  trial.kind = log::Kind::search;
  trial.index = index;
  trial.program = candidate.text;
  trial.trace = moves::toString(candidate.trace);
  trial.outcome = outcome;
  trial.wallSeconds = wallOf(outcome.time);
  Result<log::Trial> row = log.append(trial);
  if (!row.ok()) return row.error();
  rowOf.push_back(row->row);
  add(time, outcome.time);
  slowest = std::max(slowest, trial.wallSeconds - outcome.time.queue);
  outcome = row->outcome;
  rank(candidate.text, outcome);
  estimate(index, outcome.time);
  return {};
}

log::Trial Tuner::State::trialOf(std::int64_t index) const {
  const search::Tried& tried = search->history().all()[static_cast<std::size_t>(index)];
  log::Trial trial;
  trial.row = rowOf[static_cast<std::size_t>(index)];
  trial.run = run.id;
  trial.index = index;
  trial.program = tried.candidate.text;
  trial.trace = moves::toString(tried.candidate.trace);
  trial.outcome = *tried.outcome;
  return trial;
}

/// The best, and the plain program.
std::vector<search::Candidate> Tuner::State::finalists() const {
  const std::vector<search::Tried>& all = search->history().all();
  std::vector<search::Candidate> out;
  bool plain = false;
  for (const std::int64_t index : search->history().top(kFinalists)) {
    out.push_back(all[static_cast<std::size_t>(index)].candidate);
    plain = plain || index == 0;
  }
  if (!plain) out.push_back(all[0].candidate);
  return out;
}

/// Leaves out.finals empty where it was stopped.
Status Tuner::State::addFinals(Tuned& out) {
  Result<std::vector<log::Trial>> rows = log.trials(run.id, log::Kind::final);
  if (!rows.ok()) return rows.error();
  const std::vector<search::Candidate> candidates = finalists();
  out.finals = recordedFinals(*rows, candidates, search->history().all()[0].candidate.text);
  if (!out.finals.empty()) return {};
  note("measuring the best again, interleaved, on new inputs");
  Result<std::vector<Final>> finals = measureFinals(request, target, device, candidates);
  if (!finals.ok()) return finals.error();
  const std::int64_t first = rows->empty() ? 0 : rows->back().index + 1;
  std::vector<log::Trial> trials;
  for (Final& one : *finals) {
    one.trial.run = run.id;
    one.trial.index = first + static_cast<std::int64_t>(trials.size());
    trials.push_back(one.trial);
  }
  Result<std::vector<log::Trial>> logged = log.append(trials);
  if (!logged.ok()) return logged.error();
  for (std::size_t k = 0; k < trials.size(); ++k) (*finals)[k].trial = (*logged)[k];
  out.finals = std::move(finals).value();
  return {};
}

Tuner::Tuner(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tuner::~Tuner() = default;

Result<std::unique_ptr<Tuner>> Tuner::open(Request request, const target::Target& target,
                                           transport::Device& device, log::Log& log,
                                           TuneHooks hooks) {
  if (const std::size_t nodes = ir::nodeCount(request.start); nodes > kMostNodes) {
    return Error{"tune.size",
                 fmt::format("a program of {} lines is too long to search on; {} are the most",
                             nodes, kMostNodes),
                 request.kernel, ""};
  }
  auto state = std::make_unique<State>(std::move(request), target, device, log, std::move(hooks));
  if (Status s = state->begin(); !s.ok()) return s.error();
  return std::unique_ptr<Tuner>(new Tuner(std::move(state)));
}

search::Progress Tuner::progress() const {
  return state_->search ? state_->search->progress() : search::Progress();
}
std::int64_t Tuner::recorded() const { return state_->recorded; }
double Tuner::preparing() const { return state_->preparing; }

double Tuner::finishing() const {
  const State& s = *state_;
  // Inputs and results anew, the plain program among those measured, and then some pairs.
  return s.prepared ? kFinalSeconds + 1.3 * s.preparing + kFinalToSlowest * s.slowest : 0;
}

Result<search::End> Tuner::advance(std::int64_t trials, double seconds) {
  State& s = *state_;
  Stopwatch watch;
  if (Status status = s.makeSearch(); !status.ok()) return status.error();
  std::unique_ptr<Bench> bench;
  Idle idle;
  // What the log has needs no device.
  if (s.recorded < trials) {
    Result<std::unique_ptr<Bench>> opened = s.openBench();
    if (!opened.ok()) return opened.error();
    bench = std::move(opened).value();
  }
  std::unique_ptr<DriftWatch> watching;
  if (bench) {
    watching = std::make_unique<DriftWatch>(*bench, s.watchOptions(),
                                            [&](const Drift& drift) { return s.drifted(drift); });
  }
  search::Evaluator& evaluator = watching ? static_cast<search::Evaluator&>(*watching) : idle;
  search::Search::Hooks hooks;
  hooks.onOutcome = [&](std::int64_t index, const search::Candidate& candidate, Outcome& outcome) {
    return s.append(index, candidate, outcome);
  };
  hooks.onProgress = s.hooks.onProgress;
  Stopwatch searching;
  Result<search::End> end = s.search->run(evaluator, {trials, seconds}, hooks);
  s.searching += searching.seconds();
  s.seconds += watch.seconds();
  if (!bench) return end;
  if (end.ok() && !watching->status().ok()) end = watching->status().error();
  bench->stop();
  if (end.ok() && *end == search::End::stopped && !bench->idle(1.0)) {
    // A kernel that doesn't return holds the device, and its end would be waited for.
    s.deviceBusy = true;
    (void)bench.release();  // NOLINT(bugprone-unused-return-value): left to the process's end.
  }
  return end;
}

Result<Tuned> Tuner::finish(search::End end) {
  State& s = *state_;
  Stopwatch watch;
  if (end == search::End::stopped && !s.search) {
    Tuned out;
    out.end = end;
    out.run = s.run.id;
    return out;
  }
  if (Status status = s.makeSearch(); !status.ok()) return status.error();
  s.search->settle();
  const search::History& history = s.search->history();
  const search::Progress progress = s.search->progress();
  Tuned out;
  out.end = end;
  out.run = s.run.id;
  out.trials = progress.trials;
  out.measured = progress.measured;
  out.failures = history.failures();
  out.pruned = s.strategy->pruned();
  out.baseline = progress.baseline;
  out.time = s.time;
  out.searching = s.searching;
  out.seconds = s.seconds;
  out.deviceBusy = s.deviceBusy;
  out.drifts = s.drifts;
  for (const search::Tried& tried : history.all()) {
    if (tried.outcome && !tried.outcome->ok()) ++out.failureCodes[tried.outcome->failure().code];
  }
  if (history.best() < 0) return out;
  out.winner = s.trialOf(history.best());
  if (end != search::End::stopped) {
    if (Status status = s.addFinals(out); !status.ok()) return status.error();
    if (out.finals.empty()) {
      out.end = search::End::stopped;
    } else {
      if (out.finals[0].trial.outcome.ok()) out.winner = out.finals[0].trial;
      if (Status status = s.log.end(s.run); !status.ok()) return status.error();
    }
  }
  conclude(out);
  out.seconds += watch.seconds();
  return out;
}

Result<Tuned> tune(const Request& request, const target::Target& target, transport::Device& device,
                   log::Log& log, const TuneHooks& hooks) {
  Result<std::unique_ptr<Tuner>> tuner = Tuner::open(request, target, device, log, hooks);
  if (!tuner.ok()) return tuner.error();
  Result<search::End> end = (*tuner)->advance(request.budget.trials, request.budget.seconds);
  if (!end.ok()) return end.error();
  return (*tuner)->finish(*end);
}

}  // namespace dojo::tune
