// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "performance/agents/arena.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "tune/bench.h"
#include "tune/peak.h"
#include "tune/tuner.h"

namespace dojo::contest {
namespace {

/// What a run keeps: its seconds, the strategy's, and the seconds at each trial.
constexpr const char* kTimes = "times of the contest";
constexpr int kRounds = 3;

/// A strategy and the time that it takes.
class Timed final : public search::Strategy {
 public:
  Timed(std::unique_ptr<search::Strategy> strategy, double& seconds)
      : strategy_(std::move(strategy)), seconds_(seconds) {}

  std::optional<search::Candidate> propose(const search::History& history) override {
    const Stopwatch watch;
    auto out = strategy_->propose(history);
    seconds_ += watch.seconds();
    return out;
  }
  void report(const search::History& history, std::int64_t index) override {
    const Stopwatch watch;
    strategy_->report(history, index);
    seconds_ += watch.seconds();
  }
  [[nodiscard]] int lookahead() const override { return strategy_->lookahead(); }
  [[nodiscard]] std::int64_t pruned() const override { return strategy_->pruned(); }

 private:
  std::unique_ptr<search::Strategy> strategy_;
  double& seconds_;
};

Error stopped() { return {"contest.stopped", "stopped; the same command goes on", "", ""}; }

/// How a row's best is counted: at the pace at which the plain program was measured.
double paced(const Measurement& one, const Measurement& plain) {
  return one.ratios.empty() || plain.score <= 0 ? one.cycles
                                                : one.score * plain.cycles / plain.score;
}

std::string shapeText(const std::map<std::string, std::int64_t>& shape) {
  std::string out;
  for (const auto& [name, value] : shape) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  }
  return out;
}

}  // namespace

const std::vector<Subject>& heldOut() {
  static const std::vector<Subject> all = {
      {"matmul", {{"M", 14}, {"N", 20}, {"K", 18}}},
      {"softmax", {{"N", 9}, {"M", 44}}},
      {"layernorm", {{"N", 10}, {"M", 36}}},
      {"conv2d", {{"C", 3}, {"H", 9}, {"W", 12}, {"K", 4}}},
      {"gemv", {{"N", 36}, {"M", 44}}},
      {"avgpool", {{"C", 6}, {"H", 15}, {"W", 14}}},
      {"gelu", {{"N", 11}, {"M", 28}}},
  };
  return all;
}

Result<std::vector<Subject>> subjectsOf(const std::string& text) {
  std::vector<Subject> out;
  std::set<std::string> shaped;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = part.find(':');
    if (colon != std::string::npos || part.find('=') == std::string::npos) {
      out.push_back({part.substr(0, colon), {}});
      if (colon == std::string::npos) {
        for (const Subject& one : heldOut()) {
          if (one.kernel == part) out.back().shape = one.shape;
        }
        continue;
      }
      part = part.substr(colon + 1);
    }
    const std::size_t equals = part.find('=');
    char* rest = nullptr;
    const std::int64_t value =
        equals == std::string::npos ? 0 : std::strtoll(part.c_str() + equals + 1, &rest, 10);
    if (out.empty() || value < 1 || *rest != 0) {
      return Error{"contest.kernels",
                   "'" + part + "' isn't a size; expected kernels as in softmax,matmul:M=8,N=6,K=4",
                   "", ""};
    }
    out.back().shape[part.substr(0, equals)] = value;
  }
  return out;
}

Result<std::unique_ptr<Arena>> Arena::open(const std::string& name, log::Log& log,
                                           const std::string& folder,
                                           const std::atomic<bool>& interrupted) {
  Result<target::Target> target = target::load(name);
  if (!target.ok()) return target.error();
  target->harts = 1;
  std::erase(target->mappings, "parallel");
  return std::unique_ptr<Arena>(new Arena(*std::move(target), log, folder, interrupted));
}

Result<Arena::Loaded> Arena::load(const Subject& subject) {
  if (device_ == nullptr) {
    Result<std::unique_ptr<transport::Device>> device = tune::reach(target_, "");
    if (!device.ok()) return device.error();
    device_ = std::move(device).value();
  }
  ir::ParseOptions options;
  options.params = subject.shape;
  // Where operands stream, they are of the width that the unit is made for.
  if (target_.streams.movers > 0) options.dtype = ir::DType::f64;
  Result<ir::Parsed> parsed = kernels::load(subject.kernel, options);
  if (!parsed.ok()) return parsed.error();
  Loaded out;
  out.plain = std::move(parsed->program);
  out.shape = shapeText(subject.shape);
  const ir::DType dtype = parsed->dtype;
  out.dtype = ir::name(dtype);
  auto [peak, fresh] = peaks_.try_emplace(out.dtype, 0);
  if (fresh) {
    const Result<double> measured = tune::measurePeak(*device_, target_, dtype);
    if (measured.ok()) peak->second = *measured;
  }
  out.peak = peak->second;
  return out;
}

Result<Row> Arena::play(const Subject& subject, const Player& player, std::uint64_t seed,
                        std::int64_t trials) {
  Result<Loaded> loaded = load(subject);
  if (!loaded.ok()) return loaded.error();
  double strategySeconds = 0;
  tune::Request request;
  request.kernel = loaded->plain.name;
  request.shape = loaded->shape;
  request.dtype = loaded->dtype;
  request.plain = request.start = loaded->plain;
  request.strategy = player.logged;
  request.makeStrategy =
      [&](const search::Problem& problem) -> Result<std::unique_ptr<search::Strategy>> {
    Result<std::unique_ptr<search::Strategy>> made = player.make(problem);
    if (!made.ok()) return made.error();
    return std::unique_ptr<search::Strategy>(
        std::make_unique<Timed>(std::move(made).value(), strategySeconds));
  };
  request.expert = false;
  request.warmStart = false;
  request.seed = seed;
  request.budget.trials = trials;
  request.referenceFolder = folder_ + "/references";
  request.tool = "contest";
  request.peakTermsPerTick = loaded->peak;
  request.interrupted = &interrupted_;

  Result<log::Run> run = log_.resume(tune::settingsOf(request, target_, *device_));
  if (!run.ok()) return run.error();
  if (run->ended.empty()) {
    std::vector<std::string> times;
    double seconds = 0;
    tune::TuneHooks hooks;
    hooks.onProgress = [&](const search::Progress& progress) {
      seconds = progress.seconds;
      times.push_back(fmt::format("{:.6f}", progress.seconds));
    };
    Result<tune::Tuned> tuned = tune::tune(request, target_, *device_, log_, hooks);
    if (!tuned.ok()) return tuned.error();
    if (tuned->end == search::End::stopped) return stopped();
    if (tuned->measured == tuned->trials) {
      times.insert(times.begin(),
                   {fmt::format("{:.6f}", seconds), fmt::format("{:.6f}", strategySeconds)});
      const auto kept = log_.keep(*run, kTimes, times);
      if (!kept.ok()) return kept.error();
    }
  }
  Result<Row> row = read(*run, *loaded);
  if (row.ok()) {
    row->strategy = player.name;
    row->seed = seed;
  }
  return row;
}

Result<Row> Arena::read(const log::Run& run, const Loaded& loaded) const {
  Row row;
  row.kernel = loaded.plain.name;
  row.shape = loaded.shape;
  row.dtype = loaded.dtype;
  row.target = target_.name;
  const Result<std::vector<log::Trial>> trials = log_.trials(run.id, log::Kind::search);
  if (!trials.ok()) return trials.error();
  double best = std::numeric_limits<double>::infinity(), cycles = 0;
  for (const log::Trial& trial : *trials) {
    ++row.trials;
    if (!trial.outcome.ok()) {
      ++row.failures;
    } else if (const Measurement& m = trial.outcome.measurement(); !m.censored && m.score < best) {
      best = m.score;
      cycles = m.cycles;
    }
    row.curve.push_back(cycles);
  }
  const Result<std::vector<log::Trial>> finals = log_.trials(run.id, log::Kind::final);
  if (!finals.ok()) return finals.error();
  const std::string plain = ir::print(loaded.plain);
  const log::Trial *slow = nullptr, *winner = nullptr;
  // The first of them is the winner.
  for (const log::Trial& trial : *finals) {
    if (!trial.outcome.ok()) continue;
    if (winner == nullptr) winner = &trial;
    if (trial.program == plain) slow = &trial;
  }
  if (winner != nullptr && slow != nullptr) {
    row.plain = slow->outcome.measurement().cycles;
    row.best = paced(winner->outcome.measurement(), slow->outcome.measurement());
    row.winner = winner->program;
    row.sharedClock = !winner->outcome.measurement().ratios.empty();
  }
  const auto times = log_.kept(run, kTimes);
  if (!times.ok()) return times.error();
  if (times->has_value() && (*times)->size() >= 2) {
    const std::vector<std::string>& all = **times;
    row.seconds = std::strtod(all[0].c_str(), nullptr);
    row.strategySeconds = std::strtod(all[1].c_str(), nullptr);
    for (std::size_t k = 2; k < all.size(); ++k) {
      row.elapsed.push_back(std::strtod(all[k].c_str(), nullptr));
    }
  }
  return row;
}

Status Arena::together(const Subject& subject, std::vector<Row*> rows) {
  std::erase_if(rows, [](const Row* row) { return !row->sharedClock || row->winner.empty(); });
  if (rows.empty()) return {};
  Result<Loaded> loaded = load(subject);
  if (!loaded.ok()) return loaded.error();
  const std::string plain = ir::print(loaded->plain);
  std::set<std::string> programs = {plain};
  for (const Row* row : rows) programs.insert(row->winner);
  Result<std::vector<log::Trial>> trials =
      measure(*loaded, std::vector<std::string>(programs.begin(), programs.end()));
  if (!trials.ok()) return trials.error();
  std::map<std::string, const Measurement*> of;
  for (const log::Trial& trial : *trials) {
    if (trial.outcome.ok()) of[trial.program] = &trial.outcome.measurement();
  }
  if (!of.contains(plain)) return {};
  for (Row* row : rows) {
    // What failed now isn't the best of anything.
    row->plain = of[plain]->cycles;
    row->best = of.contains(row->winner) ? paced(*of[row->winner], *of[plain]) : 0;
  }
  return {};
}

Result<std::vector<log::Trial>> Arena::measure(const Loaded& loaded,
                                               const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  tune::Request request;
  request.kernel = loaded.plain.name;
  request.shape = loaded.shape;
  request.dtype = loaded.dtype;
  request.plain = request.start = loaded.plain;
  request.strategy = "together " + hex(contentHash(all));
  request.budget.trials = static_cast<std::int64_t>(texts.size());
  request.tool = "contest";
  const Result<log::Run> run = log_.resume(tune::settingsOf(request, target_, *device_));
  if (!run.ok()) return run.error();
  Result<std::vector<log::Trial>> before = log_.trials(run->id, log::Kind::final);
  if (!before.ok() || before->size() == texts.size()) return before;

  tune::BenchOptions options;
  options.harts = target_.harts;
  options.seed = 0xfa18;
  options.referenceFolder = folder_ + "/references";
  options.raceFactor = std::numeric_limits<double>::infinity();
  options.interrupted = &interrupted_;
  Result<std::unique_ptr<tune::Bench>> bench =
      tune::Bench::open(loaded.plain, target_, *device_, options);
  if (!bench.ok()) return bench.error();
  std::vector<search::Candidate> candidates;
  for (const std::string& text : texts) {
    const Result<ir::Parsed> parsed = ir::parse(text);
    if (!parsed.ok()) return parsed.error();
    candidates.push_back(search::candidate(parsed->program, {}));
  }
  std::vector<std::vector<Outcome>> outcomes(texts.size());
  for (int round = 0; round < kRounds; ++round) {
    for (const search::Candidate& candidate : candidates) (*bench)->submit(candidate);
    for (std::vector<Outcome>& one : outcomes) {
      std::optional<Outcome> outcome = (*bench)->next();
      if (!outcome) return stopped();
      one.push_back(std::move(*outcome));
    }
  }
  std::vector<log::Trial> trials;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    std::vector<Outcome>& one = outcomes[k];
    std::sort(one.begin(), one.end(), [](const Outcome& a, const Outcome& b) {
      return search::scoreOf(a) < search::scoreOf(b);
    });
    log::Trial trial;
    trial.run = run->id;
    trial.kind = log::Kind::final;
    trial.index = static_cast<std::int64_t>(k);
    trial.program = texts[k];
    trial.outcome = one[kRounds / 2];
    trials.push_back(std::move(trial));
  }
  return log_.append(trials);
}

}  // namespace dojo::contest
