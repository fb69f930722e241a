// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What strategies that walk over positions have in common: the expert's program and what fits of
/// other shapes are proposed first, nothing is proposed twice, what executes far too many
/// operations isn't proposed while there is something better, and each position comes back with its
/// score.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "search/position.h"
#include "search/strategy.h"

namespace dojo::search {

class Walk : public Strategy {
 public:
  explicit Walk(const Problem& problem);
  [[nodiscard]] std::optional<Candidate> propose(const History& history) final;
  void report(const History& history, std::int64_t index) final;
  [[nodiscard]] std::int64_t pruned() const final { return pruned_; }

 protected:
  /// A position that may be worth measuring, for trial `index`; nullopt: this attempt led nowhere.
  virtual std::optional<Position> attempt(std::int64_t index) = 0;
  /// The score of what was proposed as trial `index`, or of the start (which has no steps); kFailed
  /// where it failed.
  virtual void scored(std::int64_t index, Position position, double score) = 0;
  /// An attempt for trial `index` that led to a program which was measured before.
  virtual void revisited(std::int64_t /*index*/, const Position& /*position*/, double /*score*/) {}

  Random random_;
  const Position start_;

 private:
  struct Drawn {
    Position at;
    Candidate candidate;
  };

  /// The next that is worth measuring; `among`: those drawn before it for the same trial.
  std::optional<Drawn> draw(const History& history, const std::vector<Candidate>& among);
  void learn(const Position& position, const Outcome& outcome);
  [[nodiscard]] bool hopeless(const Position& position) const;

  double bestRate_ = 0;  ///< Operations a cycle, the most that any program reached.
  double bestCycles_ = 0;
  std::int64_t pruned_ = 0;
  std::shared_ptr<Ranker> ranker_;
  std::deque<Drawn> spare_;     ///< Drawn, but something else was preferred.
  std::deque<Position> first_;  ///< What is proposed first: the expert's, and what fits of others.
  std::map<std::int64_t, Position> pending_;
};

}  // namespace dojo::search
