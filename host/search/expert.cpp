// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/expert.h"

#include <algorithm>
#include <set>

#include "moves/lowerable.h"
#include "search/composites/streams.h"
#include "search/expert_block.h"
#include "search/expert_streams.h"
#include "search/recipe.h"

namespace dojo::search {
namespace {

using ir::Path;

/// A nest that does less isn't worth waking other harts for.
constexpr double kParallelExecutions = 2e5;
constexpr std::int64_t kPiecesEach = 4;
/// \name Of a piece of a vectorised loop: instructions that are many, cycles to get going, and how
/// much slower each instruction more makes it
/// @{
constexpr double kLongWork = 8;
constexpr double kLongStart = 3.5;
constexpr double kShortStart = 0.5;
constexpr double kCode = 0.0001;
/// @}
/// Instructions that a loop without vectors does in a row, about: its own cost is then little.
constexpr double kRow = 64;
constexpr std::int64_t kMostTimes = 16;

struct Touched {
  std::set<ir::BufferId> read, written;
};

Touched touchedBy(const ir::Node& node) {
  Touched out;
  ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch touch) {
    (touch == ir::Touch::read ? out.read : out.written).insert(access.buffer);
  });
  if (node.isScope()) {
    for (const ir::Node& inner : node.scope().body) {
      Touched below = touchedBy(inner);
      out.read.merge(below.read);
      out.written.merge(below.written);
    }
  }
  return out;
}

bool reduces(const ir::Node& node) {
  if (node.isLeaf()) return node.leaf().isReduction();
  const std::vector<ir::Node>& body = node.scope().body;
  return std::any_of(body.begin(), body.end(), reduces);
}

class GeneralRecipe : private Recipe {
 public:
  explicit GeneralRecipe(Position start) : Recipe(std::move(start)) {}

  Position run() {
    fuse();
    simplify();
    pad();
    block();
    deinterleave();
    vectorize();
    accumulate();
    liftGuards();
    localize();
    unroll();
    spread();
    return std::move(at_);
  }

 private:
  void fuse() {
    everywhere([this](const ir::Visit& visit) {
      const std::vector<ir::Node>* around = ir::siblings(program(), visit.path);
      const auto next = static_cast<std::size_t>(visit.path.back()) + 1;
      if (!visit.node->isScope() || next >= around->size()) return false;
      const ir::Node& second = (*around)[next];
      if (!second.isScope() || !(second.scope().extent == visit.node->scope().extent)) return false;
      const Touched a = touchedBy(*visit.node), b = touchedBy(second);
      const bool passes = std::any_of(a.written.begin(), a.written.end(),
                                      [&](ir::BufferId id) { return b.read.contains(id); });
      const int depth = variableOf(visit.path);
      if (!passes || isContraction(second, depth)) return false;
      if (!isContraction(*visit.node, depth)) return take({"fuse", {visit.path, std::int64_t{3}}});
      return !reduces(second) && joinLoops(visit.path, std::min(chain(*visit.node), chain(second)));
    });
  }

  /// Joins perfect nests so deep; the result keeps its storage, since it's going to be blocked.
  bool joinLoops(Path path, std::int64_t levels) {
    const Position before = at_;
    for (; levels > 0; --levels) {
      if (!take({"join_scopes", {path}})) {
        at_ = before;
        return false;
      }
      path.push_back(0);
    }
    return true;
  }

  /// Loops of which each is all there is in the one around it.
  static std::int64_t chain(const ir::Node& node) {
    std::int64_t out = 1;
    const ir::Node* at = &node;
    while (at->scope().body.size() == 1 && at->scope().body[0].isScope()) {
      at = at->scope().body.data();
      ++out;
    }
    return out;
  }

  void simplify() {
    hoist();
    everywhere([this](const ir::Visit& visit) {
      return visit.node->isLeaf() && visit.node->leaf().assign == ir::Assign::add &&
             take({"contract_fma", {visit.path}});
    });
  }

  /// What a contraction reads under guards is read so often that a padded copy pays.
  void pad() {
    everywhere([this](const ir::Visit& visit) {
      if (!visit.node->isLeaf() || visit.node->guard.empty()) return false;
      const Path nest = {visit.path.front()};
      if (!isContraction(*ir::find(program(), nest), 0)) return false;
      for (const ir::Operand& operand : visit.node->leaf().operands) {
        const auto* access = std::get_if<ir::Access>(&operand);
        if (access == nullptr) continue;
        const std::string& name = program().buffer(access->buffer).name;
        for (const Path& around : {Path{}, nest}) {
          if (take({"pad_cache", {around, name, std::string("heap")}})) return true;
        }
      }
      return false;
    });
  }

  /// From the last nest to the first, so that those to come stay where they are.
  void block() {
    for (auto k = static_cast<int>(program().body.size()); k-- > 0;) {
      const Path top = {k};
      for (const Path& place : scopesBelow(program(), top)) {
        if (freeExtent(program(), place) == 0) continue;
        std::vector<moves::Move> calls = instructCalls(program(), place, target());
        for (moves::Move& call : blockCalls(program(), place, target())) {
          calls.push_back(std::move(call));
        }
        if (std::any_of(calls.begin(), calls.end(),
                        [this](const moves::Move& call) { return take(call); })) {
          break;
        }
      }
    }
  }

  void deinterleave() {
    std::vector<std::string> names;
    for (const ir::Buffer& buffer : program().buffers) {
      if (!buffer.isArgument()) names.push_back(buffer.name);
    }
    for (const std::string& name : names) take({"deinterleave", {name}});
  }

  void vectorize() {
    if (target().vector.bits == 0) return;
    everywhere([this](const ir::Visit& visit) {
      if (!visit.node->isScope()) return false;
      const std::vector<ir::Node>& body = visit.node->scope().body;
      const bool innermost =
          std::all_of(body.begin(), body.end(), [](const ir::Node& n) { return n.isLeaf(); });
      const auto vectorised = [](const ir::Node* node) {
        return node->scope().mapping.has(ir::MapKind::vector);
      };
      if (!innermost || vectorised(visit.node) ||
          std::any_of(visit.enclosing.begin(), visit.enclosing.end(), vectorised)) {
        return false;
      }
      return vectorizeAt(visit.path);
    });
  }

  /// The part of the accesses that a vector along `var` loads and stores at once.
  [[nodiscard]] double smoothness(const Path& nest, int var) const {
    double good = 0;
    double all = 0;
    for (const Path& path : leavesBelow(program(), nest)) {
      ir::forEachAccess(*ir::find(program(), path), [&](const ir::Access& a, ir::Touch touch) {
        // A store in pieces costs more than a load.
        const double weight = touch == ir::Touch::write ? 1.5 : 1;
        all += weight;
        if (along(a, var) != Along::strided) good += weight;
      });
    }
    return all == 0 ? 0 : good / all;
  }

  bool vectorizeAt(const Path& innermost) {
    // Loops that can be brought innermost.
    Path top = innermost;
    while (top.size() > 1) {
      const Path above(top.begin(), top.end() - 1);
      if (freeExtent(program(), above) == 0 || scopeAt(program(), above)->body.size() != 1) break;
      top = above;
    }
    Path best;
    double bestScore = 0.49;
    for (Path path = innermost; path.size() >= top.size(); path.pop_back()) {
      const double score = smoothness(innermost, variableOf(path));
      if (freeExtent(program(), path) > 1 && score > bestScore + 1e-9) {
        best = path;
        bestScore = score;
      }
    }
    if (best.empty()) return false;
    const Position before = at_;
    // Where one side is always strided, a tile of both is turned round in registers.
    if (bestScore < 1 && innermost.size() > 1) {
      const Path pair(innermost.begin(), innermost.end() - 1);
      if (take({"turn", {pair, std::int64_t{1}}})) return true;
    }
    for (Path path = best; path.size() < innermost.size(); path.push_back(0)) {
      if (!take({"swap_scopes", {path}})) {
        at_ = before;
        return false;
      }
    }
    const std::int64_t extent = freeExtent(program(), innermost);
    const std::vector<std::int64_t> counts = vectorCounts(innermost, extent);
    // Rather fewer vectors than code that searches wouldn't go on from.
    const Position unmapped = at_;
    for (const bool small : {true, false}) {
      for (const std::int64_t vectors : counts) {
        if (!take({"vectorize_loop", {innermost, vectors}})) continue;
        if (!small || worthTrying(*at_.state())) return true;
        at_ = unmapped;
      }
    }
    at_ = before;
    return false;
  }

  /// Instructions of an iteration, about.
  [[nodiscard]] double workOf(const Path& loop) const {
    double work = 0;
    for (const Path& path : leavesBelow(program(), loop)) {
      const ir::OpInfo& op = ir::info(ir::find(program(), path)->leaf().op);
      work += op.arity == 1 && !op.integers ? 16 : 1;
    }
    return work;
  }

  /// Vectors in a piece, best first.
  [[nodiscard]] std::vector<std::int64_t> vectorCounts(const Path& loop,
                                                       std::int64_t extent) const {
    const std::int64_t lanes = lanesFor(program(), loop, target());
    bool sums = false;
    for (const Path& path : leavesBelow(program(), loop)) {
      const ir::Leaf& leaf = ir::find(program(), path)->leaf();
      sums = sums || (leaf.isReduction() && !uses(leaf.dst, variableOf(loop)));
    }
    const double work = workOf(loop);
    std::vector<std::pair<double, std::int64_t>> ranked;
    for (std::int64_t v = 1; v <= std::max(1, target().vector.grouping); ++v) {
      const std::int64_t width = v * lanes;
      if (v > 1 && width > extent) break;
      const std::int64_t rest = extent % width;
      const auto pieces = static_cast<double>(extent / width);
      // A sum waits for itself; each piece costs its branch, and long chains their start; a rest is
      // a loop of its own.
      const double start = work > kLongWork ? kLongStart : kShortStart;
      const double piece = std::max(work * static_cast<double>(v), sums ? 4.0 : 0.0) + start;
      double cycles = pieces * piece;
      if (rest > 0) cycles += work * static_cast<double>((rest + lanes - 1) / lanes) + 4;
      ranked.emplace_back(cycles * (1 + kCode * work * static_cast<double>(v)), v);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::int64_t> out;
    for (const auto& [cycles, v] : ranked) out.push_back(v);
    return out;
  }

  /// What a loop that stayed as it is sums up is kept in a register.
  void accumulate() {
    everywhere([this](const ir::Visit& visit) {
      if (!visit.node->isLeaf() || !visit.node->leaf().isReduction() || visit.path.size() < 3) {
        return false;
      }
      const ir::Access& sum = visit.node->leaf().dst;
      const ir::Buffer& buffer = program().buffer(sum.buffer);
      const Path loop(visit.path.begin(), visit.path.end() - 1);
      const bool lanes = std::any_of(
          visit.enclosing.begin(), visit.enclosing.end(),
          [](const ir::Node* node) { return node->scope().mapping.has(ir::MapKind::vector); });
      if (lanes || buffer.location == "register" || uses(sum, variableOf(loop))) return false;
      const Path around(loop.begin(), loop.end() - 1);
      return take({"cache_write", {around, buffer.name, std::string("register")}});
    });
  }

  /// What decides for a whole scope is asked once, not by each of its leaves.
  void liftGuards() {
    everywhere([this](const ir::Visit& visit) {
      if (!visit.node->isScope()) return false;
      const std::size_t terms = visit.node->scope().body.front().guard.size();
      for (std::size_t k = 0; k < terms; ++k) {
        if (take({"lift_guard", {visit.path, static_cast<std::int64_t>(k)}})) return true;
      }
      return false;
    });
  }

  void localize() {
    std::vector<std::string> names;
    for (const ir::Buffer& buffer : program().buffers) {
      if (!buffer.isArgument()) names.push_back(buffer.name);
    }
    for (const std::string& name : names) {
      const std::optional<ir::BufferId> id = program().find(name);
      if (id && program().buffer(*id).location != "register") take({"localize", {name}});
    }
  }

  /// Without vectors, the iterations of innermost loops stand in a row.
  void unroll() {
    if (target().vector.bits != 0) return;
    everywhere([this](const ir::Visit& visit) {
      const std::int64_t extent = freeExtent(program(), visit.path);
      if (extent < 2) return false;
      const std::vector<ir::Node>& body = visit.node->scope().body;
      if (!std::all_of(body.begin(), body.end(), [](const ir::Node& n) { return n.isLeaf(); })) {
        return false;
      }
      const auto fit = static_cast<std::int64_t>(kRow / workOf(visit.path));
      const std::int64_t most = std::min({fit, kMostTimes, extent});
      if (most < 2) return false;
      // Rather fewer than a rest.
      std::int64_t times = most;
      while (extent % times != 0 && times > most / 2) --times;
      if (extent % times != 0) times = most;
      return take({"unroll_by", {visit.path, times}});
    });
  }

  void spread() {
    if (target().harts < 2 || !target().offersMapping("parallel")) return;
    for (auto k = static_cast<int>(program().body.size()); k-- > 0;) {
      const Path top = {k};
      double executions = 0;
      for (const Path& leaf : leavesBelow(program(), top)) {
        double each = 1;
        for (std::size_t depth = 1; depth < leaf.size(); ++depth) {
          const Path at(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(depth));
          const ir::Scope& scope = *scopeAt(program(), at);
          if (scope.extent.isConstant()) each *= static_cast<double>(scope.extent.count);
        }
        executions += each;
      }
      if (executions <= kParallelExecutions) continue;
      // A loop of one iteration spreads nothing.
      Path place = top;
      while (freeExtent(program(), place) == 1 && scopeAt(program(), place)->body.size() == 1 &&
             freeExtent(program(), child(place, 0)) > 0) {
        place = child(place, 0);
      }
      take({"parallelize_by", {place, kPiecesEach}});
    }
  }
};

}  // namespace

Position expert(const Position& start) {
  const std::vector<ir::Buffer>& buffers = start.state()->program().buffers;
  const bool floats = std::any_of(buffers.begin(), buffers.end(),
                                  [](const ir::Buffer& b) { return ir::isFloat(b.dtype); });
  const bool streams = floats && hasStreams(start.state()->target());
  return streams ? expertOnStreams(start) : GeneralRecipe(start).run();
}

}  // namespace dojo::search
