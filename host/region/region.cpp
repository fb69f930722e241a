// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/region.h"

#include <algorithm>

#include "ir/print.h"
#include "region/tree.h"

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

std::string routineName(ir::Op op) {
  return "dojo_any_" + std::string(ir::info(op).spelling == "/" ? "div" : ir::info(op).spelling);
}

namespace {
Lines linesBelow(const ir::Program& program, const ir::Path& path) {
  Lines out;
  ir::walk(program, [&](const ir::Visit& visit) {
    const bool inside = visit.path.size() >= path.size() &&
                        std::equal(path.begin(), path.end(), visit.path.begin());
    if (inside && visit.node->isLeaf()) {
      out[&visit.node->leaf()] = ir::lineOf(program, visit.path);
    }
    return true;
  });
  return out;
}
}  // namespace

Result<Code> compile(const ir::Program& program, const ir::Path& path, const target::Target& target,
                     bool lines) {
  Result<Tree> tree = build(program, path, target);
  if (!tree) return tree.error();
  foldSigns(*tree);
  if (Status done = assignStreams(*tree, program, target); !done) return done.error();
  expandPolynomials(*tree, target);
  if (Status done = resolve(*tree); !done) return done.error();
  if (Status done = fitLoops(*tree, target); !done) return done.error();
  const Result<Registers> registers = allocate(*tree, target);
  if (!registers) return registers.error();
  if (!lines) return write(*tree, *registers, target, nullptr);
  const Lines numbers = linesBelow(program, path);
  return write(*tree, *registers, target, &numbers);
}

Status admits(const ir::Program& program, const ir::Path& path, const target::Target& target) {
  const Result<Code> code = compile(program, path, target);
  return code ? Status() : Status(code.error());
}

}  // namespace dojo::region
