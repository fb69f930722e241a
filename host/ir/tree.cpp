// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tree.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace dojo::ir {

std::string toString(const Path& path) {
  std::string out = "@";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) out += '.';
    out += std::to_string(path[i]);
  }
  return out;
}

std::optional<Path> parsePath(std::string_view text) {
  if (text.empty() || text.front() != '@') return std::nullopt;
  text.remove_prefix(1);
  Path path;
  while (!text.empty()) {
    int position = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
    if (error != std::errc{} || position < 0) return std::nullopt;
    path.push_back(position);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != '.' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return path;
}

namespace {

/// The sibling list at the end of all but the last position of `path`; shared by both constnesses.
template <class P, class V>
V* siblingsIn(P& program, const Path& path) {
  if (path.empty()) return nullptr;
  V* level = &program.body;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i] < 0 || static_cast<std::size_t>(path[i]) >= level->size()) return nullptr;
    auto& node = (*level)[static_cast<std::size_t>(path[i])];
    if (!node.isScope()) return nullptr;
    level = &node.scope().body;
  }
  if (path.back() < 0 || static_cast<std::size_t>(path.back()) > level->size()) return nullptr;
  return level;
}

template <class N, class V>
N* nodeIn(V* level, const Path& path) {
  if (level == nullptr || static_cast<std::size_t>(path.back()) >= level->size()) return nullptr;
  return &(*level)[static_cast<std::size_t>(path.back())];
}

void walkNodes(const std::vector<Node>& nodes, Visit& state,
               const std::function<bool(const Visit&)>& visit) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    state.path.push_back(static_cast<int>(i));
    state.node = &nodes[i];
    if (visit(state) && nodes[i].isScope()) {
      state.enclosing.push_back(&nodes[i]);
      walkNodes(nodes[i].scope().body, state, visit);
      state.enclosing.pop_back();
    }
    state.path.pop_back();
  }
}

/// Calls fn on each Affine of an access; works for both constnesses.
template <class A, class F>
void affinesOfAccess(A& access, const F& fn) {
  for (auto& index : access.indices) {
    if (index.isGather()) {
      for (auto& inner : index.gatherIndices) fn(inner);
    } else {
      fn(index.affine);
    }
  }
}

template <class N, class F>
void affinesOfNode(N& node, const F& fn) {
  for (auto& term : node.guard) fn(term.expr);
  if (node.isLeaf()) {
    auto& leaf = node.leaf();
    affinesOfAccess(leaf.dst, fn);
    for (auto& operand : leaf.operands) {
      if (auto* access = std::get_if<Access>(&operand)) affinesOfAccess(*access, fn);
      if (auto* value = std::get_if<Affine>(&operand)) fn(*value);
    }
    return;
  }
  auto& scope = node.scope();
  if (scope.extent.range) {
    affinesOfAccess(scope.extent.range->first, fn);
    affinesOfAccess(scope.extent.range->last, fn);
  }
  for (auto& child : scope.body) affinesOfNode(child, fn);
}

void readsOfAccess(const Access& access, const std::function<void(const Access&, Touch)>& fn) {
  for (const Index& index : access.indices) {
    if (!index.isGather()) continue;
    Access inner;
    inner.buffer = index.gather;
    for (const Affine& affine : index.gatherIndices) inner.indices.emplace_back(affine);
    fn(inner, Touch::read);
  }
}

}  // namespace

const Node* find(const Program& program, const Path& path) {
  return nodeIn<const Node>(siblings(program, path), path);
}

Node* find(Program& program, const Path& path) {
  return nodeIn<Node>(siblings(program, path), path);
}

std::vector<Node>* siblings(Program& program, const Path& path) {
  return siblingsIn<Program, std::vector<Node>>(program, path);
}

const std::vector<Node>* siblings(const Program& program, const Path& path) {
  return siblingsIn<const Program, const std::vector<Node>>(program, path);
}

void walk(const Program& program, const std::function<bool(const Visit&)>& visit) {
  Visit state{nullptr, {}, {}};
  walkNodes(program.body, state, visit);
}

std::vector<Path> allPaths(const Program& program) {
  std::vector<Path> out;
  walk(program, [&out](const Visit& at) {
    out.push_back(at.path);
    return true;
  });
  return out;
}

void forEachAccess(const Node& node, const std::function<void(const Access&, Touch)>& fn) {
  if (node.isScope()) {
    if (const auto& range = node.scope().extent.range) {
      fn(range->first, Touch::read);
      fn(range->last, Touch::read);
    }
    return;
  }
  const Leaf& leaf = node.leaf();
  for (const Operand& operand : leaf.operands) {
    if (const auto* access = std::get_if<Access>(&operand)) {
      readsOfAccess(*access, fn);
      fn(*access, Touch::read);
    }
  }
  if (readsDestination(leaf)) fn(leaf.dst, Touch::read);
  fn(leaf.dst, Touch::write);
}

void forEachAffine(Node& node, const std::function<void(Affine&)>& fn) { affinesOfNode(node, fn); }

void forEachAffine(const Node& node, const std::function<void(const Affine&)>& fn) {
  affinesOfNode(node, fn);
}

void forEachAccessMutable(Node& node, const std::function<void(Access&)>& fn) {
  if (node.isLeaf()) {
    fn(node.leaf().dst);
    for (Operand& operand : node.leaf().operands) {
      if (auto* access = std::get_if<Access>(&operand)) fn(*access);
    }
    return;
  }
  if (auto& range = node.scope().extent.range) {
    fn(range->first);
    fn(range->last);
  }
  for (Node& child : node.scope().body) forEachAccessMutable(child, fn);
}

void substitute(Node& node, int var, const Affine& replacement) {
  forEachAffine(node, [&](Affine& expr) { expr = expr.substitute(var, replacement); });
}

void shiftVariables(Node& node, int from, int delta) {
  forEachAffine(node, [&](Affine& expr) {
    expr = expr.renamed([&](int var) { return var >= from ? var + delta : var; });
  });
}

void renameBuffers(Node& node, const std::function<BufferId(BufferId)>& map) {
  forEachAccessMutable(node, [&](Access& access) {
    access.buffer = map(access.buffer);
    for (Index& index : access.indices) {
      if (index.isGather()) index.gather = map(index.gather);
    }
  });
  if (node.isScope()) {
    const std::function<void(Node&)> streams = [&](Node& at) {
      if (!at.isScope()) return;
      for (BufferId& id : at.scope().mapping.streams) id = map(id);
      for (Node& child : at.scope().body) streams(child);
    };
    streams(node);
  }
}

bool mentionsVariable(const Node& node, int var) {
  bool found = false;
  forEachAffine(node, [&](const Affine& expr) { found = found || expr.uses(var); });
  return found;
}

bool mentionsBuffer(const Node& node, BufferId id) {
  bool found = false;
  forEachAccess(node, [&](const Access& access, Touch) { found = found || access.buffer == id; });
  if (node.isScope()) {
    for (const Node& child : node.scope().body) found = found || mentionsBuffer(child, id);
  }
  return found;
}

Interval variableRange(const Program& program, const Scope& scope) {
  if (scope.extent.isConstant()) return {0, scope.extent.count};
  // From the smallest first value to one before the largest last value.
  const auto& first = program.buffer(scope.extent.range->first.buffer).values;
  const auto& last = program.buffer(scope.extent.range->last.buffer).values;
  return {first ? first->lo : 0, last ? last->hi - 1 : 0};
}

Interval valueRange(const Affine& expr, const std::vector<Interval>& ranges) {
  std::int64_t lo = expr.constant();
  std::int64_t hi = expr.constant();
  for (const Term& term : expr.terms()) {
    const Interval range = ranges[static_cast<std::size_t>(term.var)];
    const std::int64_t a = term.coef * range.lo;
    const std::int64_t b = term.coef * (range.hi - 1);
    lo += std::min(a, b);
    hi += std::max(a, b);
  }
  return {lo, hi + 1};
}

std::size_t nodeCount(const Program& program) {
  std::size_t count = 0;
  walk(program, [&count](const Visit&) {
    ++count;
    return true;
  });
  return count;
}

}  // namespace dojo::ir
