// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/coverage.h"

#include <algorithm>
#include <optional>

#include "moves/clause.h"
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
  return written && (written->fixed > depth || DOJO_CLAUSE(written->firstChild >= block.first));
}

namespace {

/// True where something in the block may run between the writes of `written` and the read.
bool standsBetween(const Block& block, const Definition& written, const ir::Path& read) {
  const auto level = static_cast<std::size_t>(written.fixed);
  if (block.scope.size() < level) return false;
  if (!std::equal(read.begin(), read.begin() + written.fixed, block.scope.begin())) return false;
  const bool inside = block.scope.size() == level;
  const int first = inside ? block.first : block.scope[level];
  const int last = inside ? block.last : first + 1;
  return first <= read[level] && written.firstChild < last;
}

/// No value that the read sees comes from a block other than its own, or from another execution.
bool standsAlone(const ir::Accesses& accesses, const ir::Site& read,
                 const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (block.contains(read.path)) return coveredIn(accesses, read, block);
  }
  const std::optional<Definition> written = definitionOf(accesses, read);
  return written && DOJO_CLAUSE(std::none_of(blocks.begin(), blocks.end(), [&](const Block& block) {
           return standsBetween(block, *written, read.path);
         }));
}

}  // namespace

bool localTo(const ir::Accesses& accesses, ir::BufferId buffer, const std::vector<Block>& blocks) {
  if (!DOJO_CLAUSE(accesses.program().buffer(buffer).role == ir::Role::tmp)) return false;
  const std::vector<const ir::Site*>& sites = accesses.of(buffer);
  return std::all_of(sites.begin(), sites.end(), [&](const ir::Site* site) {
    return site->touch != ir::Touch::read || standsAlone(accesses, *site, blocks);
  });
}

}  // namespace dojo::moves
