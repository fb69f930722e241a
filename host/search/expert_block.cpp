// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/expert_block.h"

#include <algorithm>
#include <map>

#include "search/script.h"

namespace dojo::search {
namespace {

using ir::Access;
using ir::Path;

/// Bytes of an operand's panel that are still near when the next rows use it; from there on lines
/// far apart fall on one another, and the panel is packed.
constexpr std::int64_t kPanelBytes = 128 << 10;
constexpr std::int64_t kTile = 256;
constexpr std::size_t kMostCalls = 6;
/// Steps of a reduction that are copied in a row, at most.
constexpr std::int64_t kMostUnrolled = 4;
/// Instructions in a row, at most, where there are no vectors, and what a product of integers is
/// of them: a multiplication, an addition, and its share of registers that addresses need too.
constexpr std::int64_t kMostInRow = 64;
constexpr std::int64_t kIntegerProduct = 3;

/// \name A core of today, per cycle
/// @{
constexpr double kMultiplyAdds = 2;  ///< of vectors
constexpr double kLoads = 2;
constexpr double kLatency = 4;  ///< of a multiply-add, in cycles
constexpr double kStep = 0.5;   ///< what a step costs beside that
constexpr double kFar = 0.2;    ///< more for a vector that the first cache doesn't hold
constexpr std::int64_t kNearBytes = 32 << 10;
/// @}

std::vector<const Access*> operandsOf(const ir::Leaf& leaf) {
  std::vector<const Access*> out;
  for (const ir::Operand& operand : leaf.operands) {
    if (const auto* access = std::get_if<Access>(&operand)) out.push_back(access);
  }
  return out;
}

/// The one reduction that the nest at `place` is there for.
struct Reduction {
  const ir::Leaf* leaf = nullptr;
  Path path;
  std::vector<std::int64_t> extents;  ///< By depth.
};

std::optional<Reduction> reductionAt(const ir::Program& program, const Path& place) {
  std::optional<Reduction> out;
  for (const Path& path : leavesBelow(program, place)) {
    const ir::Leaf& leaf = ir::find(program, path)->leaf();
    if (!leaf.isReduction() || path.size() < place.size() + 2) continue;
    if (out) return std::nullopt;
    out = Reduction{&leaf, path, {}};
  }
  if (!out) return std::nullopt;
  for (std::size_t depth = 1; depth < out->path.size(); ++depth) {
    const Path at(out->path.begin(), out->path.begin() + static_cast<std::ptrdiff_t>(depth));
    out->extents.push_back(freeExtent(program, at));
  }
  return out;
}

/// What a step costs a core that does one thing at a time, beside multiply-adds and loads.
constexpr double kScalarStep = 3;

/// How a core does the steps of a reduction.
enum class Core : std::uint8_t { scalar, near, far };

/// Cycles for one step of the reduction in a block.
double stepCycles(std::int64_t rows, std::int64_t vectors, Core core) {
  const auto r = static_cast<double>(rows), v = static_cast<double>(vectors);
  if (core == Core::scalar) return r * v + r + v + kScalarStep;
  return std::max({r * v / kMultiplyAdds, (r + v) / kLoads, kLatency}) + kStep +
         (core == Core::far ? kFar * v : 0);
}

/// A loop of `extent` in blocks of `size`: how many whole ones, and what is left.
struct Blocks {
  std::int64_t whole, rest;
  Blocks(std::int64_t extent, std::int64_t size) : whole(extent / size), rest(extent % size) {}
};

double nestCycles(std::int64_t rowExtent, std::int64_t rows, std::int64_t vectorExtent,
                  std::int64_t vectors, Core core) {
  const Blocks r(rowExtent, rows), v(vectorExtent, vectors);
  const auto times = [](std::int64_t n) { return static_cast<double>(n); };
  double out = times(r.whole * v.whole) * stepCycles(rows, vectors, core);
  if (r.rest > 0) out += times(v.whole) * stepCycles(r.rest, vectors, core);
  if (v.rest > 0) out += times(r.whole) * stepCycles(rows, v.rest, core);
  if (r.rest > 0 && v.rest > 0) out += stepCycles(r.rest, v.rest, core);
  return out;
}

/// Steps in a row where each is so many instructions: what the loop itself costs is then shared.
std::int64_t scalarUnroll(std::int64_t steps, std::int64_t each) {
  for (std::int64_t times = kMostUnrolled; times > 1; --times) {
    if (steps % times == 0 && times * each <= kMostInRow) return times;
  }
  return 1;
}

}  // namespace

Along along(const Access& access, int var) {
  Along out = Along::fixed;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    if (index.isGather()) {
      for (const ir::Affine& affine : index.gatherIndices) {
        if (affine.coef(var) != 0) return Along::strided;
      }
      continue;
    }
    const std::int64_t step = index.affine.coef(var);
    if (step == 0) continue;
    if (d + 1 < access.indices.size() || step != 1) return Along::strided;
    out = Along::contiguous;
  }
  return out;
}

bool isContraction(const ir::Node& node, int depth) {
  if (node.isScope()) {
    const std::vector<ir::Node>& body = node.scope().body;
    return std::any_of(body.begin(), body.end(),
                       [&](const ir::Node& inner) { return isContraction(inner, depth); });
  }
  const ir::Leaf& leaf = node.leaf();
  const std::vector<const Access*> operands = operandsOf(leaf);
  if (!leaf.isReduction() || operands.size() < 2) return false;
  // Each operand lacks a loop that the result and another operand have.
  return std::all_of(operands.begin(), operands.end(), [&](const Access* operand) {
    for (int var = depth; var < ir::kMaxDepth; ++var) {
      if (uses(leaf.dst, var) && !uses(*operand, var)) return true;
    }
    return false;
  });
}

std::vector<moves::Move> blockCalls(const ir::Program& program, const Path& place,
                                    const target::Target& target) {
  const std::optional<Reduction> found = reductionAt(program, place);
  if (!found) return {};
  const ir::Leaf& leaf = *found->leaf;
  const auto first = static_cast<int>(place.size()) - 1;
  const auto depths = static_cast<int>(found->extents.size());
  const auto extent = [&](int var) { return found->extents[static_cast<std::size_t>(var)]; };
  int vector = -1;
  std::vector<int> rows;  // other loops of the result, innermost first
  for (int var = depths - 1; var >= first; --var) {
    if (!uses(leaf.dst, var)) continue;
    if (extent(var) == 0) return {};
    const ir::Index& last = leaf.dst.indices.back();
    if (vector < 0 && !last.isGather() && along(leaf.dst, var) == Along::contiguous) {
      vector = var;
    } else {
      rows.push_back(var);
    }
  }
  if (vector < 0) return {};
  const bool scalar = target.vector.bits == 0;
  // Along the vectors, an operand that isn't contiguous must be worth packing: used by other rows.
  bool packs = false;
  for (const Access* operand : operandsOf(leaf)) {
    if (scalar || along(*operand, vector) != Along::strided) continue;
    const std::int64_t step = operand->indices.back().affine.coef(vector);
    if (step > 1 && step <= 4) continue;
    if (std::all_of(rows.begin(), rows.end(), [&](int row) { return uses(*operand, row); })) {
      return {};
    }
    packs = true;
  }
  // Rows that share what is loaded along the vectors.
  std::size_t chosen = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<const Access*> operands = operandsOf(leaf);
    if (std::any_of(operands.begin(), operands.end(), [&](const Access* operand) {
          return uses(*operand, vector) && !uses(*operand, rows[k]);
        })) {
      chosen = k;
      break;
    }
  }
  std::int64_t steps = 1;
  std::int64_t innermost = 1;
  for (int var = first; var < depths; ++var) {
    if (uses(leaf.dst, var)) continue;
    innermost = std::max<std::int64_t>(extent(var), 1);
    steps *= innermost;
  }
  const std::int64_t product =
      ir::isFloat(program.buffer(leaf.dst.buffer).dtype) ? 1 : kIntegerProduct;
  const std::int64_t lanes = lanesFor(program, place, target);
  const std::int64_t registers = registersFor(program, place, target);
  const std::int64_t vectorExtent = (extent(vector) + lanes - 1) / lanes;
  const std::int64_t rowExtent = rows.empty() ? 1 : extent(rows[chosen]);
  std::vector<std::pair<double, moves::Move>> ranked;
  for (std::int64_t r = 1; r <= std::min<std::int64_t>(rowExtent, 14); ++r) {
    for (std::int64_t v = 1; v <= std::min<std::int64_t>(vectorExtent, 8); ++v) {
      if (r * v + v + 1 > registers) continue;
      // Compilers load a whole step ahead.
      if (scalar && r * v + r + v > registers) continue;
      const std::int64_t width = blockWidth(extent(vector), v, lanes);
      const bool alike = extent(vector) % width == 0;
      const std::int64_t bytes =
          steps * width * ir::sizeBytes(program.buffer(leaf.dst.buffer).dtype);
      // A loop that is left over costs code and a start of its own.
      const double cycles =
          nestCycles(rowExtent, r, alike ? extent(vector) / width * v : vectorExtent, v,
                     scalar               ? Core::scalar
                     : bytes > kNearBytes ? Core::far
                                          : Core::near) *
          (1 + (rowExtent % r != 0 ? 0.03 : 0) + (extent(vector) % (v * lanes) != 0 ? 0.03 : 0)) *
          (1 + 0.002 * static_cast<double>(r + 2 * v));
      const bool apart = !scalar && bytes >= kPanelBytes && r > 1;
      const bool tiled =
          !scalar && bytes > 4 * kPanelBytes && innermost == steps && steps > kTile && r > 1;
      const std::int64_t order = (packs || apart) && r > 1 ? 2 : r > 1 ? 1 : 0;
      const std::int64_t unroll = scalar ? scalarUnroll(innermost, r * v * product)
                                  : innermost <= kMostUnrolled ? innermost
                                                               : 1;
      moves::Move call{"register_block", {place, r, v, static_cast<std::int64_t>(chosen), order}};
      call.args.emplace_back(tiled ? kTile : std::int64_t{0});
      call.args.emplace_back(unroll);
      ranked.emplace_back(cycles, std::move(call));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<moves::Move> out;
  for (auto& [cycles, call] : ranked) {
    if (out.size() < kMostCalls) out.push_back(std::move(call));
  }
  return out;
}

}  // namespace dojo::search
