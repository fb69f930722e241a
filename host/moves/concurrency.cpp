// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/concurrency.h"

#include <algorithm>

#include "ir/check.h"
#include "ir/dependence.h"
#include "ir/print.h"
#include "ir/tree.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/coverage.h"

namespace dojo::moves {

namespace {

/// True where what the scope does isn't done in the program's order.
bool apart(const ir::Mapping& mapping) {
  return mapping.concurrent() || mapping.has(ir::MapKind::stream) || mapping.has(ir::MapKind::dma);
}

bool hasConcurrency(const std::vector<ir::Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const ir::Node& node) {
    return node.isScope() && (apart(node.scope().mapping) || hasConcurrency(node.scope().body));
  });
}

Status proveNesting(const ir::Program& program) {
  Status status;
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!status.ok() || !visit.node->isScope()) return status.ok();
    for (const ir::Node* outer : visit.enclosing) {
      if (mayContain(outer->scope().mapping, visit.node->scope().mapping)) continue;
      status = refuse("move.mapping",
                      "the scope would run inside " + ir::printLine(program, *outer), visit.path);
    }
    return status.ok();
  });
  return status;
}

/// Private storage carries no value between iterations.
bool privateIsLocal(const ir::Accesses& accesses) {
  const ir::Program& program = accesses.program();
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const auto buffer = static_cast<ir::BufferId>(id);
    const std::vector<int>& depths = accesses.privateDepths(buffer);
    if (depths.empty()) continue;
    const int innermost = *std::max_element(depths.begin(), depths.end());
    ir::Path place = accesses.of(buffer).front()->path;
    place.resize(static_cast<std::size_t>(innermost) + 1);
    if (!localTo(accesses, buffer, {iteration(program, place)})) return false;
  }
  return true;
}

}  // namespace

bool hasConcurrency(const ir::Program& program) { return hasConcurrency(program.body); }

bool mayContain(const ir::Mapping& outer, const ir::Mapping& inner) {
  const bool threads = inner.has(ir::MapKind::parallel);
  const bool transfers = inner.has(ir::MapKind::dma);
  const bool streams = inner.has(ir::MapKind::stream);
  if (outer.has(ir::MapKind::dma)) return inner.none();
  if (outer.has(ir::MapKind::vector)) {
    return !threads && !transfers && !streams && !inner.has(ir::MapKind::vector) &&
           !inner.has(ir::MapKind::frep);
  }
  if (outer.has(ir::MapKind::stream) || outer.has(ir::MapKind::frep)) {
    return !threads && !transfers && !streams;
  }
  return !(outer.has(ir::MapKind::parallel) && threads);
}

Status proveConcurrency(const ir::Program& program) {
  if (!hasConcurrency(program)) return {};
  // Streams name what is touched in their scope, and transfers are copies.
  if (Status status = ir::checkStructure(program); !status) return status;
  if (Status status = proveNesting(program); !status) return status;
  const ir::Accesses accesses(program);
  if (Status status = ir::checkMappings(accesses); !DOJO_CLAUSE(status)) return status;
  if (DOJO_CLAUSE(privateIsLocal(accesses))) return {};
  return ir::check(program);
}

}  // namespace dojo::moves
