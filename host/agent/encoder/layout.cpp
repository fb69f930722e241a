// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/encoder/layout.h"

#include <algorithm>
#include <bitset>

namespace dojo::agent {
namespace {

/// Sets of lines and of buffers; buffers beyond share the last place.
using Set = std::bitset<kMostLines + 1>;

std::size_t placeOf(int buffer) { return std::min(static_cast<std::size_t>(buffer), kMostLines); }

struct Related {
  Set around;   ///< Lines that it stands in.
  Set buffers;  ///< That it names.
  Set declares;
};

Relation relationOf(const TokenText& text, const std::vector<Related>& all, std::size_t i,
                    std::size_t j) {
  const TextLine& a = text.lines[i];
  const TextLine& b = text.lines[j];
  if (i == j) return Relation::self;
  if (a.parent == static_cast<int>(j)) return Relation::parent;
  if (b.parent == static_cast<int>(i)) return Relation::child;
  if (all[i].around[j]) return Relation::ancestor;
  if (all[j].around[i]) return Relation::descendant;
  if ((all[j].declares & all[i].buffers).any()) return Relation::declares;
  if ((all[i].declares & all[j].buffers).any()) return Relation::declared;
  if ((all[i].buffers & all[j].buffers).any()) return j < i ? Relation::before : Relation::after;
  if (a.parent == b.parent && a.depth == b.depth && a.parent >= 0) return Relation::sibling;
  return Relation::other;
}

}  // namespace

Layout layoutOf(const TokenText& text) {
  Layout out;
  out.lines = std::min(text.lines.size(), kMostLines);
  std::vector<Related> related(out.lines);
  for (std::size_t i = 0; i < out.lines; ++i) {
    const TextLine& line = text.lines[i];
    out.depths.push_back(std::min(static_cast<std::size_t>(line.depth), kMostDepth));
    out.kinds.push_back(static_cast<std::size_t>(line.kind));
    if (line.parent >= 0) {
      const auto parent = static_cast<std::size_t>(line.parent);
      related[i].around = related[parent].around;
      related[i].around.set(parent);
    }
    for (const int buffer : line.buffers) related[i].buffers.set(placeOf(buffer));
    if (line.declares >= 0) related[i].declares.set(placeOf(line.declares));
  }
  const std::size_t rows = out.lines + 1;
  out.relations.assign(rows * rows, static_cast<std::uint8_t>(Relation::whole));
  for (std::size_t i = 0; i < out.lines; ++i) {
    for (std::size_t j = 0; j < out.lines; ++j) {
      out.relations[(i + 1) * rows + j + 1] =
          static_cast<std::uint8_t>(relationOf(text, related, i, j));
    }
  }
  return out;
}

}  // namespace dojo::agent
