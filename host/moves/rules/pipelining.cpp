// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/pipelining.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ir/canonical.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"

namespace dojo::moves {
namespace {

/// The only buffer that the node writes; -1: there are several.
ir::BufferId filledBy(const ir::Node& node) {
  if (node.isLeaf()) return node.leaf().dst.buffer;
  std::optional<ir::BufferId> out;
  for (const ir::Node& inner : node.scope().body) {
    const ir::BufferId id = filledBy(inner);
    if (id < 0 || (out && *out != id)) return -1;
    out = id;
  }
  return out.value_or(-1);
}

bool indexes(const ir::Site& site, int dim, int var) {
  const ir::Index& index = site.access.indices[static_cast<std::size_t>(dim)];
  return !index.isGather() && index.affine == ir::Affine::variable(var);
}

/// The first dim of the buffer that all sites index with {var} alone; -1: none.
int dimOf(const std::vector<const ir::Site*>& sites, int rank, int var) {
  for (int d = 0; d < rank; ++d) {
    const auto tells = [&](const ir::Site* site) { return indexes(*site, d, var); };
    if (std::all_of(sites.begin(), sites.end(), tells)) return d;
  }
  return -1;
}

bool isBelow(const ir::Path& path, const ir::Path& place) {
  return path.size() > place.size() && std::equal(place.begin(), place.end(), path.begin());
}

/// What fills the buffer ahead, and the dim of the buffer that tells iterations apart.
struct Stage {
  ir::BufferId buffer = -1;
  int dim = -1;
};

Stage stageOf(const State& state, const ir::Path& place) {
  Stage out;
  out.buffer = filledBy(scopeAt(state.program(), place)->body.front());
  if (out.buffer < 0) return out;
  std::vector<const ir::Site*> filling = state.accesses().below(child(place, 0));
  std::erase_if(filling, [&](const ir::Site* site) { return site->access.buffer != out.buffer; });
  out.dim = dimOf(filling, state.program().buffer(out.buffer).rank(), depthOf(place));
  return out;
}

ir::GuardTerm notLast(const ir::Path& place, std::int64_t extent) {
  return {ir::Affine::variable(depthOf(place)), 0, extent - 1};
}

}  // namespace

Status canPipeline(const State& state, const ir::Path& place) {
  if (Status status = needsUnmapped(state, place); !status) return status;
  if (Status status = needsConstantExtent(state, place); !status) return status;
  const ir::Scope& scope = *scopeAt(state.program(), place);
  const int var = depthOf(place);
  if (scope.extent.count < 2 || scope.body.size() < 2) {
    return refuse("move.shape", "there is nothing to do beside what comes first", place);
  }
  const ir::Node& first = scope.body.front();
  if (!state.visit(place)->node->guard.empty() ||
      std::any_of(first.guard.begin(), first.guard.end(),
                  [&](const ir::GuardTerm& term) { return term.expr.uses(var); })) {
    return refuse("move.guard", "what comes first isn't done in every iteration", place);
  }
  const Stage stage = stageOf(state, place);
  if (stage.buffer < 0)
    return refuse("move.shape", "what comes first fills several buffers", place);
  const ir::Buffer& buffer = state.program().buffer(stage.buffer);
  if (buffer.role != ir::Role::tmp || buffer.location == "register") {
    return refuse("move.role", buffer.name + " is no tmp in memory", place);
  }
  if (stage.dim < 0) {
    return refuse("move.index", buffer.name + " has no dim that tells the iterations apart", place);
  }
  const ir::Dim& dim = buffer.dims[static_cast<std::size_t>(stage.dim)];
  if (dim.fold > 1) {
    return refuse("move.dim", buffer.name + " has storage for several iterations already", place);
  }
  if (dim.fold == 1 && dim.extent == 2) {
    return refuse("move.dim", "with storage for two " + buffer.name + " has all of the dim", place);
  }
  const auto& sites = state.accesses().of(stage.buffer);
  DOJO_NEEDS(std::all_of(sites.begin(), sites.end(),
                         [&](const ir::Site* site) { return isBelow(site->path, place); }),
             refuse("move.dependence", buffer.name + " is used outside, too", place));
  // Each iteration has elements of its own, and those of two live at once.
  DOJO_NEEDS(std::all_of(sites.begin(), sites.end(),
                         [&](const ir::Site* site) { return indexes(*site, stage.dim, var); }),
             refuse("move.index", buffer.name + " is used in other iterations, too", place));
  std::vector<const ir::Site*> ahead = state.accesses().below(child(place, 0));
  std::vector<const ir::Site*> rest;
  for (const ir::Site* site : state.accesses().below(place)) {
    if (isBelow(site->path, place) && site->path[place.size()] > 0) rest.push_back(site);
  }
  const auto own = [&](const ir::Site* site) { return site->access.buffer == stage.buffer; };
  std::erase_if(ahead, own);
  std::erase_if(rest, own);
  const Block firstChild{place, 0, 1};
  const Block others{place, 1, static_cast<int>(scope.body.size())};
  const auto reversal = findReversal(
      state, ahead, rest, ir::equalThen(var, {ir::Relation::greater}), {firstChild, others});
  DOJO_NEEDS(!reversal, dependenceError(state, *reversal, place));
  return {};
}

ir::Program pipelined(const State& state, const ir::Path& place) {
  const int var = depthOf(place);
  const Stage stage = stageOf(state, place);
  ir::Program out = state.program();
  ir::Dim& dim = out.buffer(stage.buffer).dims[static_cast<std::size_t>(stage.dim)];
  if (dim.fold == 1) dim.fold = 2;
  ir::Node& node = *ir::find(out, place);
  ir::Node& first = node.scope().body.front();
  ir::Node before = first;
  ir::substitute(before, var, ir::Affine(0));
  ir::shiftVariables(before, var + 1, -1);
  ir::substitute(first, var, ir::Affine::variable(var) + ir::Affine(1));
  first.guard.push_back(notLast(place, node.scope().extent.count));
  insert(out, place, std::move(before));
  return out;
}

Result<ir::Program> unpipelined(const State& state, const ir::Path& place) {
  if (Status status = needsUnmapped(state, place); !status) return status.error();
  if (Status status = needsConstantExtent(state, place); !status) return status.error();
  if (place.back() == 0) return refuse("move.shape", "nothing comes before the scope", place);
  const int var = depthOf(place);
  ir::Program out = state.program();
  ir::Node& node = *ir::find(out, place);
  ir::Node& first = node.scope().body.front();
  const auto guard =
      std::find(first.guard.begin(), first.guard.end(), notLast(place, node.scope().extent.count));
  const ir::BufferId id = filledBy(first);
  if (guard == first.guard.end() || id < 0) {
    return refuse("move.shape", "nothing is filled one iteration ahead", place);
  }
  first.guard.erase(guard);
  ir::substitute(first, var, ir::Affine::variable(var) + ir::Affine(-1));
  static_cast<void>(extract(out, sibling(place, -1)));
  const ir::Path moved = sibling(place, -1);
  const std::string name = out.buffer(id).name;
  {
    // Which dim it is shows once the buffer is filled where it's used.
    const State plain(out, state.target());
    const Stage stage = stageOf(plain, moved);
    if (stage.dim < 0) return refuse("move.index", name + " has no dim for it", place);
    ir::Dim& dim = out.buffer(id).dims[static_cast<std::size_t>(stage.dim)];
    if (dim.fold == 2) dim.fold = 1;
  }
  ir::canonicalize(out);
  const State plain(out, state.target());
  if (Status status = canPipeline(plain, moved); !status) return status.error();
  ir::Program again = pipelined(plain, moved);
  ir::canonicalize(again);
  if (!(again == state.program())) {
    return refuse("move.shape", "this isn't how " + name + " would be filled ahead", place);
  }
  return out;
}

}  // namespace dojo::moves
