// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Moves as values: a name, a place, parameters. `split_scope @1.0 16`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "target/target.h"

namespace dojo::moves {

/// A place, a number, or a name / quoted text.
using Arg = std::variant<ir::Path, std::int64_t, std::string>;

struct Move {
  std::string name;
  std::vector<Arg> args;
  bool operator==(const Move&) const = default;
};
using Trace = std::vector<Move>;

/// "split_scope @1.0 16"; strings with other than word characters are quoted.
[[nodiscard]] std::string toString(const Move& move);
[[nodiscard]] std::string toString(const Trace& trace);  ///< One move a line.
/// Syntax only; whether the name and arguments exist is asked of the catalogue. `#` starts a
/// comment. Errors: "move.syntax".
[[nodiscard]] Result<Move> parseMove(std::string_view line);
[[nodiscard]] Result<Trace> parseTrace(std::string_view text, const std::string& file);

class State;

/// Applies a move: finds its rule, checks arguments and precondition, rewrites, canonicalizes and
/// re-proves rule 4 for all mapped scopes and that shared storage loses no value. Errors:
/// "move.unknown" (with the nearest name), "move.arguments", "move.place", or the rule's refusal
/// ("move.dependence", ...): one sentence that says what stands in the way and where.
[[nodiscard]] Result<ir::Program> apply(const ir::Program& program, const target::Target& target,
                                        const Move& move);
[[nodiscard]] Result<ir::Program> apply(const State& state, const Move& move);
/// The moves that lead back: applied in order to `after` they give the text of `before` again.
[[nodiscard]] Trace undo(const ir::Program& before, const target::Target& target, const Move& move,
                         const ir::Program& after);
[[nodiscard]] Trace undo(const State& before, const Move& move, const ir::Program& after);
/// All of the trace in order; the error names the failing line of the trace.
[[nodiscard]] Result<ir::Program> replay(const ir::Program& program, const target::Target& target,
                                         const Trace& trace);
/// Everything applicable, in a fixed order (by rule, then place, then parameters).
[[nodiscard]] std::vector<Move> applicable(const ir::Program& program,
                                           const target::Target& target);
[[nodiscard]] std::vector<Move> applicable(const State& state);
/// What is applicable at one place (by rule, then parameters): all that random play asks. Moves on
/// a buffer are found at the leaf that is the first to write it. Over all places this is
/// applicable().
[[nodiscard]] std::vector<Move> applicableAt(const State& state, const ir::Path& place);
/// The same without asking any precondition; apply() answers.
[[nodiscard]] std::vector<Move> candidatesAt(const State& state, const ir::Path& place);

}  // namespace dojo::moves
