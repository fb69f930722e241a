// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The agent as a strategy: it plays, and goes on learning from what it is told.
#pragma once

#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "agent/play/agent.h"
#include "agent/play/cost_model.h"
#include "agent/play/proposer.h"
#include "search/strategies/walk.h"

namespace dojo::agent {

struct PlayOptions {
  std::size_t chains = 4;      ///< Plays that go on side by side.
  std::size_t successors = 2;  ///< That a step chooses among, besides stopping.
  std::size_t longest = 4;     ///< Steps of a play; then it begins anew.
  std::size_t elite = 8;       ///< Plays begin at one of so many best states, mostly the first.
  double fresh = 0.05;         ///< Of the plays begin at the start.
  std::size_t learnEvery = 6;  ///< Trials to a step of learning; 0: nothing is learned.
  /// Schedules of other games are tried first, for so much of the budget at most.
  double openings = 0.2;
  bool guided = true;  ///< What is drawn is guided by what has worked.
  bool choose = true;  ///< The learner chooses among successors; else the first is taken.
  bool model = true;   ///< What was measured in this game is asked, too.
  /// Outcomes after which the model counts as much as the network.
  double trusted = 12;
  std::size_t stops = 3;  ///< In a row at the beginning of a play: choices that were all left.
  bool operator==(const PlayOptions&) const = default;
};

/// All of them as a line: equal options have equal lines.
[[nodiscard]] std::string describe(const PlayOptions& options);

/// What became of the agent's own time.
struct PlayCounts {
  std::int64_t steps = 0, stops = 0, learned = 0;
  std::int64_t openings = 0;  ///< Schedules of other games that were tried.
  double loss = 0;            ///< Of the last step of learning.
  /// What ended learning or reading, if anything did; the play then goes on at random.
  Status trouble;
};

/// First what was best in games like this one; then plays go on side by side from the best so far.
/// At a step some successors of the state are drawn, and the learner chooses one, which is
/// measured, or stops.
class PerfLlm final : public search::Walk {
 public:
  /// `agent` outlives this.
  PerfLlm(const search::Problem& problem, Agent& agent, const PlayOptions& options);

  [[nodiscard]] int lookahead() const override { return static_cast<int>(options_.chains); }
  [[nodiscard]] const PlayCounts& counts() const { return counts_; }
  /// The best schedules so far into the agent's repertoire, as openings of `game`.
  void keepOpenings(const std::string& game);

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
    std::optional<Step> chosen;      ///< The step whose outcome is awaited.
    std::vector<std::string> kinds;  ///< What that step is made of.
  };
  struct State {
    search::Position at;
    double score;
  };

  Chain& chainOf(std::int64_t index) {
    return chains_[static_cast<std::size_t>(index) % options_.chains];
  }
  [[nodiscard]] double done(std::int64_t index) const;
  const State* elite(double late);
  void begin(Chain& chain, double late);
  void finish(Chain& chain, Step step);
  /// What came of the step that the chain chose.
  void came(Chain& chain, const search::Position& position, double score, double late);
  void learn();
  void open();
  std::optional<search::Position> opening(Chain& chain);
  [[nodiscard]] std::size_t choose(const Situation& here, const Chain& chain);

  Agent& agent_;
  PlayOptions options_;
  TargetFeatures target_;
  std::string targetName_;
  Proposer proposer_;
  double budget_;
  double startScore_ = search::kFailed;
  std::vector<State> best_;  ///< The elite, best first.
  std::vector<Chain> chains_;
  bool opened_ = false;
  std::deque<Draw> openings_;
  std::unordered_set<ProgramKey> proposed_;
  CostModel model_;
  PlayCounts counts_;
  std::int64_t trials_ = 0;
  std::size_t stopped_ = 0;  ///< Times in a row.
};

}  // namespace dojo::agent
