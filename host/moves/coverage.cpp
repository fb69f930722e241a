// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/coverage.h"

#include <algorithm>
#include <optional>

#include "moves/rules/flow.h"

namespace dojo::moves {

bool Block::contains(const ir::Path& place) const {
  const std::size_t depth = scope.size();
  return place.size() > depth && std::equal(scope.begin(), scope.end(), place.begin()) &&
         place[depth] >= first && place[depth] < last;
}

Block iteration(const ir::Program& program, const ir::Path& place) {
  const auto& body = ir::find(program, place)->scope().body;
  return Block{place, 0, static_cast<int>(body.size())};
}

Block execution(const ir::Path& place) {
  Block block{place, place.back(), place.back() + 1};
  block.scope.pop_back();
  return block;
}

bool coveredIn(const ir::Accesses& accesses, const ir::Site& read, const Block& block) {
  if (!block.contains(read.path)) return false;
  const auto depth = static_cast<int>(block.scope.size());
  const std::optional<Definition> written = definitionOf(accesses, read, depth);
  return written && (written->fixed > depth || written->firstChild >= block.first);
}

bool localTo(const ir::Accesses& accesses, ir::BufferId buffer, const std::vector<Block>& blocks) {
  if (accesses.program().buffer(buffer).role != ir::Role::tmp) return false;
  for (const ir::Site* site : accesses.of(buffer)) {
    if (site->touch != ir::Touch::read) continue;
    const bool covered = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return coveredIn(accesses, *site, block);
    });
    if (!covered) return false;
  }
  return true;
}

}  // namespace dojo::moves
