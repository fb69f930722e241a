// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/mapping.h"

#include <string>
#include <utility>

#include "ir/canonical.h"
#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/concurrency.h"
#include "moves/order.h"

namespace dojo::moves {

namespace {

/// The target offers the mapping, and it may stand inside and around those that are there.
Status needsPlace(const State& state, const ir::Path& place, ir::MapKind kind) {
  const std::string word(ir::name(kind));
  if (!state.target().offersMapping(word)) {
    return refuse("move.target",
                  "target " + state.target().name + " does not offer the mapping " + word, place);
  }
  const ir::Mapping mapping{static_cast<std::uint16_t>(kind), {}};
  const ir::Visit& visit = *state.visit(place);
  for (const ir::Node* outer : visit.enclosing) {
    if (mayContain(outer->scope().mapping, mapping)) continue;
    return refuse("move.mapping",
                  word + " can't stand inside " + ir::printLine(state.program(), *outer), place);
  }
  const Block own = execution(place);
  for (const ir::Visit& inner : state.nodes()) {
    if (!inner.node->isScope() || inner.path.size() <= place.size()) continue;
    if (!own.contains(inner.path) || mayContain(mapping, inner.node->scope().mapping)) continue;
    return refuse("move.mapping",
                  word + " can't stand around " + ir::printLine(state.program(), *inner.node),
                  place);
  }
  return {};
}

}  // namespace

Status needsMappable(const State& state, const ir::Path& place, ir::MapKind kind) {
  if (Status status = needsUnmapped(state, place); !status) return status;
  return needsPlace(state, place, kind);
}

Status needsRegion(const State& state, const ir::Path& place, ir::MapKind kind) {
  if (Status status = needsScope(state, place); !status) return status;
  const ir::MapKind other = kind == ir::MapKind::frep ? ir::MapKind::stream : ir::MapKind::frep;
  const std::uint16_t bits = scopeAt(state.program(), place)->mapping.bits;
  if (bits != 0 && bits != static_cast<std::uint16_t>(other)) {
    return refuse("move.mapping", "the scope is mapped; unmap it first", place);
  }
  return needsPlace(state, place, kind);
}

Move unmapOf(const State& before, const ir::Path& place, ir::MapKind kind) {
  Move out{"unmap", {place}};
  if (!scopeAt(before.program(), place)->mapping.none()) {
    out.args.emplace_back(std::string(ir::name(kind)));
  }
  return out;
}

Status proveConcurrent(const State& state, const ir::Path& place, ir::MapKind kind) {
  const ir::Accesses& accesses = state.accesses();
  const auto sites = accesses.below(place);
  std::vector<int> uses(state.program().buffers.size());
  for (const ir::Site* site : sites) ++uses[static_cast<std::size_t>(site->access.buffer)];
  const auto becomesPrivate = [&](ir::BufferId id) {
    return state.program().buffer(id).isLocal() &&
           uses[static_cast<std::size_t>(id)] == static_cast<int>(accesses.of(id).size());
  };
  const auto relations = ir::equalThen(depthOf(place), {ir::Relation::different});
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const ir::Site& a = *sites[i];
    for (std::size_t j = i; j < sites.size(); ++j) {
      const ir::Site& b = *sites[j];
      if (!ir::mayConflict(a, b) || becomesPrivate(a.access.buffer)) continue;
      if (kind == ir::MapKind::vector && commute(state, a, b)) continue;
      if (ir::meet(accesses, a, b, relations) != ir::Answer::no) {
        return dependenceError(state, {&a, &b}, place);
      }
    }
  }
  ir::Program mapped = withMapping(state, place, {static_cast<std::uint16_t>(kind), {}});
  ir::canonicalize(mapped);
  return proveConcurrency(mapped);
}

ir::Program withMapping(const State& state, const ir::Path& place, ir::Mapping mapping) {
  ir::Program out = state.program();
  ir::find(out, place)->scope().mapping = std::move(mapping);
  return out;
}

}  // namespace dojo::moves
