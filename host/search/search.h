// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Runs a strategy against an evaluator within a budget.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

  Search(Problem problem, Strategy& strategy, Evaluator& evaluator, Clock& clock = systemClock());

  /// Trial 0 is the plain program, whatever the strategy, then comes the start program where it's
  /// another. `recorded` are the first trials of the
  /// same search, in order. Errors: "search.recorded" where the log's trials aren't those of this
  /// search, and what `onOutcome` returned.
  [[nodiscard]] Result<End> run(const Budget& budget, const std::vector<Recorded>& recorded,
                                const Hooks& hooks);

  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] Progress progress() const;

 private:
  [[nodiscard]] std::optional<Candidate> propose();

  Problem problem_;
  Strategy& strategy_;
  Evaluator& evaluator_;
  Clock& clock_;
  History history_;
  double started_ = 0;
  std::int64_t reported_ = 0;
  std::int64_t measured_ = 0;
};

}  // namespace dojo::search
