// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/suite.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "tune/shares.h"

namespace dojo::tune {
namespace {

/// Of the budget: what the first turns take together, and into how many turns for each the rest is
/// cut.
constexpr double kFirstTurns = 1.0 / 3;
constexpr double kTurnsEach = 4;
constexpr double kShortestTurn = 1, kLongestTurn = 60;
/// Preparing a turn takes time as well: a turn is so many times longer.
constexpr double kTurnToPreparing = 3;

class Suite {
 public:
  Suite(const std::vector<Request>& requests, double seconds, const target::Target& target,
        transport::Device& device, log::Log& log, const SuiteHooks& hooks)
      : requests_(requests),
        seconds_(seconds),
        target_(target),
        device_(device),
        log_(log),
        hooks_(hooks),
        tuners_(requests.size()),
        outcomes_(requests.size()),
        shares_(requests.size()) {}

  std::vector<SuiteOutcome> run() {
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      open(k);
      // What the log has nothing of comes first.
      if (tuners_[k] && tuners_[k]->recorded() > 0) shares_.report(k, 0, 0, 0);
    }
    while (const std::optional<std::size_t> which = shares_.next()) {
      if (stopped() || left() <= 0) break;
      turn(*which);
    }
    std::vector<SuiteOutcome> out;
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      if (!outcomes_[k] && !stopped()) replay(k);
      if (!outcomes_[k]) finish(k, stopped() ? search::End::stopped : search::End::seconds);
      out.push_back(std::move(*outcomes_[k]));
    }
    return out;
  }

 private:
  [[nodiscard]] bool stopped() const {
    return busy_ || std::any_of(requests_.begin(), requests_.end(), [](const Request& request) {
             return request.interrupted != nullptr && request.interrupted->load();
           });
  }

  /// Of the budget, less what the last measurements of the open ones will take.
  [[nodiscard]] double left() const {
    double out = seconds_ - watch_.seconds();
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      if (!outcomes_[k]) out -= tuners_[k]->finishing();
    }
    return out;
  }

  [[nodiscard]] double turnSeconds(std::size_t which, bool first) const {
    if (std::isinf(seconds_)) return seconds_;
    const auto count = static_cast<double>(requests_.size());
    const double share = first ? seconds_ * kFirstTurns / count : seconds_ / (count * kTurnsEach);
    const double longer = std::max(share, kTurnToPreparing * tuners_[which]->preparing());
    return std::min(std::clamp(longer, kShortestTurn, kLongestTurn), left());
  }

  void open(std::size_t which) {
    TuneHooks hooks;
    hooks.onNote = [this, which](const std::string& text) {
      if (hooks_.onNote) hooks_.onNote(which, text);
    };
    hooks.onProgress = [this, which](const search::Progress& progress) {
      if (hooks_.onProgress) hooks_.onProgress(which, progress);
    };
    Result<std::unique_ptr<Tuner>> tuner =
        Tuner::open(requests_[which], target_, device_, log_, std::move(hooks));
    if (tuner.ok()) {
      tuners_[which] = std::move(tuner).value();
    } else {
      fail(which, tuner.error());
    }
  }

  /// Takes up what the log has of one that had no turn.
  void replay(std::size_t which) {
    Result<search::End> end = tuners_[which]->advance(tuners_[which]->recorded(), 0);
    if (!end.ok()) fail(which, end.error());
  }

  void turn(std::size_t which) {
    Tuner& tuner = *tuners_[which];
    const bool first = tuner.preparing() == 0;
    const Stopwatch watch;
    const search::Progress before = tuner.progress();
    Result<search::End> end =
        tuner.advance(requests_[which].budget.trials, turnSeconds(which, first));
    if (!end.ok()) {
      fail(which, end.error());
      return;
    }
    const search::Progress after = tuner.progress();
    // What the first turn gains is what the plain program leaves; not where the log had some of it.
    const bool fresh = first && tuner.recorded() == 0;
    shares_.report(which, watch.seconds(), fresh ? after.baseline : before.best, after.best);
    if (hooks_.onTurn) hooks_.onTurn(which, after, std::max(0.0, left()));
    if (*end != search::End::seconds) finish(which, *end);
  }

  void fail(std::size_t which, const Error& error) {
    shares_.done(which);
    outcomes_[which] = error;
    tuners_[which].reset();
  }

  void finish(std::size_t which, search::End end) {
    shares_.done(which);
    Result<Tuned> tuned = tuners_[which]->finish(end);
    if (!tuned.ok()) {
      fail(which, tuned.error());
      return;
    }
    busy_ = busy_ || tuned->deviceBusy;
    outcomes_[which] = std::move(tuned).value();
    tuners_[which].reset();
  }

  const std::vector<Request>& requests_;
  double seconds_;
  const target::Target& target_;
  transport::Device& device_;
  log::Log& log_;
  const SuiteHooks& hooks_;
  const Stopwatch watch_;
  std::vector<std::unique_ptr<Tuner>> tuners_;
  std::vector<std::optional<SuiteOutcome>> outcomes_;
  Shares shares_;
  bool busy_ = false;  ///< A kernel that doesn't return holds the device.
};

}  // namespace

std::vector<SuiteOutcome> tuneSuite(const std::vector<Request>& requests, double seconds,
                                    const target::Target& target, transport::Device& device,
                                    log::Log& log, const SuiteHooks& hooks) {
  return Suite(requests, seconds, target, device, log, hooks).run();
}

}  // namespace dojo::tune
