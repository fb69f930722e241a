// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The agent as a strategy: it plays, and goes on learning from what it is told.
#pragma once

#include <optional>
#include <vector>

#include "agent/play/agent.h"
#include "search/strategies/walk.h"

namespace dojo::agent {

struct PlayOptions {
  std::size_t chains = 4;      ///< Plays that go on side by side.
  std::size_t successors = 3;  ///< That a step chooses among, besides stopping.
  std::size_t longest = 8;     ///< Steps of a play; then it begins anew.
  /// Where a play begins: at one of so many best states, or (`fresh` of them) at the start.
  std::size_t elite = 8;
  double fresh = 0.2;
  std::size_t learnEvery = 1;  ///< Trials to a step of learning; 0: none.
};

/// All of them as a line: equal options have equal lines.
[[nodiscard]] std::string describe(const PlayOptions& options);

/// What became of the agent's own time.
struct PlayCounts {
  std::int64_t steps = 0, stops = 0, learned = 0;
  double loss = 0;  ///< Of the last step of learning.
  /// What ended learning or reading, if anything did; the play then goes on at random.
  Status trouble;
};

/// Plays go on side by side. At a step some successors of the state are drawn, and the learner
/// chooses one, which is measured, or stops.
class PerfLlm final : public search::Walk {
 public:
  /// `agent` outlives this.
  PerfLlm(const search::Problem& problem, Agent& agent, const PlayOptions& options);

  [[nodiscard]] int lookahead() const override { return static_cast<int>(options_.chains); }
  [[nodiscard]] const PlayCounts& counts() const { return counts_; }

 protected:
  std::optional<search::Position> attempt(std::int64_t index) override;
  void scored(std::int64_t index, search::Position position, double score) override;
  void revisited(std::int64_t index, const search::Position& position, double score) override;

 private:
  /// A play.
  struct Chain {
    search::Position at;
    double score = search::kFailed;  ///< Of where it is.
    std::size_t steps = 0;
    StepJoiner joiner;
    std::optional<Step> chosen;  ///< The step whose outcome is awaited.
  };
  struct State {
    search::Position at;
    double score;
  };

  Chain& chainOf(std::int64_t index) {
    return chains_[static_cast<std::size_t>(index) % options_.chains];
  }
  void begin(Chain& chain);
  void finish(Chain& chain, Step step);
  /// What came of the step that the chain chose.
  void came(Chain& chain, const search::Position& position, double score);
  void learn();

  Agent& agent_;
  PlayOptions options_;
  TargetFeatures target_;
  double startScore_ = search::kFailed;
  std::vector<State> best_;  ///< The elite, best first.
  std::vector<Chain> chains_;
  PlayCounts counts_;
  std::int64_t trials_ = 0;
};

}  // namespace dojo::agent
