// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/coverage.h"

#include <algorithm>

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

namespace {

/// Number of scopes that enclose both places.
std::size_t commonDepth(const ir::Path& a, const ir::Path& b) {
  const std::size_t most = std::min(a.size(), b.size()) - 1;
  std::size_t depth = 0;
  while (depth < most && a[depth] == b[depth]) ++depth;
  return depth;
}

std::vector<ir::Interval> ranges(const ir::Program& program, const ir::Site& site) {
  std::vector<ir::Interval> out;
  for (const ir::Node* node : site.enclosing) {
    out.push_back(ir::variableRange(program, node->scope()));
  }
  return out;
}

bool holdsFor(const ir::GuardTerm& term, const ir::Site& site, std::size_t from) {
  const auto stands = [&](const ir::Guard& guard) {
    return std::find(guard.begin(), guard.end(), term) != guard.end();
  };
  for (std::size_t k = from; k < site.enclosing.size(); ++k) {
    if (stands(site.enclosing[k]->guard)) return true;
  }
  return stands(site.node->guard);
}

/// The write happens whenever the read does, in the same iteration of the `common` outer scopes.
bool happensWith(const ir::Site& write, const ir::Site& read, std::size_t common) {
  const auto implied = [&](const ir::Guard& guard) {
    return std::all_of(guard.begin(), guard.end(), [&](const ir::GuardTerm& term) {
      const auto& terms = term.expr.terms();
      const bool shared = terms.empty() || terms.back().var < static_cast<int>(common);
      return shared && holdsFor(term, read, common);
    });
  };
  for (std::size_t k = common; k < write.enclosing.size(); ++k) {
    if (!write.enclosing[k]->scope().extent.isConstant()) return false;
    if (!implied(write.enclosing[k]->guard)) return false;
  }
  return implied(write.node->guard);
}

/// The write's index, over the variables past `common`, takes every value from its least one to
/// `count` - 1 more.
struct Sweep {
  ir::Affine start;
  std::int64_t count = 1;
};
std::optional<Sweep> sweep(const ir::Affine& index, std::size_t common,
                           const std::vector<ir::Interval>& writeRanges) {
  Sweep out;
  std::vector<ir::Term> inner;
  out.start = index;
  for (const ir::Term& term : index.terms()) {
    if (term.var < static_cast<int>(common)) continue;
    if (term.coef < 0) return std::nullopt;
    inner.push_back(term);
    out.start -= ir::Affine::variable(term.var, term.coef);
  }
  std::sort(inner.begin(), inner.end(),
            [](const ir::Term& a, const ir::Term& b) { return a.coef < b.coef; });
  for (const ir::Term& term : inner) {
    const ir::Interval& range = writeRanges[static_cast<std::size_t>(term.var)];
    if (term.coef > out.count) return std::nullopt;
    out.count += term.coef * (range.hi - range.lo - 1);
  }
  return out;
}

bool sameElements(const ir::Buffer& buffer, const ir::Site& write, const ir::Site& read,
                  std::size_t common, const std::vector<ir::Interval>& writeRanges,
                  const std::vector<ir::Interval>& readRanges) {
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    if (buffer.dims[d].fold == 1) continue;
    const ir::Index& to = write.access.indices[d];
    const ir::Index& from = read.access.indices[d];
    if (to != from || from.isGather()) return false;
    for (const ir::Term& term : to.affine.terms()) {
      const auto var = static_cast<std::size_t>(term.var);
      if (var < common) continue;
      if (readRanges[var].lo < writeRanges[var].lo || readRanges[var].hi > writeRanges[var].hi) {
        return false;
      }
    }
  }
  return true;
}

bool sweepsOver(const ir::Buffer& buffer, const ir::Site& write, const ir::Site& read,
                std::size_t common, const std::vector<ir::Interval>& writeRanges,
                const std::vector<ir::Interval>& readRanges) {
  std::vector<int> used;
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    const ir::Dim& dim = buffer.dims[d];
    if (dim.fold == 1) continue;
    const ir::Affine& to = write.access.indices[d].affine;
    for (const ir::Term& term : to.terms()) {
      if (term.var < static_cast<int>(common)) continue;
      if (std::find(used.begin(), used.end(), term.var) != used.end()) return false;
      used.push_back(term.var);
    }
    const std::optional<Sweep> swept = sweep(to, common, writeRanges);
    if (!swept) return false;
    if (dim.fold == 0 && swept->start.isConstant() && swept->start.constant() <= 0 &&
        swept->start.constant() + swept->count >= dim.extent) {
      continue;  // The whole dim, whatever is read.
    }
    const ir::Index& from = read.access.indices[d];
    if (from.isGather()) return false;
    const ir::Interval offset = ir::valueRange(from.affine - swept->start, readRanges);
    if (offset.lo < 0 || offset.hi > swept->count) return false;
  }
  return true;
}

}  // namespace

bool coveredIn(const ir::Accesses& accesses, const ir::Site& read, const Block& block) {
  if (!block.contains(read.path)) return false;
  const ir::Buffer& buffer = accesses.program().buffer(read.access.buffer);
  const std::vector<ir::Interval> readRanges = ranges(accesses.program(), read);
  for (const ir::Site* write : accesses.of(read.access.buffer)) {
    if (write->touch != ir::Touch::write || !block.contains(write->path)) continue;
    if (!(write->path < read.path)) continue;
    const std::size_t common = commonDepth(write->path, read.path);
    if (!happensWith(*write, read, common)) continue;
    const std::vector<ir::Interval> writeRanges = ranges(accesses.program(), *write);
    if (sameElements(buffer, *write, read, common, writeRanges, readRanges) ||
        sweepsOver(buffer, *write, read, common, writeRanges, readRanges)) {
      return true;
    }
  }
  return false;
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
