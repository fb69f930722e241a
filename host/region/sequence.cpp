// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/sequence.h"

#include <algorithm>

namespace dojo::region {
namespace {

using Dim = Sequence::Dim;

void simplify(std::vector<Dim>& dims) {
  std::erase_if(dims, [](const Dim& dim) { return dim.count == 1; });
  for (std::size_t i = dims.size(); i-- > 1;) {
    const Dim inner = dims[i];
    Dim& outer = dims[i - 1];
    if (outer.stride != inner.count * inner.stride) continue;
    outer = {outer.count * inner.count, inner.stride};
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// All but the outermost.
std::vector<Dim> inside(const std::vector<Dim>& dims) {
  return dims.empty() ? dims : std::vector<Dim>(dims.begin() + 1, dims.end());
}

/// The dims of a list of offsets, outermost first: runs of equal steps, and runs of those.
std::optional<std::vector<Dim>> factored(const std::vector<std::int64_t>& offsets) {
  const auto total = static_cast<std::int64_t>(offsets.size());
  if (total == 1) return std::vector<Dim>{};
  const auto at = [&](std::int64_t i) { return offsets[static_cast<std::size_t>(i)]; };
  const std::int64_t step = at(1) - at(0);
  std::int64_t run = 2;
  while (run < total && at(run) - at(run - 1) == step) ++run;
  for (; run >= 2; --run) {
    if (total % run != 0) continue;
    bool regular = true;
    std::vector<std::int64_t> firsts;
    for (std::int64_t block = 0; block < total && regular; block += run) {
      firsts.push_back(at(block));
      for (std::int64_t i = 1; i < run && regular; ++i) {
        regular = at(block + i) == at(block) + i * step;
      }
    }
    if (!regular) continue;
    std::optional<std::vector<Dim>> outer = factored(firsts);
    if (!outer) continue;
    outer->push_back({run, step});
    return outer;
  }
  return std::nullopt;
}

std::optional<std::int64_t> distance(const Sequence& from, const Sequence& to) {
  const ir::Affine difference = to.start - from.start;
  if (!difference.isConstant()) return std::nullopt;
  return difference.constant();
}

/// One after the other.
std::optional<Sequence> concatenated(const Sequence& first, const Sequence& second) {
  const std::optional<std::int64_t> gap = distance(first, second);
  if (!gap) return std::nullopt;
  const auto& a = first.dims;
  const auto& b = second.dims;
  Sequence out = first;
  if (a == b) {
    out.dims.insert(out.dims.begin(), Dim{2, *gap});
  } else if (!a.empty() && !b.empty() && inside(a) == inside(b) &&
             a.front().stride == b.front().stride && *gap == a.front().count * a.front().stride) {
    out.dims.front().count += b.front().count;
  } else if (!a.empty() && inside(a) == b && *gap == a.front().count * a.front().stride) {
    ++out.dims.front().count;
  } else if (!b.empty() && inside(b) == a && *gap == b.front().stride) {
    out.dims.insert(out.dims.begin(), Dim{b.front().count + 1, b.front().stride});
  } else {
    return std::nullopt;
  }
  simplify(out.dims);
  return out;
}

/// Parts of equal dims.
std::optional<Sequence> stacked(const std::vector<Sequence>& parts) {
  std::vector<std::int64_t> offsets;
  for (const Sequence& part : parts) {
    const std::optional<std::int64_t> gap = distance(parts.front(), part);
    if (!gap || part.dims != parts.front().dims) return std::nullopt;
    offsets.push_back(*gap);
  }
  std::optional<std::vector<Dim>> dims = factored(offsets);
  if (!dims) return std::nullopt;
  Sequence out = parts.front();
  out.dims.insert(out.dims.begin(), dims->begin(), dims->end());
  simplify(out.dims);
  return out;
}

/// Runs of equal dims first, then neighbours.
std::optional<Sequence> inOrder(const std::vector<Sequence>& parts) {
  std::vector<Sequence> runs;
  for (std::size_t begin = 0; begin < parts.size();) {
    std::size_t end = begin + 1;
    while (end < parts.size() && parts[end].dims == parts[begin].dims) ++end;
    std::optional<Sequence> run = stacked({parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                           parts.begin() + static_cast<std::ptrdiff_t>(end)});
    if (!run) return std::nullopt;
    runs.push_back(std::move(*run));
    begin = end;
  }
  Sequence out = runs.front();
  for (std::size_t i = 1; i < runs.size(); ++i) {
    std::optional<Sequence> next = concatenated(out, runs[i]);
    if (!next) return std::nullopt;
    out = std::move(*next);
  }
  return out;
}

}  // namespace

std::optional<Sequence> joined(const std::vector<Sequence>& parts) {
  if (parts.empty()) return std::nullopt;
  if (std::optional<Sequence> whole = inOrder(parts)) return whole;
  // Copies of an unrolled body, each of which is one.
  constexpr std::size_t kMostOfACopy = 64;
  for (std::size_t size = 2; size <= std::min(parts.size() / 2, kMostOfACopy); ++size) {
    if (parts.size() % size != 0) continue;
    std::vector<Sequence> copies;
    for (std::size_t begin = 0; begin < parts.size(); begin += size) {
      const auto from = parts.begin() + static_cast<std::ptrdiff_t>(begin);
      std::optional<Sequence> copy = inOrder({from, from + static_cast<std::ptrdiff_t>(size)});
      if (!copy) break;
      copies.push_back(std::move(*copy));
    }
    if (copies.size() * size != parts.size()) continue;
    if (std::optional<Sequence> whole = inOrder(copies)) return whole;
  }
  return std::nullopt;
}

std::vector<int> sitesOf(const Instruction& instruction, const Tree& tree,
                         const std::function<bool(int site)>& chosen) {
  std::vector<int> found;
  const auto look = [&](const Operand& operand) {
    if (operand.kind != Operand::Kind::site || !chosen(operand.index)) return;
    const Site& site = tree.sites[static_cast<std::size_t>(operand.index)];
    const bool known = std::any_of(found.begin(), found.end(), [&](int other) {
      return tree.sites[static_cast<std::size_t>(other)].bytes == site.bytes;
    });
    if (!known) found.push_back(operand.index);
  };
  for (const Operand& operand : instruction.in) look(operand);
  look(instruction.out);
  return found;
}

std::optional<std::vector<Sequence>> sequencesOf(std::span<const Item> items, const Tree& tree,
                                                 const std::function<bool(int site)>& chosen) {
  std::vector<Sequence> parts;
  for (const Item& item : items) {
    if (const auto* instruction = item.get<Instruction>()) {
      for (const int site : sitesOf(*instruction, tree, chosen)) {
        parts.push_back({tree.sites[static_cast<std::size_t>(site)].bytes, {}});
      }
      continue;
    }
    if (item.body() == nullptr) continue;
    const auto inner = sequencesOf(*item.body(), tree, chosen);
    if (!inner) return std::nullopt;
    if (inner->empty()) continue;
    const auto* loop = item.get<Loop>();
    if (loop == nullptr || inner->size() != 1) return std::nullopt;
    Sequence sequence = inner->front();
    const std::int64_t stride = sequence.start.coef(loop->depth);
    sequence.start = sequence.start.substitute(loop->depth, ir::Affine(0));
    sequence.dims.insert(sequence.dims.begin(), Dim{loop->count, stride});
    simplify(sequence.dims);
    parts.push_back(std::move(sequence));
  }
  if (parts.size() <= 1) return parts;
  if (std::optional<Sequence> whole = joined(parts)) return std::vector<Sequence>{*whole};
  return parts;
}

}  // namespace dojo::region
