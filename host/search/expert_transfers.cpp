// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/expert_transfers.h"

#include <algorithm>
#include <map>
#include <optional>

#include "search/recipe.h"

namespace dojo::search {
namespace {

using ir::Path;

/// What a tile costs beside its steps: commands for the engine, and loops that start anew.
constexpr double kTileCycles = 400;
/// Bytes that the engine moves in a cycle.
constexpr double kBytesEach = 64;
/// The part of the scratchpad that tiles may take; the rest is for other buffers.
constexpr double kShare = 0.8;

/// One of the loops that are cut, and into tiles of how many iterations.
struct Cut {
  int loop = 0;  ///< Of the perfect nest, counted from the outermost.
  std::int64_t size = 0;
};

/// A buffer far away, as a nest uses it.
struct Far {
  std::string name;
  bool written = false;
  std::vector<std::pair<ir::Access, Path>> accesses;  ///< With the leaf of each.
};

class TransferRecipe : private Recipe {
 public:
  explicit TransferRecipe(Position start) : Recipe(std::move(start)) {}

  Position run() {
    if (!target().offersMapping("dma")) return std::move(at_);
    for (auto k = static_cast<int>(program().body.size()); k-- > 0;) nest({k});
    return std::move(at_);
  }

 private:
  [[nodiscard]] bool isFar(ir::BufferId id) const {
    const ir::Buffer& buffer = program().buffer(id);
    return !buffer.isLocal() && buffer.location != "heap";
  }

  /// \name The nest as it is found
  /// @{
  [[nodiscard]] std::vector<Far> farBelow(const Path& path) const {
    std::vector<Far> out;
    for (const Path& leaf : leavesBelow(program(), path)) {
      ir::forEachAccess(*ir::find(program(), leaf), [&](const ir::Access& access, ir::Touch touch) {
        if (!isFar(access.buffer)) return;
        const std::string& name = program().buffer(access.buffer).name;
        auto found = std::find_if(out.begin(), out.end(),
                                  [&](const Far& each) { return each.name == name; });
        if (found == out.end()) found = out.insert(out.end(), Far{name, false, {}});
        found->written = found->written || touch == ir::Touch::write;
        found->accesses.emplace_back(access, leaf);
      });
    }
    return out;
  }

  [[nodiscard]] std::vector<std::int64_t> perfectLoops(Path at) const {
    std::vector<std::int64_t> out;
    while (freeExtent(program(), at) > 0) {
      out.push_back(freeExtent(program(), at));
      if (scopeAt(program(), at)->body.size() != 1) break;
      at.push_back(0);
    }
    return out;
  }

  /// Bytes of the box that a tile touches.
  [[nodiscard]] double boxBytes(const Far& far, const Path& path,
                                const std::vector<Cut>& cuts) const {
    const ir::Buffer& buffer = program().buffer(*program().find(far.name));
    std::vector<ir::Interval> box(buffer.dims.size(), {0, 0});
    bool first = true;
    for (const auto& [access, leaf] : far.accesses) {
      std::vector<ir::Interval> ranges;
      for (std::size_t length = 1; length < leaf.size(); ++length) {
        const Path around(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(length));
        ranges.push_back(ir::variableRange(program(), *scopeAt(program(), around)));
      }
      for (const Cut& cut : cuts) {
        ranges[path.size() - 1 + static_cast<std::size_t>(cut.loop)] = {0, cut.size};
      }
      for (std::size_t d = 0; d < box.size(); ++d) {
        const ir::Index& index = access.indices[d];
        const ir::Interval here = index.isGather() ? ir::Interval{0, buffer.dims[d].extent}
                                                   : ir::valueRange(index.affine, ranges);
        box[d] =
            first ? here : ir::Interval{std::min(box[d].lo, here.lo), std::max(box[d].hi, here.hi)};
      }
      first = false;
    }
    double bytes = ir::sizeBytes(buffer.dtype);
    for (std::size_t d = 0; d < box.size(); ++d) {
      bytes *= static_cast<double>(std::min(box[d].hi - box[d].lo, buffer.dims[d].extent));
    }
    return bytes;
  }

  /// The innermost of the cuts whose loop the buffer's elements depend on; -1: none.
  [[nodiscard]] static int levelOf(const Far& far, const Path& path, const std::vector<Cut>& cuts) {
    for (auto level = static_cast<int>(cuts.size()); level-- > 0;) {
      const int var = variableOf(path) + cuts[static_cast<std::size_t>(level)].loop;
      for (const auto& [access, leaf] : far.accesses) {
        if (uses(access, var)) return level;
      }
    }
    return -1;
  }

  [[nodiscard]] double steps(const Path& path) const {
    double out = 0;
    for (const Path& leaf : leavesBelow(program(), path)) {
      double each = 1;
      for (std::size_t length = 1; length < leaf.size(); ++length) {
        const Path at(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(length));
        each *=
            static_cast<double>(std::max<std::int64_t>(scopeAt(program(), at)->extent.count, 1));
      }
      out += each;
    }
    return out / target().harts;
  }

  /// Bytes of the scratchpad that tiles may take.
  [[nodiscard]] double room() const {
    double out = 0;
    for (const target::Memory& memory : target().memories) {
      if (memory.name == target().streams.memory) out = static_cast<double>(memory.length);
    }
    out *= kShare;
    for (const ir::Buffer& buffer : program().buffers) {
      if (!buffer.isLocal() && buffer.location == "heap" && buffer.shares < 0) {
        out -= static_cast<double>(buffer.storageBytes());
      }
    }
    return out;
  }
  /// @}

  /// What these tiles take, in cycles; nullopt: they don't fit.
  [[nodiscard]] std::optional<double> cost(const Path& path, const std::vector<Far>& far,
                                           const std::vector<std::int64_t>& loops,
                                           const std::vector<Cut>& cuts) const {
    std::vector<double> rounds = {1};
    for (const Cut& cut : cuts) {
      const auto tiles = loops[static_cast<std::size_t>(cut.loop)] / cut.size;
      rounds.push_back(rounds.back() * static_cast<double>(tiles));
    }
    double bytes = 0, moved = 0, exposed = 0;
    for (const Far& each : far) {
      const double box = boxBytes(each, path, cuts);
      const int level = levelOf(each, path, cuts);
      bytes += level < 0 ? box : 2 * box;
      moved += box * rounds[static_cast<std::size_t>(level) + 1];
      exposed += box;
    }
    if (bytes > room()) return std::nullopt;
    return std::max(0.0, moved / kBytesEach - steps(path)) + exposed / kBytesEach +
           rounds.back() * kTileCycles;
  }

  [[nodiscard]] static std::vector<std::int64_t> sizesOf(std::int64_t extent) {
    std::vector<std::int64_t> out;
    for (std::int64_t size = 1; size <= extent; ++size) {
      if (extent % size == 0) out.push_back(size);
    }
    return out;
  }

  void nest(const Path& path) {
    const std::vector<Far> far = farBelow(path);
    const std::vector<std::int64_t> loops = perfectLoops(path);
    if (far.empty() || loops.empty()) return;
    std::vector<std::pair<double, std::vector<Cut>>> ranked;
    const auto consider = [&](std::vector<Cut> cuts) {
      std::erase_if(cuts, [&](const Cut& cut) {
        return cut.size == loops[static_cast<std::size_t>(cut.loop)];
      });
      const std::optional<double> cycles = cost(path, far, loops, cuts);
      if (cycles) ranked.emplace_back(*cycles, std::move(cuts));
    };
    for (const std::int64_t outer : sizesOf(loops[0])) {
      if (loops.size() == 1) {
        consider({{0, outer}});
        continue;
      }
      for (const std::int64_t inner : sizesOf(loops[1])) {
        consider({{0, outer}, {1, inner}});
        consider({{1, inner}, {0, outer}});
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    constexpr std::size_t kTries = 8;
    for (std::size_t k = 0; k < std::min(ranked.size(), kTries); ++k) {
      if (tiled(path, far, ranked[k].second)) return;
    }
  }

  /// Cuts the nest, puts copies around the tiles and brings them ahead. False: nothing was done.
  bool tiled(const Path& path, const std::vector<Far>& far, const std::vector<Cut>& cuts) {
    const Position before = at_;
    const bool lowerable = lowerable_;
    const auto undo = [&] {
      at_ = before;
      lowerable_ = lowerable;
      return false;
    };
    std::vector<int> levels;
    for (const Far& each : far) levels.push_back(levelOf(each, path, cuts));
    if (!cut(path, cuts)) return undo();
    // What is near comes to the innermost tiles first, so that the places of the others stay.
    std::vector<Path> tiles;
    for (std::size_t level = 0; level < cuts.size(); ++level) {
      Path at = path;
      at.insert(at.end(), level, 0);
      tiles.push_back(at);
    }
    for (auto level = static_cast<int>(cuts.size()); level-- >= 0;) {
      const Path& around = level < 0 ? Path{} : tiles[static_cast<std::size_t>(level)];
      int copies = 0;
      int results = 0;
      for (const bool written : {true, false}) {
        for (std::size_t k = 0; k < far.size(); ++k) {
          if (levels[k] != level || far[k].written != written) continue;
          const int children = childrenOf(around);
          const ir::Program old = program();
          if (!take({written ? "cache_write" : "cache_read",
                     {around, far[k].name, std::string("heap")}})) {
            return undo();
          }
          const int more = childrenOf(around) - children;
          results += written ? 1 : 0;
          copies += more - (written ? 1 : 0);
          for (const ir::Buffer& buffer : std::vector<ir::Buffer>(program().buffers)) {
            if (level < 0 || old.find(buffer.name)) continue;
            take({"add_dim", {buffer.name, std::int64_t{0}, std::int64_t{variableOf(around)}}});
            if (written && more == 1) halve(buffer.name);
          }
        }
      }
      const int children = childrenOf(around);
      for (int k = 0; k < children; ++k) {
        if (k < copies || k >= children - results) take({"dma", {child(around, k)}});
      }
      if (level < 0) continue;
      ahead(around, copies);
    }
    return true;
  }

  /// Tiles of the loops become the outermost loops, in the order of the cuts.
  bool cut(const Path& path, const std::vector<Cut>& cuts) {
    if (cuts.empty()) return true;
    const auto at = [&](int depth) {
      Path out = path;
      out.insert(out.end(), static_cast<std::size_t>(depth), 0);
      return out;
    };
    // By loop: the first two of the nest.
    std::vector<Cut> sorted = cuts;
    std::sort(sorted.begin(), sorted.end(),
              [](const Cut& a, const Cut& b) { return a.loop < b.loop; });
    int tiles = 0;
    for (const Cut& each : sorted) {
      const int depth = each.loop + tiles;
      if (!take({"split_scope", {at(depth), each.size}})) return false;
      for (int k = depth; k > tiles; --k) {
        if (!take({"swap_scopes", {at(k - 1)}})) return false;
      }
      ++tiles;
    }
    const bool turned = cuts.size() == 2 && cuts.front().loop > cuts.back().loop;
    return !turned || take({"swap_scopes", {path}});
  }

  [[nodiscard]] int childrenOf(const Path& path) const {
    return static_cast<int>(path.empty() ? program().body.size()
                                         : scopeAt(program(), path)->body.size());
  }

  /// What one tile writes may still be on its way while the next is computed.
  void halve(const std::string& name) {
    const Position before = at_;
    if (!take({"materialize_dim", {name, std::int64_t{0}}}) ||
        !take({"reuse_dim", {name, std::int64_t{0}, std::int64_t{2}}})) {
      at_ = before;
    }
  }

  /// The first `copies` children of the loop are done one iteration ahead, each behind what is
  /// ahead already.
  void ahead(Path loop, int copies) {
    for (int k = 0; k < copies; ++k) {
      for (int at = k; at > 0; --at) {
        if (!take({"swap_siblings", {child(loop, at - 1)}})) return;
      }
      if (!take({"pipeline", {loop}})) return;
      ++loop.back();
    }
  }
};

}  // namespace

Position expertTransfers(const Position& start) { return TransferRecipe(start).run(); }

}  // namespace dojo::search
