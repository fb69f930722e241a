// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What was tried, drawn again by how much there is to learn from it (arXiv 1511.05952).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/learn/qnetwork.h"
#include "agent/learn/sum_tree.h"
#include "search/random.h"

namespace dojo::agent {

/// One step of play.
struct Step {
  Situation from;
  std::size_t chosen = 0;        ///< Of from.choices.
  std::optional<double> reward;  ///< Of the state that it led to; nullopt: not measured.
  bool end = false;              ///< The play ended there.
};

/// Some steps in a row as one, from the first to where they led.
struct Experience {
  Situation from;
  std::size_t chosen = 0;
  std::vector<std::optional<double>> rewards;  ///< Of each step.
  /// What could be done at last; without choices where the play ended.
  Situation next;
  bool operator==(const Experience&) const = default;
};

struct ReplayOptions {
  std::size_t capacity = 20000;
  bool prioritized = true;        ///< Else all alike.
  double alpha = 0.6;             ///< How much priorities count.
  double beta = 0.4;              ///< How much weights make up for it at first, and 1 in the end.
  std::int64_t annealed = 10000;  ///< Draws until then.
};

class Replay {
 public:
  explicit Replay(const ReplayOptions& options);

  /// With the highest priority so far; when full, the oldest goes.
  void add(Experience experience);
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const Experience& at(std::size_t place) const { return all_[place]; }

  struct Drawn {
    std::size_t place;
    double weight;  ///< For the loss; the largest possible is 1.
  };
  /// `count` of them, one from each part of the whole mass; it mustn't be empty.
  [[nodiscard]] std::vector<Drawn> draw(std::size_t count, search::Random& random);
  /// The error of what was drawn.
  void update(std::size_t place, double error);
  [[nodiscard]] double beta() const;

  /// \name For checkpoints
  /// @{
  [[nodiscard]] double priority(std::size_t place) const { return tree_.weight(place); }
  [[nodiscard]] double highest() const { return highest_; }
  [[nodiscard]] std::int64_t draws() const { return draws_; }
  [[nodiscard]] std::size_t oldest() const { return next_; }
  void restore(std::vector<Experience> all, const std::vector<double>& priorities, double highest,
               std::int64_t draws, std::size_t oldest);
  /// @}

 private:
  ReplayOptions options_;
  std::vector<Experience> all_;
  std::size_t next_ = 0;  ///< Where the next goes.
  SumTree tree_;
  double highest_ = 1;  ///< Priority, already to the power of alpha.
  std::int64_t draws_ = 0;
};

/// Joins steps of one play into experiences of `n` steps; those at its end are shorter.
class StepJoiner {
 public:
  explicit StepJoiner(std::size_t n) : n_(n) {}
  /// What is complete with this step.
  [[nodiscard]] std::vector<Experience> add(Step step);

 private:
  std::size_t n_;
  std::vector<Step> open_;
};

}  // namespace dojo::agent
