// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A chain of moves being made: what composites are written with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/move.h"
#include "moves/rule.h"

namespace dojo::search {

using StatePtr = std::shared_ptr<const moves::State>;

class Script {
 public:
  explicit Script(StatePtr start) : state_(std::move(start)) {}

  /// Applies a move. False where it's refused (refusal() says why); the program then stays.
  bool apply(std::string_view name, std::vector<moves::Arg> args);
  [[nodiscard]] const Error& refusal() const { return refusal_; }
  /// Sets refusal() and returns false: for preconditions of a composite itself.
  bool refuse(std::string message);

  [[nodiscard]] const StatePtr& state() const { return state_; }
  [[nodiscard]] const ir::Program& program() const { return state_->program(); }
  [[nodiscard]] const target::Target& target() const { return state_->target(); }
  [[nodiscard]] const moves::Trace& trace() const { return trace_; }

 private:
  StatePtr state_;
  moves::Trace trace_;
  Error refusal_;
};

/// \name Looking at a program
/// @{
[[nodiscard]] ir::Path child(ir::Path path, int index);
/// The scope at `path`, or nullptr where there is a leaf or nothing.
[[nodiscard]] const ir::Scope* scopeAt(const ir::Program& program, const ir::Path& path);
/// The extent of a scope that may still be worked on: constant, unmapped, without a guard; else 0.
[[nodiscard]] std::int64_t freeExtent(const ir::Program& program, const ir::Path& path);
/// The variable that the scope at `path` binds.
[[nodiscard]] inline int variableOf(const ir::Path& path) {
  return static_cast<int>(path.size()) - 1;
}
/// Paths of all leaves at or below `path`, in order.
[[nodiscard]] std::vector<ir::Path> leavesBelow(const ir::Program& program, const ir::Path& path);
/// Paths of all scopes at or below `path`, in order.
[[nodiscard]] std::vector<ir::Path> scopesBelow(const ir::Program& program, const ir::Path& path);
/// Elements in one vector register of the widest dtype that is touched at or below `path`; 1
/// without vectors.
[[nodiscard]] int lanesFor(const ir::Program& program, const ir::Path& path,
                           const target::Target& target);
/// Values that a loop at `path` can keep in registers: vectors, or scalars where there are none.
[[nodiscard]] int registersFor(const ir::Program& program, const ir::Path& path,
                               const target::Target& target);
/// The width of blocks of `vectors` vectors along a loop: that many whole ones, or rather less in
/// the last where all blocks are then alike and as many as before.
[[nodiscard]] std::int64_t blockWidth(std::int64_t extent, std::int64_t vectors,
                                      std::int64_t lanes);
/// True where an index of the access uses `var`, gathers included.
[[nodiscard]] bool uses(const ir::Access& access, int var);
/// @}

/// \name Small chains
/// @{
/// Contracts every product that is only added, at or below `path`. Never fails.
void contractBelow(Script& script, const ir::Path& path);
/// Gives the tmps that the node at `part` shares with others for nothing ones of its own: what a
/// loop keeps in registers is private to it only then. Never fails.
void separate(Script& script, const ir::Path& part);
/// Maps the scope at `path` to lanes; without vectors its iterations stand in a row instead.
bool layOut(Script& script, const ir::Path& path);
/// Unrolls scopes at or below `path` that carry no mapping and have at most `most` iterations,
/// innermost first. Never fails.
void unrollBelow(Script& script, const ir::Path& path, std::int64_t most);
/// @}

}  // namespace dojo::search
