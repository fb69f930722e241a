// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The game: a program, the moves that it allows, steps forward and back, and measuring when the
/// player wants to know. People, searches, agents and other programs all play this one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/outcome.h"
#include "base/result.h"
#include "moves/move.h"
#include "search/composite.h"
#include "search/evaluator.h"
#include "search/history.h"

namespace dojo::search {

/// What measuring a state told.
struct Reward {
  Outcome outcome;
  double baselineCycles = 0;  ///< Of the untransformed program; 0 where it failed.
  double reward = 0;          ///< Baseline cycles over cycles; 0 for a failure.
};

class Environment {
 public:
  /// `evaluator` may be null: then measure() refuses. `target` and `evaluator` outlive this.
  Environment(ir::Program start, const target::Target& target, Evaluator* evaluator);

  [[nodiscard]] const ir::Program& program() const { return state_->program(); }
  [[nodiscard]] const moves::State& moveState() const { return *state_; }
  [[nodiscard]] std::string state() const;   ///< Canonical text.
  [[nodiscard]] moves::Trace trace() const;  ///< From the start, atomic moves.
  [[nodiscard]] std::vector<moves::Move> moves() const;
  [[nodiscard]] std::vector<moves::Move> movesAt(const ir::Path& place) const;

  /// A move or a composite, as text or value. What follows undone steps is forgotten.
  [[nodiscard]] Status step(std::string_view call);
  [[nodiscard]] Status step(const moves::Move& call);
  /// A whole trace as one step; all or nothing.
  [[nodiscard]] Status steps(const moves::Trace& trace);
  [[nodiscard]] Status undo();  ///< "environment.start" where there is nothing to undo.
  [[nodiscard]] Status redo();  ///< "environment.end" where nothing was undone.
  void restart();               ///< Back to the start program; redo() doesn't lead back.

  /// Measures this state, and first of all the start program, each text at most once.
  /// Errors: "environment.no-device" without an evaluator, "environment.stopped".
  [[nodiscard]] Result<Reward> measure();

 private:
  struct Step {
    StatePtr before;
    moves::Trace moves;
    StatePtr after;
  };
  [[nodiscard]] Result<Outcome> outcomeOf(const StatePtr& state, moves::Trace trace);

  StatePtr start_, state_;
  Evaluator* evaluator_;
  std::vector<Step> done_, undone_;
  History history_;
};

}  // namespace dojo::search
