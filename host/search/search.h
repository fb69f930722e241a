// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Runs a strategy against an evaluator within a budget.
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
#include "search/history.h"
#include "search/strategy.h"

namespace dojo::search {

struct Budget {
  std::int64_t trials = 1000;  ///< Outcomes, the start program included.
  double seconds = std::numeric_limits<double>::infinity();
};

/// A trial that a log holds already: its outcome is taken from there, not measured again.
struct Recorded {
  std::string text;  ///< Of the program.
  Outcome outcome;
};

struct Progress {
  std::int64_t trials = 0;    ///< Outcomes so far.
  std::int64_t measured = 0;  ///< Of these, in this process.
  double seconds = 0;
  double baseline = 0;  ///< Cycles of the plain program; 0 where it failed.
  double best = 0;      ///< Cycles of the best so far; 0 where there is none.
};

enum class End : std::uint8_t { trials, seconds, exhausted, stopped };
[[nodiscard]] std::string_view name(End end);

class Search {
 public:
  struct Hooks {
    /// A new outcome (not for recorded ones), before the strategy hears of it. May replace the
    /// outcome by one that another process logged first. An error ends the search.
    std::function<Status(std::int64_t index, const Candidate&, Outcome&)> onOutcome;
    std::function<void(const Progress&)> onProgress;
  };

  /// Trial 0 is the plain program, whatever the strategy, then comes the start program where it's
  /// another. `recorded` are the first trials of the same search, in order.
  Search(Problem problem, Strategy& strategy, std::vector<Recorded> recorded = {},
         Clock& clock = systemClock());

  /// Searches until there are `budget.trials` outcomes in all, or for `budget.seconds` from now,
  /// and leaves nothing with the evaluator. Called again, with another evaluator if need be, it
  /// goes on: the path of a search doesn't depend on where it paused. Errors: "search.recorded"
  /// where the log's trials aren't those of this search, and what `onOutcome` returned.
  [[nodiscard]] Result<End> run(Evaluator& evaluator, const Budget& budget, const Hooks& hooks);

  /// Has the strategy hear of what it hasn't heard of yet; nothing is run after.
  void settle();

  /// What the strategy knows: all outcomes once the search is settled.
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] Progress progress() const;

 private:
  [[nodiscard]] std::optional<Candidate> propose();
  [[nodiscard]] Status enter(Candidate next, Evaluator& evaluator);
  /// Takes the oldest outcome that the evaluator has; false where it was stopped.
  [[nodiscard]] Result<bool> collect(Evaluator& evaluator, const Hooks& hooks);
  void report();
  [[nodiscard]] std::int64_t known() const {
    return reported_ + static_cast<std::int64_t>(held_.size());
  }

  Problem problem_;
  Strategy& strategy_;
  Clock& clock_;
  History history_;
  std::deque<Recorded> recorded_;  ///< Those that weren't proposed yet.
  /// Outcomes that the strategy hasn't heard of: always as many are open when it proposes.
  std::deque<Outcome> held_;
  double seconds_ = 0;             ///< Of earlier calls of run().
  std::optional<double> started_;  ///< While it runs.
  std::int64_t reported_ = 0;
  std::int64_t measured_ = 0;
};

}  // namespace dojo::search
