// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Deep Q-learning of what to do to a program. Every part has a switch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/learn/qnetwork.h"
#include "agent/learn/replay.h"
#include "agent/nn/adam.h"
#include "agent/store/archive.h"
#include "base/result.h"

namespace dojo::agent {

struct LearnerOptions {
  std::uint64_t seed = 1;
  QOptions network;  ///< Dueling streams, noisy layers.
  ReplayOptions replay;
  /// The next choice is the network's, its value that of the slow copy (arXiv 1509.06461); else the
  /// slow copy does both.
  bool doubleTargets = true;
  /// The best reward on the way counts, max(r, gamma max Q') (arXiv 2010.03744); else their sum.
  bool maxReward = true;
  std::size_t steps = 3;  ///< That a target looks ahead before it asks the network; 1 and more.
  double gamma = 0.97;
  /// How far the slow copy moves with every step of learning; 0: it is made anew every `period`.
  double follow = 0.005;
  std::int64_t period = 500;
  std::size_t batch = 32;
  float bend = 1;  ///< Of the loss: larger errors count in proportion.
  AdamOptions adam = {.rate = 3e-4, .clip = 10};
  /// Without noisy layers: the chance of a choice at random, at first and after so many choices.
  double epsilon = 1, leastEpsilon = 0.05;
  std::int64_t epsilonSteps = 2000;
};

/// All of them as a line: equal options have equal lines.
[[nodiscard]] std::string describe(const LearnerOptions& options);

/// The value of an experience: what its steps brought and, where play went on, `next`, the value of
/// what could be done then.
[[nodiscard]] double targetOf(const std::vector<std::optional<double>>& rewards,
                              std::optional<double> next, double gamma, bool maxReward);

class Learner {
 public:
  explicit Learner(const LearnerOptions& options);

  [[nodiscard]] const LearnerOptions& options() const { return options_; }
  [[nodiscard]] Shelf& shelf() { return shelf_; }
  [[nodiscard]] const Replay& replay() const { return replay_; }

  /// The value of each choice, without noise. All programs must be on the shelf.
  [[nodiscard]] std::vector<double> values(const Situation& situation);
  /// A choice to try: the best under the noise of the moment, or now and then any.
  [[nodiscard]] std::size_t explore(const Situation& situation);
  /// The same where something else has an opinion of the choices: of both values that one counts by
  /// `trust`, and the network's by what is left.
  [[nodiscard]] std::size_t explore(const Situation& situation, const std::vector<double>& beside,
                                    double trust);

  void remember(Experience experience) { replay_.add(std::move(experience)); }
  /// Takes programs from the shelf that no memory speaks of.
  void tidy();
  /// One step of learning from a batch; the mean loss, 0 while there is too little to draw from.
  /// Error "agent.nan": nothing was changed.
  [[nodiscard]] Result<double> learn();
  [[nodiscard]] std::int64_t learned() const { return adam_.steps(); }

  /// The target values of experiences, as learn() takes them.
  [[nodiscard]] std::vector<double> targets(const std::vector<const Experience*>& experiences);

  /// All that going on takes: networks, replay, the shelf, counters.
  void save(Archive& archive) const;
  /// The networks alone, as f16.
  void saveForPlay(Archive& archive) const;
  /// Either, into a learner of equal options. Errors: "agent.shape", "agent.damaged".
  [[nodiscard]] Status load(const Archive& archive);

  [[nodiscard]] QNetwork& online() { return online_; }
  [[nodiscard]] QNetwork& slow() { return slow_; }

 private:
  [[nodiscard]] std::vector<double> valuesBy(QNetwork& network, const Situation& situation);

  LearnerOptions options_;
  /// New numbers for the next thing to draw: which they are follows from the seed and from how
  /// often that happened, and is kept by a checkpoint as that.
  [[nodiscard]] search::Random fresh();
  std::int64_t fresh_ = 0;
  QNetwork online_, slow_;
  Adam adam_;
  Replay replay_;
  Shelf shelf_;
  std::int64_t choices_ = 0;
};

}  // namespace dojo::agent
