// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Places in a program, walking it, and renaming what it mentions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace dojo::ir {

/// Child positions from the root: `@1.0` is {1, 0}. The empty path `@` is the whole program.
using Path = std::vector<int>;

[[nodiscard]] std::string toString(const Path& path);           ///< "@1.0"
[[nodiscard]] std::optional<Path> parsePath(std::string_view);  ///< nullopt where malformed.

/// The node at `path`, or nullptr where there is none (also for the empty path).
[[nodiscard]] const Node* find(const Program& program, const Path& path);
[[nodiscard]] Node* find(Program& program, const Path& path);
/// The siblings among which `path` stands, or nullptr. `path` must not be empty; its last position
/// may be one past the end (a place to insert).
[[nodiscard]] std::vector<Node>* siblings(Program& program, const Path& path);
[[nodiscard]] const std::vector<Node>* siblings(const Program& program, const Path& path);

/// A node with its place, in program order (parents before children). `enclosing` are the scopes
/// around it, outermost first: enclosing[k] binds {k}.
struct Visit {
  const Node* node;
  Path path;
  std::vector<const Node*> enclosing;
};
/// Every node of the program; `visit` returns false to stop descending into a node.
void walk(const Program& program, const std::function<bool(const Visit&)>& visit);
[[nodiscard]] std::vector<Path> allPaths(const Program& program);

/// How an access touches its buffer.
enum class Touch : std::uint8_t { read, write };
/// Calls `fn(access, touch)` for everything a leaf touches, in execution order: operand reads
/// (gather index buffers included, as accesses of their own), the read of dst by a reduction, the
/// write of dst. For a scope (not its body): the reads of a data-dependent extent.
void forEachAccess(const Node& node, const std::function<void(const Access&, Touch)>& fn);

/// Calls `fn` on every affine expression of the node and its body: indices, gather indices, index
/// operands, guards, data-dependent extents.
void forEachAffine(Node& node, const std::function<void(Affine&)>& fn);
void forEachAffine(const Node& node, const std::function<void(const Affine&)>& fn);
/// Calls `fn` on every access of the node and its body for rewriting.
void forEachAccessMutable(Node& node, const std::function<void(Access&)>& fn);

/// Replaces variable `var` in node and body.
void substitute(Node& node, int var, const Affine& replacement);
/// Adds `delta` to every variable >= `from` in node and body: what a node needs when a scope is
/// put around it (delta 1, from = the depth of the new scope) or taken away (delta -1).
void shiftVariables(Node& node, int from, int delta);
/// Renames buffers: id -> map(id).
void renameBuffers(Node& node, const std::function<BufferId(BufferId)>& map);
/// True where node or body mentions variable `var` / buffer `id`.
[[nodiscard]] bool mentionsVariable(const Node& node, int var);
[[nodiscard]] bool mentionsBuffer(const Node& node, BufferId id);

/// The values that the variable of a scope can take, [lo, hi); hi <= lo: never. For data-dependent
/// extents these come from the declared values of the index buffer.
struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool operator==(const Interval&) const = default;
};
[[nodiscard]] Interval variableRange(const Program& program, const Scope& scope);
/// The values of an affine expression over the ranges of its variables (ranges[k] for {k}), as
/// [lo, hi); guards are not considered.
[[nodiscard]] Interval valueRange(const Affine& expr, const std::vector<Interval>& ranges);

/// Number of nodes, leaves and scopes.
[[nodiscard]] std::size_t nodeCount(const Program& program);

}  // namespace dojo::ir
