// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Are the moves sound? Random programs, random chains of applicable moves, every step executed and
/// compared with the start, and undone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::proof {

/// How a move can be wrong.
enum class Flaw : std::uint8_t {
  refused,    ///< Listed as applicable, but apply() refuses it.
  text,       ///< The text of the result doesn't read back as the result.
  invalid,    ///< The result breaks a rule of the language (check), or that can't be decided.
  different,  ///< The result computes something else, or reads what isn't written.
  undo,       ///< The way back doesn't give the first text again.
};
[[nodiscard]] std::string_view name(Flaw flaw);

/// A wrong step, shrunk.
struct MoveFailure {
  Flaw flaw = Flaw::different;
  ir::Program program;  ///< Minimal.
  moves::Move move;
  std::string detail;  ///< One sentence.
  /// Program, move and result as text, to be pasted into a test.
  [[nodiscard]] std::string text() const;
  std::string result;  ///< Text of the result, where there is one.
};

struct MoveCount {
  std::string name;
  std::int64_t applied = 0;
};

struct ProofOptions {
  std::int64_t moves = 20000;
  std::uint64_t seed = 1;
  int chain = 12;        ///< Most moves from one start program.
  int mostFailures = 1;  ///< Ends after so many.
  bool shrink = true;
  int jobs = 1;  ///< Threads, each with seeds of its own.
};

/// How often each move must be applied in a run of so many: enough to mean something, as far as
/// the run is long enough for that. Steered to the rarest moves, runs get there.
[[nodiscard]] std::int64_t leastApplications(std::int64_t moves);

struct ProofReport {
  std::int64_t moves = 0;  ///< Applied, compared and undone.
  std::int64_t programs = 0;
  std::int64_t undecided = 0;     ///< Questions that the solver left open.
  std::vector<MoveCount> counts;  ///< In catalogue order.
  std::vector<MoveFailure> failures;
};

/// What is wrong with one step, if anything.
struct StepResult {
  std::optional<Flaw> flaw;
  std::string detail;
  ir::Program after;
};
/// Applies `move` to a valid program and looks at all that can be wrong. `inputSeed` chooses inputs
/// and the orders of concurrent iterations.
[[nodiscard]] StepResult proveStep(const ir::Program& before, const target::Target& target,
                                   const moves::Move& move, std::uint64_t inputSeed);

/// The target with all that moves may ask of one: whether they are sound doesn't depend on what it
/// has.
[[nodiscard]] target::Target withEverything(target::Target target);

/// The same on every run for the same options. `progress` is called after each start program with
/// what is done, by one thread at a time; it may return false to stop.
[[nodiscard]] ProofReport proveMoves(const target::Target& target, const ProofOptions& options,
                                     const std::function<bool(const ProofReport&)>& progress = {});

}  // namespace dojo::proof
