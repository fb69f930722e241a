// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Blocks of iterations side by side: of nests that reduce, and of loops around leaves.
#include <algorithm>
#include <set>

#include "search/composites/streams.h"
#include "search/loop_nest.h"

namespace dojo::search {

using ir::Path;

std::optional<ReductionNest> reductionNest(const ir::Program& program, const Path& place) {
  ReductionNest out;
  Path at = place;
  const ir::Scope* inner = nullptr;
  while (true) {
    if (freeExtent(program, at) == 0) return std::nullopt;
    out.loops.push_back("l" + std::to_string(out.loops.size()));
    inner = scopeAt(program, at);
    if (inner->body.size() != 1 || !inner->body.front().isScope()) break;
    at = child(at, 0);
  }
  out.children = static_cast<int>(inner->body.size());
  const auto first = static_cast<int>(place.size()) - 1;
  const int results = first + static_cast<int>(out.loops.size());
  int scopes = 0;
  for (int k = 0; k < out.children; ++k) {
    if (inner->body[static_cast<std::size_t>(k)].isLeaf()) continue;
    ++scopes;
    out.keep = k;
  }
  if (scopes != 1) return std::nullopt;
  at = child(at, out.keep);
  while (scopeAt(program, at) != nullptr) {
    if (freeExtent(program, at) == 0 || scopeAt(program, at)->body.size() != 1) return std::nullopt;
    out.reduces.push_back("r" + std::to_string(out.reduces.size()));
    at = child(at, 0);
  }
  const ir::Leaf& leaf = ir::find(program, at)->leaf();
  if (!leaf.isReduction()) return std::nullopt;
  for (int var = results; var < static_cast<int>(at.size()) - 1; ++var) {
    if (uses(leaf.dst, var)) return std::nullopt;
  }
  out.result = program.buffer(leaf.dst.buffer).name;
  return out;
}

std::optional<ReductionBlock> cutBlock(Script& script, const Path& root, const ReductionNest& nest,
                                       std::int64_t block, std::int64_t back) {
  ReductionBlock out;
  std::vector<std::string> loops = nest.loops;
  const std::size_t from = std::min(static_cast<std::size_t>(back), loops.size() - 1);
  const std::string along = loops[loops.size() - 1 - from];
  const std::int64_t extent = LoopNest(script, root, loops).extent(along);
  out.width = divisorUpTo(extent, block);
  if (out.width > 1 && out.width == extent && loops.size() == 1) {
    // What the block is a part of.
    if (!script.apply("add_scope", {root})) return std::nullopt;
    loops.insert(loops.begin(), "around");
  }
  LoopNest outer(script, root, loops);
  out.body = outer.path(outer.size() - 1);
  out.main = child(out.body, nest.keep);
  if (out.width == 1) return out;
  std::string inner = along;
  if (out.width < extent) {
    inner = "block";
    if (!outer.split(along, out.width, inner)) return std::nullopt;
  }
  if (!outer.move(inner, outer.size() - 1)) return std::nullopt;
  const int last = outer.size() - 1;
  out.body = outer.path(last - 1);
  const std::optional<Path> main = outer.isolate(last, nest.keep, nest.children);
  if (!main) return std::nullopt;
  out.main = *main;
  std::vector<std::string> core = {inner};
  core.insert(core.end(), nest.reduces.begin(), nest.reduces.end());
  LoopNest reducing(script, out.main, core);
  if (!reducing.move(inner, reducing.size() - 1)) return std::nullopt;
  return out;
}

void unrollSteps(Script& script, const Path& body, std::int64_t width) {
  const target::HardwareLoop& loop = script.target().hardwareLoop;
  std::vector<Path> steps;
  for (const Path& scope : scopesBelow(script.program(), body)) {
    if (scope.size() > body.size() && freeExtent(script.program(), scope) > 1) {
      steps.push_back(scope);
    }
  }
  std::int64_t instructions = width;
  while (static_cast<int>(steps.size()) > loop.nesting) {
    instructions *= freeExtent(script.program(), steps.back());
    if (instructions > loop.instructions || !script.apply("unroll", {steps.back()})) return;
    steps.pop_back();
  }
}

bool sideBySide(Script& script, const Path& loop, std::int64_t width) {
  if (width == freeExtent(script.program(), loop)) return false;
  if (!script.apply("split_scope", {loop, width})) return false;
  const Path block = child(loop, 0);
  const int outer = variableOf(loop);
  // Values between the leaves get a register for each iteration.
  std::set<std::string> names;
  for (const Path& leaf : leavesBelow(script.program(), block)) {
    const ir::BufferId id = ir::find(script.program(), leaf)->leaf().dst.buffer;
    if (script.program().buffer(id).location == "register") {
      names.insert(script.program().buffer(id).name);
    }
  }
  for (const std::string& name : names) {
    const ir::Access* access = nullptr;
    for (const Path& leaf : leavesBelow(script.program(), block)) {
      const ir::Access& dst = ir::find(script.program(), leaf)->leaf().dst;
      if (script.program().buffer(dst.buffer).name == name) access = &dst;
    }
    const ir::Buffer& buffer = script.program().buffer(access->buffer);
    for (int d = 0; d < buffer.rank(); ++d) {
      const ir::Affine& index = access->indices[static_cast<std::size_t>(d)].affine;
      if (index.coef(outer) != width || index.coef(outer + 1) != 1) continue;
      if (buffer.dims[static_cast<std::size_t>(d)].fold != 1) break;
      if (!script.apply("split_dim", {name, std::int64_t{d}, width}) ||
          !script.apply("materialize_dim", {name, std::int64_t{d} + 1})) {
        return false;
      }
      break;
    }
  }
  while (scopeAt(script.program(), block)->body.size() > 1) {
    const auto last = static_cast<std::int64_t>(scopeAt(script.program(), block)->body.size()) - 1;
    if (!script.apply("fission_scope", {block, last})) return false;
  }
  return true;
}

}  // namespace dojo::search
