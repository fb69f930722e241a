// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/invariant.h"

#include <algorithm>
#include <optional>

#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"

namespace dojo::moves {

namespace {

/// The sites only take maxima into the buffer, or only minima: repeating them changes nothing.
bool isExtremum(const std::vector<const ir::Site*>& sites, ir::BufferId buffer) {
  std::optional<ir::Assign> op;
  for (const ir::Site* site : sites) {
    if (site->access.buffer != buffer) continue;
    if (!site->reduction || op.value_or(site->node->leaf().assign) != site->node->leaf().assign) {
      return false;
    }
    op = site->node->leaf().assign;
  }
  return op == ir::Assign::max || op == ir::Assign::min;
}

/// Running the node twice is running it once: it reads nothing that it writes, unless written anew
/// before.
Status proveRepeatable(const State& state, const ir::Path& node,
                       const std::vector<const ir::Site*>& sites, int depth) {
  const auto held = ir::equalThen(depth, {});
  for (const ir::Site* read : sites) {
    if (read->touch != ir::Touch::read) continue;
    const bool meets = std::any_of(sites.begin(), sites.end(), [&](const ir::Site* write) {
      return write->touch == ir::Touch::write && ir::mayConflict(*write, *read) &&
             ir::meet(state.accesses(), *write, *read, held) != ir::Answer::no;
    });
    if (!meets || coveredIn(state.accesses(), *read, execution(node))) continue;
    if (DOJO_CLAUSE(isExtremum(sites, read->access.buffer))) continue;
    return refuse("move.dependence",
                  "running the node again would read what it wrote to " +
                      ir::printAccess(state.program(), read->access) + " at " +
                      ir::toString(read->path),
                  node);
  }
  return {};
}

}  // namespace

Status proveInvariant(const State& state, const ir::Path& node, const ir::Path& scope,
                      int position) {
  const int depth = depthOf(scope);
  const std::size_t level = scope.size();
  const bool inside = node.size() > level;
  const auto moved = state.accesses().below(node);
  const bool once = scopeAt(state.program(), scope)->extent == ir::Extent(1);
  if (!once) {
    if (Status status = proveRepeatable(state, node, moved, depth); !status) return status;
  }

  const int after = inside ? position + 1 : position;
  const int count = iteration(state.program(), scope).last;
  const Block own = execution(node);
  std::vector<const ir::Site*> others;
  for (const ir::Site* site : state.accesses().below(scope)) {
    if (inside && own.contains(site->path)) continue;
    const bool early = site->path.size() > level && site->path[level] < position;
    if (early || (!once && site->touch == ir::Touch::write)) others.push_back(site);
  }
  const auto reversal = findReversal(state, moved, others, ir::equalThen(depth, {}),
                                     {own, Block{scope, 0, position}, Block{scope, after, count}});
  DOJO_NEEDS(!reversal, dependenceError(state, *reversal, node));
  return {};
}

}  // namespace dojo::moves
