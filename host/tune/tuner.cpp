// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/tuner.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/print.h"
#include "tune/bench.h"
#include "tune/work.h"

namespace dojo::tune {
namespace {

/// Listing what can be done to a longer program takes too long for a search.
constexpr std::size_t kMostNodes = 5000;
/// So many of the best are measured again.
constexpr int kFinalists = 4;
/// Seeds of the inputs for that are this far from those of the search.
constexpr std::uint64_t kFinalSeed = 0x5eed;

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

double wallOf(const TimeSplit& time) {
  return time.compile + time.transfer + time.verify + time.run + time.queue;
}

/// The finals that a run's log holds already, winner first.
std::vector<Final> recordedFinals(const std::vector<log::Trial>& rows, const std::string& plain) {
  std::vector<Final> out;
  for (const log::Trial& row : rows) {
    // The detail of a tie isn't part of a row: spreads that meet tell it.
    Final one{row, row.program == plain, false};
    if (!out.empty() && row.outcome.ok() && out[0].trial.outcome.ok()) {
      const Measurement& a = out[0].trial.outcome.measurement();
      const Measurement& b = row.outcome.measurement();
      one.tie = std::abs(a.cycles - b.cycles) <= a.spread * a.cycles + b.spread * b.cycles;
    }
    out.push_back(std::move(one));
  }
  return out;
}

class Finals {
 public:
  Finals(const Request& request, const target::Target& target, transport::Device& device)
      : request_(request), target_(target), device_(device) {}

  /// Measures the finalists again, interleaved, on inputs that no candidate has seen. Returns them
  /// with the winner first; an empty list where it was stopped.
  Result<std::vector<Final>> run(const std::vector<search::Candidate>& finalists) {
    BenchOptions options;
    options.harts = target_.harts;
    options.seed = request_.seed + kFinalSeed;
    options.coldCache = request_.coldCache;
    options.referenceFolder = request_.referenceFolder;
    options.raceFactor = std::numeric_limits<double>::infinity();
    options.interrupted = request_.interrupted;
    Result<std::unique_ptr<Bench>> bench = Bench::open(request_.plain, target_, device_, options);
    if (!bench.ok()) return bench.error();
    for (const search::Candidate& candidate : finalists) (*bench)->submit(candidate);
    std::vector<Final> all;
    std::vector<ir::Program> programs;
    const std::string plain = ir::print(request_.plain);
    for (const search::Candidate& candidate : finalists) {
      std::optional<Outcome> outcome = (*bench)->next();
      if (!outcome) return std::vector<Final>{};
      Final one;
      one.plain = candidate.text == plain;
      one.trial.kind = log::Kind::final;
      one.trial.program = candidate.text;
      one.trial.trace = moves::toString(candidate.trace);
      one.trial.wallSeconds = wallOf(outcome->time);
      one.trial.outcome = std::move(*outcome);
      all.push_back(std::move(one));
      programs.push_back(candidate.program);
    }
    // Whoever beats the leader beyond the spread leads; the first in line is the search's best.
    std::size_t leader = all.size();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k].trial.outcome.ok()) continue;
      if (leader == all.size()) {
        leader = k;
        continue;
      }
      if (request_.interrupted != nullptr && request_.interrupted->load()) {
        return std::vector<Final>{};
      }
      if (clearlySlower(all[k], all[leader])) continue;
      Result<measure::Pairing> pair = (*bench)->compare(programs[leader], programs[k]);
      if (!pair.ok()) return pair.error();
      all[k].tie = pair->tie;
      if (!pair->tie && pair->ratio < 1) {
        all[leader].tie = false;
        leader = k;
      }
    }
    if (leader == all.size()) return all;
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(leader),
                all.begin() + static_cast<std::ptrdiff_t>(leader) + 1);
    return all;
  }

 private:
  /// No interleaved pairs are needed to tell these apart.
  static bool clearlySlower(const Final& a, const Final& leader) {
    return a.trial.outcome.measurement().cycles > 1.5 * leader.trial.outcome.measurement().cycles;
  }

  const Request& request_;
  const target::Target& target_;
  transport::Device& device_;
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
  s.seed = request.seed;
  s.trials = request.budget.trials;
  s.cache = request.coldCache ? "cold" : "warm";
  s.tool = request.tool;
  return s;
}

Result<Tuned> tune(const Request& request, const target::Target& target, transport::Device& device,
                   log::Log& log, const TuneHooks& hooks) {
  auto note = [&](const std::string& text) {
    if (hooks.onNote) hooks.onNote(text);
  };
  Stopwatch watch;
  Tuned out;
  if (const std::size_t nodes = ir::nodeCount(request.start); nodes > kMostNodes) {
    return Error{"tune.size",
                 fmt::format("a program of {} lines is too long to search on; {} are the most",
                             nodes, kMostNodes),
                 request.kernel, ""};
  }
  search::Problem problem{request.plain, request.start,         request.startTrace, &target,
                          request.seed,  request.budget.trials, request.expert};
  Result<std::unique_ptr<search::Strategy>> strategy =
      search::makeStrategy(request.strategy, problem);
  if (!strategy.ok()) return strategy.error();
  const log::RunSettings settings = settingsOf(request, target, device);
  Result<log::Run> run = log.resume(settings);
  if (!run.ok()) return run.error();
  out.run = run->id;
  Result<std::vector<log::Trial>> rows = log.trials(run->id, log::Kind::search);
  if (!rows.ok()) return rows.error();
  Result<std::vector<log::Trial>> finalRows = log.trials(run->id, log::Kind::final);
  if (!finalRows.ok()) return finalRows.error();
  std::vector<search::Recorded> recorded;
  for (log::Trial& row : *rows) {
    // A gap can't come from one tuner that was killed; what is after it isn't used.
    if (row.index != static_cast<std::int64_t>(recorded.size())) break;
    recorded.push_back({row.program, row.outcome});
  }
  if (!recorded.empty()) {
    note(fmt::format("the log has {} of {} trials of this run already", recorded.size(),
                     request.budget.trials));
  }

  BenchOptions options;
  options.harts = target.harts;
  options.seed = request.seed;
  options.coldCache = request.coldCache;
  options.referenceFolder = request.referenceFolder;
  options.interrupted = request.interrupted;
  note("drawing inputs and computing what must come out of them");
  Result<std::unique_ptr<Bench>> bench = Bench::open(request.plain, target, device, options);
  if (!bench.ok()) return bench.error();
  note(fmt::format("{} input sets in {:.1f} s", (*bench)->inputSets().size(), watch.seconds()));
  for (const measure::VerifiedSet& dropped : (*bench)->droppedSets()) {
    note(
        fmt::format("input set '{}' isn't used: rounding may be {:.1g} of half the results, which "
                    "proves nothing",
                    dropped.name, dropped.medianBound));
  }
  const Work work = countWork(request.plain);
  if (request.peakTermsPerTick > 0 && work.terms) {
    (*bench)->setLeastCycles(*work.terms / request.peakTermsPerTick * kPeakSlack);
  }
  if (Status s = banTwiceFatal(**bench, log, settings); !s.ok()) return s.error();
  for (const search::Recorded& r : recorded) {
    if (const double score = search::scoreOf(r.outcome); score != search::kFailed) {
      (*bench)->setBest(score);
    }
  }

  search::Search search(problem, **strategy, **bench);
  std::vector<std::int64_t> rowOf(recorded.size());
  for (std::size_t k = 0; k < recorded.size(); ++k) rowOf[k] = (*rows)[k].row;
  bool estimated = false;
  search::Search::Hooks searchHooks;
  searchHooks.onOutcome = [&](std::int64_t index, const search::Candidate& candidate,
                              Outcome& outcome) -> Status {
    log::Trial trial;
    trial.run = run->id;
    trial.kind = log::Kind::search;
    trial.index = index;
    trial.program = candidate.text;
    trial.trace = moves::toString(candidate.trace);
    trial.outcome = outcome;
    trial.wallSeconds = wallOf(outcome.time);
    Result<log::Trial> row = log.append(trial);
    if (!row.ok()) return row.error();
    rowOf.push_back(row->row);
    add(out.time, outcome.time);
    outcome = row->outcome;
    if (!estimated) {
      estimated = true;
      const TimeSplit& t = outcome.time;
      const double each = t.compile + t.transfer + t.verify + t.run;
      const auto left = static_cast<double>(request.budget.trials - index - 1);
      std::string text = fmt::format(
          "the plain program took {:.2g} s: {} more trials take at most about {:.0f} s, mostly "
          "much "
          "less",
          each, left, left * each);
      if (left * each > request.budget.seconds) {
        text += fmt::format(", cut at {:.0f} s", request.budget.seconds);
      }
      note(text);
    }
    return {};
  };
  searchHooks.onProgress = hooks.onProgress;
  Result<search::End> end = search.run(request.budget, recorded, searchHooks);
  (*bench)->stop();
  if (!end.ok()) return end.error();
  out.end = *end;
  const search::Progress progress = search.progress();
  out.trials = progress.trials;
  out.measured = progress.measured;
  out.failures = search.history().failures();
  out.pruned = (*strategy)->pruned();
  out.baseline = progress.baseline;
  for (const search::Tried& tried : search.history().all()) {
    if (tried.outcome && !tried.outcome->ok()) ++out.failureCodes[tried.outcome->failure().code];
  }
  auto trialOf = [&](std::int64_t index) {
    const search::Tried& tried = search.history().all()[static_cast<std::size_t>(index)];
    log::Trial trial;
    trial.row = rowOf[static_cast<std::size_t>(index)];
    trial.run = run->id;
    trial.index = index;
    trial.program = tried.candidate.text;
    trial.trace = moves::toString(tried.candidate.trace);
    trial.outcome = *tried.outcome;
    return trial;
  };
  out.seconds = watch.seconds();
  if (search.history().best() >= 0) out.winner = trialOf(search.history().best());
  if (out.end == search::End::stopped) {
    out.deviceBusy = !(*bench)->idle(1.0);
    // A kernel that doesn't return holds the device, and its end would be waited for.
    if (out.deviceBusy) {
      (void)bench->release();  // NOLINT(bugprone-unused-return-value): left to the process's end.
    }
    conclude(out);
    return out;
  }
  bench->reset();
  if (search.history().best() < 0) return out;

  const std::string plain = ir::print(request.plain);
  if (!finalRows->empty()) {
    out.finals = recordedFinals(*finalRows, plain);
  } else {
    note("measuring the best again, interleaved, on new inputs");
    std::vector<search::Candidate> finalists;
    bool plainIn = false;
    for (const std::int64_t index : search.history().top(kFinalists)) {
      finalists.push_back(search.history().all()[static_cast<std::size_t>(index)].candidate);
      plainIn = plainIn || finalists.back().text == plain;
    }
    if (!plainIn) finalists.push_back(search.history().all()[0].candidate);
    Result<std::vector<Final>> finals = Finals(request, target, device).run(finalists);
    if (!finals.ok()) return finals.error();
    if (finals->empty()) {
      out.end = search::End::stopped;
      conclude(out);
      return out;
    }
    out.finals = std::move(finals).value();
    std::vector<log::Trial> trials;
    for (Final& one : out.finals) {
      one.trial.run = run->id;
      one.trial.index = static_cast<std::int64_t>(trials.size());
      trials.push_back(one.trial);
    }
    Result<std::vector<log::Trial>> logged = log.append(trials);
    if (!logged.ok()) return logged.error();
    for (std::size_t k = 0; k < trials.size(); ++k) out.finals[k].trial = (*logged)[k];
  }
  if (out.finals[0].trial.outcome.ok()) out.winner = out.finals[0].trial;
  conclude(out);
  if (Status s = log.end(*run); !s.ok()) return s.error();
  out.seconds = watch.seconds();
  return out;
}

}  // namespace dojo::tune
