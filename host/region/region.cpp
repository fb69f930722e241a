// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/region.h"

namespace dojo::region {

bool isRegion(const ir::Scope& scope, const target::Target& target) {
  const bool vectors = target.streams.movers > 0 && scope.mapping.has(ir::MapKind::vector);
  return vectors || scope.mapping.has(ir::MapKind::stream) || scope.mapping.has(ir::MapKind::frep);
}

std::vector<ir::Path> regions(const ir::Program& program, const target::Target& target) {
  std::vector<ir::Path> found;
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!visit.node->isScope()) return true;
    if (!isRegion(visit.node->scope(), target)) return true;
    found.push_back(visit.path);
    return false;
  });
  return found;
}

}  // namespace dojo::region
