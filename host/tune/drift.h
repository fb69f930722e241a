// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Watches whether the device keeps its pace: the best so far is measured again now and then.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "log/log.h"
#include "search/evaluator.h"

namespace dojo::tune {

/// The reference took another time than before, beyond the spread of both, twice in a row.
struct Drift {
  std::int64_t from = 0, to = 0;  ///< Trials [from, to) were made since it was as before.
  double factor = 1;              ///< How many times as long it takes.
  double spread = 0;              ///< What would have been noise.
  bool operator==(const Drift&) const = default;
};
/// "trials 40 to 79: the reference takes 1.12 times as long (3.4% would be noise)"
[[nodiscard]] std::string describe(const Drift& drift);

/// Hands candidates on, and every so often the best one of them a second time. What is compared of
/// the outcomes (Measurement::score) is relative to the fresh reference: after a drift, scores are
/// as though the device had kept the pace of the first. Samples and cycles stay as measured. The
/// trials of Drift::from to Drift::to, during which the pace changed, may be off by the factor.
class DriftWatch final : public search::Evaluator {
 public:
  struct Options {
    std::int64_t everyTrials = 64;
    double everySeconds = 10;
    /// Less than this is never a drift.
    double least = 0.03;
    std::int64_t firstTrial = 0;  ///< The index of the first candidate.
    double pace = 1;              ///< The product of the factors of earlier drifts.
    /// A reference from earlier and its score, the first to be looked at.
    std::optional<search::Candidate> reference;
    double referenceScore = 0;
  };
  DriftWatch(search::Evaluator& inner, Options options, std::function<Status(const Drift&)> onDrift,
             Clock& clock = systemClock());

  [[nodiscard]] int depth() const override { return inner_.depth(); }
  void submit(const search::Candidate& candidate) override;
  std::optional<Outcome> next() override;

  [[nodiscard]] std::int64_t looks() const { return looks_; }
  /// What onDrift returned, if that was an error.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void looked(const Outcome& outcome);
  void tried(const search::Candidate& candidate, Outcome& outcome);
  [[nodiscard]] bool due();

  struct Flying {
    search::Candidate candidate;
    bool reference = false;
  };
  search::Evaluator& inner_;
  Options options_;
  std::function<Status(const Drift&)> onDrift_;
  Clock& clock_;
  std::deque<Flying> flying_;
  double score_ = 0, spread_ = 0;  ///< Of the reference, as measured.
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t given_ = 0;     ///< Trials whose outcomes were handed on.
  std::int64_t lookedAt_ = 0;  ///< Trials when the reference was last as expected.
  std::int64_t askedAt_ = 0;   ///< Trials when it was last measured or asked for.
  double askedTime_ = 0;
  bool asked_ = false;               ///< The reference is in flight.
  std::optional<double> suspicion_;  ///< The factor of the first of two looks.
  double suspectSpread_ = 0;
  std::int64_t looks_ = 0;
  Status status_;
};

/// \name The drifts of a run, kept in the log
/// @{
[[nodiscard]] Status keepDrift(log::Log& log, const log::Run& run, const Drift& drift);
[[nodiscard]] Result<std::vector<Drift>> keptDrifts(const log::Log& log, const log::Run& run);
/// @}

}  // namespace dojo::tune
