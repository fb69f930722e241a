// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What rules say and read all the time: arguments by position, refusals, scopes at places.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/tree.h"
#include "moves/rule.h"

namespace dojo::moves {

[[nodiscard]] inline const ir::Path& placeArg(const std::vector<Arg>& args, std::size_t i) {
  return std::get<ir::Path>(args[i]);
}
[[nodiscard]] inline std::int64_t numberArg(const std::vector<Arg>& args, std::size_t i) {
  return std::get<std::int64_t>(args[i]);
}
[[nodiscard]] inline const std::string& textArg(const std::vector<Arg>& args, std::size_t i) {
  return std::get<std::string>(args[i]);
}
[[nodiscard]] inline ir::BufferId bufferArg(const State& state, const std::vector<Arg>& args,
                                            std::size_t i) {
  return *state.program().find(textArg(args, i));
}

/// A refusal: `code` is "move.*", `message` one sentence.
[[nodiscard]] inline Error refuse(std::string code, std::string message, const ir::Path& place) {
  return Error{std::move(code), std::move(message), ir::toString(place), ""};
}

/// The place `steps` siblings further.
[[nodiscard]] inline ir::Path sibling(ir::Path place, int steps) {
  place.back() += steps;
  return place;
}
/// The place of child `k`.
[[nodiscard]] inline ir::Path child(ir::Path place, int k) {
  place.push_back(k);
  return place;
}
/// The place of the scope around (the empty path for the whole program).
[[nodiscard]] inline ir::Path parent(ir::Path place) {
  place.pop_back();
  return place;
}
/// The depth of a node: that of the variable which a scope there binds.
[[nodiscard]] inline int depthOf(const ir::Path& place) {
  return static_cast<int>(place.size()) - 1;
}

/// The scope at `place`, or nullptr where a leaf or nothing stands there.
[[nodiscard]] const ir::Scope* scopeAt(const ir::Program& program, const ir::Path& place);
/// Refuses ("move.shape") unless a scope stands at `place`.
[[nodiscard]] Status needsScope(const State& state, const ir::Path& place);
/// Refuses ("move.extent") unless a scope of constant extent stands at `place`.
[[nodiscard]] Status needsConstantExtent(const State& state, const ir::Path& place);
/// Refuses ("move.mapping") where the scope at `place` is mapped.
[[nodiscard]] Status needsUnmapped(const State& state, const ir::Path& place);
/// Refuses ("move.shape") unless a sibling follows.
[[nodiscard]] Status needsNextSibling(const State& state, const ir::Path& place);

/// True for a scope whose body is one scope alone.
[[nodiscard]] inline bool isPerfectPair(const ir::Node& node) {
  return node.isScope() && node.instruction < 0 && node.scope().body.size() == 1 &&
         node.scope().body.front().isScope() && node.scope().body.front().instruction < 0;
}
/// The most scopes on any way down from a node, itself included.
[[nodiscard]] int height(const ir::Node& node);

/// Takes the node at `place` out of the program.
[[nodiscard]] ir::Node extract(ir::Program& program, const ir::Path& place);
/// Puts a node at `place`, before what stands there.
void insert(ir::Program& program, const ir::Path& place, ir::Node node);

}  // namespace dojo::moves
