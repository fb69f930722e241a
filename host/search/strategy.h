// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How to choose the next candidate. A strategy is deterministic given its seed and the outcomes
/// that were reported to it, in order: that is what lets a search resume from a log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "search/evaluator.h"
#include "search/history.h"
#include "search/ranker.h"
#include "target/target.h"

namespace dojo::search {

/// What a strategy starts from.
struct Problem {
  ir::Program plain;
  ir::Program start;        ///< Mostly the plain program itself.
  moves::Trace startTrace;  ///< Leads from `plain` to `start`.
  const target::Target* target = nullptr;
  std::uint64_t seed = 1;
  std::int64_t trials = 1000;  ///< The budget; schedules are laid out over it.
  bool expert = true;          ///< The expert's schedule is the first candidate after the start.
  /// Schedules of the same kernel elsewhere, tried next as far as they fit, from `plain`; only
  /// where the search starts there too.
  std::vector<moves::Trace> warm = {};
  /// Of several candidates that a strategy draws the one that this prefers is measured; nullptr:
  /// each that is drawn.
  std::shared_ptr<Ranker> ranker = nullptr;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A lowerable candidate that `history` doesn't know, or nullopt: there is nothing left that this
  /// strategy would try. When proposal k is asked for, the outcomes of exactly the first
  /// k + 1 - lookahead() have been reported.
  [[nodiscard]] virtual std::optional<Candidate> propose(const History& history) = 0;
  /// The outcome of proposal `index`; called in order, also for the trials that the search itself
  /// proposes first: the plain program, and the start program where that's another.
  virtual void report(const History& history, std::int64_t index) = 0;
  /// Proposals that may be made before the first one's outcome is known.
  [[nodiscard]] virtual int lookahead() const { return 4; }
  /// Programs that were left out as certainly slow, without compiling them.
  [[nodiscard]] virtual std::int64_t pruned() const { return 0; }
};

/// Everything about a strategy that the command line shows.
struct StrategyInfo {
  std::string_view name;
  std::string_view description;
  std::unique_ptr<Strategy> (*make)(const Problem& problem);
};
[[nodiscard]] const std::vector<StrategyInfo>& strategies();
/// Error: "search.strategy" (with the nearest name).
[[nodiscard]] Result<std::unique_ptr<Strategy>> makeStrategy(const std::string& name,
                                                             const Problem& problem);

std::unique_ptr<Strategy> makeRandom(const Problem& problem);
std::unique_ptr<Strategy> makeGreedy(const Problem& problem);
std::unique_ptr<Strategy> makeAnnealing(const Problem& problem);
std::unique_ptr<Strategy> makeBeam(const Problem& problem);
std::unique_ptr<Strategy> makeEvolution(const Problem& problem);

}  // namespace dojo::search
