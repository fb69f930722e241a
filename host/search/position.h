// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A point of the search: a program with the calls (moves and composites) that led to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/composite.h"
#include "search/evaluator.h"
#include "search/random.h"

namespace dojo::search {

class Position {
 public:
  struct Step {
    moves::Move call;
    moves::Trace moves;  ///< What the call expanded to.
    StatePtr after;
  };

  Position(StatePtr start, moves::Trace startTrace)
      : start_(std::move(start)), startTrace_(std::move(startTrace)) {}

  [[nodiscard]] const StatePtr& state() const {
    return steps_.empty() ? start_ : steps_.back().after;
  }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// Without any step.
  [[nodiscard]] Position origin() const { return {start_, startTrace_}; }
  [[nodiscard]] Candidate toCandidate() const;

  /// Adds a call; false where it's refused.
  bool add(const moves::Move& call);
  /// This position with step `index` replaced by `call` (or left out), and the later steps made
  /// again as far as they're still possible. nullopt where the replacement is refused.
  [[nodiscard]] std::optional<Position> revised(std::size_t index,
                                                const std::optional<moves::Move>& call) const;

 private:
  StatePtr start_;
  moves::Trace startTrace_;
  std::vector<Step> steps_;
};

/// True where the target can run the program and its code isn't so large that compiling it would
/// cost more than it can bring.
[[nodiscard]] bool worthTrying(const moves::State& state);

/// Vector operations that one call executes, roughly.
[[nodiscard]] double operationsOf(const moves::State& state);

/// A random move somewhere: a place is picked, then one of the moves applicable there.
[[nodiscard]] std::optional<moves::Move> randomMove(const moves::State& state, Random& random);

/// A random change of a position: a composite or some moves more, another knob for one of its
/// composites, a step less, or a fresh start with a composite. The result is worth trying.
/// nullopt: this attempt led nowhere.
[[nodiscard]] std::optional<Position> randomNeighbour(const Position& from, Random& random);

}  // namespace dojo::search
