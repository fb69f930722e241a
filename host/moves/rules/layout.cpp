// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/layout.h"

#include <algorithm>

#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

bool hasOurLayout(const ir::Buffer& buffer) {
  return buffer.role == ir::Role::tmp || (buffer.packed && !buffer.values);
}

Status needsOurLayout(const ir::Buffer& buffer) {
  if (hasOurLayout(buffer)) return {};
  if (buffer.values) return refuse("move.role", "'" + buffer.name + "' is an index buffer");
  return refuse("move.role", "the layout of '" + buffer.name +
                                 "' isn't ours: it's an argument that isn't packed");
}

Status needsDim(const ir::Buffer& buffer, std::int64_t d) {
  if (d >= 0 && d < buffer.rank()) return {};
  return refuse("move.dim", "'" + buffer.name + "' has " + std::to_string(buffer.rank()) +
                                " dims, numbered from 0");
}

void forEachLayoutAt(const State& state, const ir::Visit& place,
                     const std::function<void(const ir::Buffer&)>& fn) {
  for (const ir::BufferId id : state.buffersAt(place)) {
    const ir::Buffer& buffer = state.program().buffer(id);
    if (hasOurLayout(buffer)) fn(buffer);
  }
}

namespace {

std::optional<ir::Dim> joined(const ir::Dim& outer, const ir::Dim& inner) {
  const std::int64_t extent = outer.extent * inner.extent;
  if (inner.pad != 0 || (outer.fold != 0 && outer.pad != 0)) return std::nullopt;
  if (inner.fold == 0) {
    const std::int64_t fold = outer.fold * inner.extent;
    if (fold == extent) return std::nullopt;  // `~1`: nothing is reused.
    return ir::Dim{extent, fold, outer.pad * inner.extent};
  }
  if (outer.fold != 1 || inner.extent % inner.fold != 0) return std::nullopt;
  return ir::Dim{extent, inner.fold, 0};
}

std::optional<std::pair<ir::Dim, ir::Dim>> split(const ir::Dim& dim, std::int64_t f) {
  if (f < 1 || dim.extent % f != 0) return std::nullopt;
  const std::int64_t n = dim.extent / f;
  if (dim.fold == 0) {
    if (dim.pad % f != 0) return std::nullopt;
    return std::pair{ir::Dim{n, 0, dim.pad / f}, ir::Dim{f, 0, 0}};
  }
  if (dim.pad != 0) return std::nullopt;
  if (dim.fold == 1) return std::pair{ir::Dim{n, 1, 0}, ir::Dim{f, 1, 0}};
  if (dim.fold % f == 0) return std::pair{ir::Dim{n, dim.fold / f, 0}, ir::Dim{f, 0, 0}};
  if (f % dim.fold == 0) return std::pair{ir::Dim{n, 1, 0}, ir::Dim{f, dim.fold, 0}};
  return std::nullopt;
}

}  // namespace

std::optional<std::pair<ir::Dim, ir::Dim>> splitDims(const ir::Dim& dim, std::int64_t f) {
  const auto parts = split(dim, f);
  return parts && joined(parts->first, parts->second) == dim ? parts : std::nullopt;
}

std::optional<ir::Dim> joinDims(const ir::Dim& outer, const ir::Dim& inner) {
  const std::optional<ir::Dim> dim = joined(outer, inner);
  return dim && split(*dim, inner.extent) == std::pair{outer, inner} ? dim : std::nullopt;
}

namespace {

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Ways to split an index, the likeliest first. Every coefficient that f doesn't divide goes to the
/// nearest multiple below or above in magnitude; the constant is put so that the inner index may
/// start at 0.
std::vector<SplitIndex> waysToSplit(const ir::Affine& index,
                                    const std::vector<ir::Interval>& ranges, std::int64_t f) {
  constexpr unsigned kMostUneven = 4;
  constexpr std::int64_t kMostConstants = 3;
  const auto& terms = index.terms();
  const auto uneven =
      std::count_if(terms.begin(), terms.end(), [&](const ir::Term& t) { return t.coef % f != 0; });
  const unsigned masks = 1U << std::min<unsigned>(static_cast<unsigned>(uneven), kMostUneven);
  std::vector<SplitIndex> out;
  for (unsigned mask = 0; mask < masks; ++mask) {
    SplitIndex parts;
    unsigned bit = 0;
    for (const ir::Term& term : terms) {
      std::int64_t times = term.coef / f;
      if (term.coef % f != 0 && (mask >> bit++ & 1U) != 0) times += term.coef < 0 ? -1 : 1;
      if (times != 0) parts.outer += ir::Affine::variable(term.var, times);
      if (const std::int64_t rest = term.coef - times * f; rest != 0) {
        parts.inner += ir::Affine::variable(term.var, rest);
      }
    }
    const ir::Interval range = ir::valueRange(parts.inner, ranges);
    const std::int64_t first = floorDivide(index.constant() + range.lo, f);
    const std::int64_t last = floorDivide(index.constant() + range.hi - 1, f);
    for (std::int64_t times = first; times <= last && times < first + kMostConstants; ++times) {
      out.push_back({parts.outer + times, parts.inner + (index.constant() - times * f)});
    }
  }
  return out;
}

}  // namespace

std::optional<SplitIndex> splitIndex(const ir::Program& program,
                                     const std::vector<const ir::Node*>& enclosing,
                                     const ir::Guard& guard, const ir::Affine& index,
                                     std::int64_t f) {
  std::vector<ir::Interval> ranges;
  for (const ir::Node* node : enclosing) {
    ranges.push_back(ir::variableRange(program, node->scope()));
  }
  const std::vector<SplitIndex> ways = waysToSplit(index, ranges, f);
  for (const SplitIndex& way : ways) {
    const ir::Interval range = ir::valueRange(way.inner, ranges);
    if (range.lo >= 0 && range.hi <= f) return way;
  }
  // What the ranges alone don't show, guards may.
  constexpr std::size_t kMostQuestions = 8;
  for (std::size_t i = 0; i < std::min(ways.size(), kMostQuestions); ++i) {
    if (alwaysWithin(program, enclosing, guard, ways[i].inner, 0, f)) return ways[i];
  }
  return std::nullopt;
}

void forEachUse(ir::Program& program, ir::BufferId buffer,
                const std::function<void(const ir::Visit&, ir::Access&)>& fn) {
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!visit.node->isLeaf()) return true;
    ir::Node& node = *ir::find(program, visit.path);
    ir::forEachAccessMutable(node, [&](ir::Access& access) {
      if (access.buffer == buffer) fn(visit, access);
    });
    return true;
  });
}

}  // namespace dojo::moves
