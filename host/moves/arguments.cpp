// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"

#include <algorithm>
#include <utility>

#include "moves/clause.h"

namespace dojo::moves {

const ir::Scope* scopeAt(const ir::Program& program, const ir::Path& place) {
  const ir::Node* node = ir::find(program, place);
  return node != nullptr && node->isScope() ? &node->scope() : nullptr;
}

Status needsScope(const State& state, const ir::Path& place) {
  if (scopeAt(state.program(), place) != nullptr) return {};
  return refuse("move.shape", "there is no scope at this place", place);
}

Status needsConstantExtent(const State& state, const ir::Path& place) {
  if (Status status = needsScope(state, place); !status) return status;
  if (DOJO_CLAUSE(scopeAt(state.program(), place)->extent.isConstant())) return {};
  return refuse("move.extent", "the extent of the scope depends on data", place);
}

Status needsUnmapped(const State& state, const ir::Path& place) {
  if (Status status = needsScope(state, place); !status) return status;
  if (DOJO_CLAUSE(scopeAt(state.program(), place)->mapping.none())) return {};
  return refuse("move.mapping", "the scope is mapped; unmap it first", place);
}

Status needsNextSibling(const State& state, const ir::Path& place) {
  if (ir::find(state.program(), sibling(place, 1)) != nullptr) return {};
  return refuse("move.shape", "nothing follows the node in its scope", place);
}

int height(const ir::Node& node) {
  if (node.isLeaf()) return 0;
  int most = 0;
  for (const ir::Node& inner : node.scope().body) most = std::max(most, height(inner));
  return most + 1;
}

ir::Node extract(ir::Program& program, const ir::Path& place) {
  std::vector<ir::Node>& level = *ir::siblings(program, place);
  const auto position = level.begin() + place.back();
  ir::Node node = std::move(*position);
  level.erase(position);
  return node;
}

void insert(ir::Program& program, const ir::Path& place, ir::Node node) {
  std::vector<ir::Node>& level = *ir::siblings(program, place);
  level.insert(level.begin() + place.back(), std::move(node));
}

}  // namespace dojo::moves
