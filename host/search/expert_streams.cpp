// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/expert_streams.h"

#include <algorithm>
#include <optional>

#include "moves/lowerable.h"
#include "moves/streams.h"
#include "search/banks.h"
#include "search/composites/streams.h"
#include "search/expert_block.h"
#include "search/expert_transfers.h"
#include "search/recipe.h"

namespace dojo::search {
namespace {

using ir::Path;

/// Iterations of what takes a routine that are put in a row.
constexpr std::int64_t kRoutinesInRow = 4;
/// Executions of leaves from which on it pays to wake the other harts.
constexpr double kParallelWork = 4000;

class StreamRecipe : private Recipe {
 public:
  explicit StreamRecipe(Position start) : Recipe(std::move(start)) {}

  Position run() {
    hoist();
    pad();
    peel();
    part();
    map();
    unroll();
    return std::move(at_);
  }

 private:
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

  [[nodiscard]] bool simple(const ir::Node& node) const {
    return moves::loopInstructions(program(), node, target()) > 0;
  }

  /// The same from the last node to the first: what is inside comes before what is around.
  template <class Step>
  void fromInside(const Step& step) {
    for (int round = 0; round < kMostRounds; ++round) {
      const StatePtr state = at_.state();
      const std::vector<ir::Visit>& nodes = state->nodes();
      if (std::none_of(nodes.rbegin(), nodes.rend(), step)) return;
    }
  }

  /// Guards of a padded copy are decided once and for all by loops that are cut where they change.
  void peel() {
    everywhere([this](const ir::Visit& visit) {
      const std::int64_t extent = freeExtent(program(), visit.path);
      const int var = variableOf(visit.path);
      if (extent < 2) return false;
      for (const Path& leaf : leavesBelow(program(), visit.path)) {
        for (const ir::GuardTerm& term : ir::find(program(), leaf)->guard) {
          if (!(term.expr + ir::Affine(-term.expr.constant()) == ir::Affine::variable(var)))
            continue;
          for (const std::int64_t at : {term.lo, term.hi}) {
            const std::int64_t cut = at - term.expr.constant();
            if (cut > 0 && cut < extent && take({"peel_scope", {visit.path, cut}})) return true;
          }
        }
      }
      return false;
    });
  }

  static bool touches(const ir::Node& node, ir::BufferId id) {
    return ir::mentionsBuffer(node, id);
  }

  /// What is copied beside the rest stays beside it.
  static bool transfers(const ir::Node& node) {
    if (node.isLeaf()) return false;
    const std::vector<ir::Node>& body = node.scope().body;
    return node.scope().mapping.has(ir::MapKind::dma) ||
           std::any_of(body.begin(), body.end(), transfers);
  }

  /// A constant that is assigned.
  static bool isInitial(const ir::Node& node) {
    return node.isLeaf() && !node.leaf().isReduction() && node.leaf().op == ir::Op::copy &&
           std::holds_alternative<ir::Constant>(node.leaf().operands.front());
  }

  /// Initial values stand right before what uses them. Then bodies are cut between what is one
  /// instruction and what takes a routine, between sums and what they sum up, and between nests.
  void part() {
    fromInside([this](const ir::Visit& visit) {
      if (freeExtent(program(), visit.path) == 0 || transfers(*visit.node)) return false;
      const std::vector<ir::Node>& body = visit.node->scope().body;
      for (std::size_t k = 0; k + 1 < body.size(); ++k) {
        if (!isInitial(body[k]) || touches(body[k + 1], body[k].leaf().dst.buffer)) continue;
        if (isInitial(body[k + 1])) continue;
        if (take({"swap_siblings", {child(visit.path, static_cast<int>(k))}})) return true;
      }
      for (std::size_t k = 1; k < body.size(); ++k) {
        const std::size_t at = boundary(body, k, variableOf(visit.path));
        if (at > 0 && cut(visit.path, static_cast<std::int64_t>(at))) return true;
      }
      return false;
    });
  }

  /// Where the body is to be cut so that child k doesn't stand with all of those before; 0: not.
  [[nodiscard]] std::size_t boundary(const std::vector<ir::Node>& body, std::size_t k,
                                     int var) const {
    const auto sums = [&](const ir::Node& node) {
      return node.leaf().isReduction() && !uses(node.leaf().dst, var);
    };
    const auto scopes = [&](std::size_t end) {
      return std::any_of(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(end),
                         [](const ir::Node& node) { return node.isScope(); });
    };
    std::size_t at = k;
    while (body[k].isScope() && at > 0 && isInitial(body[at - 1]) &&
           touches(body[k], body[at - 1].leaf().dst.buffer)) {
      --at;
    }
    if (at == 0) return 0;
    if (simple(body[at - 1]) != simple(body[k])) return at;
    if (body[k].isScope()) return scopes(at) ? at : 0;
    return body[k - 1].isLeaf() && sums(body[k - 1]) != sums(body[k]) && !scopes(body.size()) ? k
                                                                                              : 0;
  }

  /// Values that pass between the parts are kept in memory.
  bool cut(const Path& scope, std::int64_t k) {
    const Position before = at_;
    const bool lowerable = lowerable_;
    if (take({"fission_scope", {scope, k}})) return true;
    const std::vector<ir::Buffer> buffers = program().buffers;
    for (const ir::Buffer& buffer : buffers) {
      if (buffer.isArgument()) continue;
      bool folded = false;
      for (int d = 0; d < buffer.rank(); ++d) {
        folded = folded || buffer.dims[static_cast<std::size_t>(d)].fold == 1;
      }
      if (!folded && buffer.location != "register") continue;
      bool inside = false;
      for (const Path& leaf : leavesBelow(program(), scope)) {
        inside =
            inside || ir::mentionsBuffer(*ir::find(program(), leaf), *program().find(buffer.name));
      }
      if (!inside) continue;
      if (buffer.location == "register") take({"set_location", {buffer.name, std::string("heap")}});
      for (int d = 0; d < buffer.rank(); ++d) {
        if (buffer.dims[static_cast<std::size_t>(d)].fold == 1) {
          take({"materialize_dim", {buffer.name, std::int64_t{d}}});
        }
      }
      if (take({"fission_scope", {scope, k}})) return true;
    }
    at_ = before;
    lowerable_ = lowerable;
    return false;
  }

  /// How far a nest got: hardware loops, then what is streamed.
  struct Score {
    std::int64_t loops = 0, streams = 0;
    auto operator<=>(const Score&) const = default;
  };
  static Score scoreOf(const ir::Program& program) {
    Score out;
    ir::walk(program, [&](const ir::Visit& visit) {
      if (visit.node->isScope()) {
        const ir::Mapping& mapping = visit.node->scope().mapping;
        out.loops += mapping.has(ir::MapKind::frep) ? 1 : 0;
        out.streams += static_cast<std::int64_t>(mapping.streams.size());
      }
      return true;
    });
    return out;
  }

  using Calls = std::vector<moves::Move>;

  [[nodiscard]] static std::vector<Calls> callsAt(const Path& path) {
    std::vector<Calls> out;
    for (std::int64_t loop = 0; loop < 4; ++loop) {
      for (const std::int64_t block : {8, 4, 6, 12, 16}) {
        out.push_back({{"stream_nest", {path, block, loop, std::int64_t{1}}}});
      }
    }
    for (std::int64_t loop = 0; loop < 3; ++loop) {
      for (const std::int64_t block : {8, 4, 6, 1}) {
        out.push_back({{"stream_pairs", {path, block, loop}}});
      }
    }
    out.push_back({{"stream_sum", {path, kInFlight, std::int64_t{1}}}});
    // What stays the same in the loop that comes inside needs no mover.
    const moves::Move turn = {"swap_scopes", {path}};
    for (const std::int64_t block : {kInFlight, std::int64_t{1}}) {
      const moves::Move map = {"stream_map", {path, block}};
      out.push_back({map});
      out.push_back({turn, map});
    }
    return out;
  }

  static bool add(Position& position, const Calls& calls) {
    return std::all_of(calls.begin(), calls.end(),
                       [&](const moves::Move& call) { return position.add(call); });
  }

  /// From the last nest to the first, so that those to come stay where they are.
  void map() {
    for (auto k = static_cast<int>(program().body.size()); k-- > 0;) mapAt({k});
  }

  /// The calls at `path` after which the program gets furthest.
  [[nodiscard]] std::optional<Position> best(const Position& from, const Path& path) const {
    std::optional<Position> out;
    for (const Calls& calls : callsAt(path)) {
      Position next = from;
      if (!add(next, calls)) continue;
      if (!moves::lowerable(next.state()->program(), target()).ok()) continue;
      if (out && scoreOf(next.state()->program()) <= scoreOf(out->state()->program())) continue;
      out = std::move(next);
    }
    return out;
  }

  /// A way to share a nest among the harts.
  struct Share {
    std::int64_t pieces = 0;
    Score score;
    double cycles = 0;
    Position position;
    [[nodiscard]] bool betterThan(const Share& other) const {
      if (pieces != other.pieces) return pieces > other.pieces;
      if (score != other.score) return score > other.score;
      return cycles < other.cycles;
    }
  };

  /// A share of the nest at `path` for each hart, of the loop whose data the harts meet least in
  /// one bank, and each share mapped as a nest of its own.
  [[nodiscard]] std::optional<Position> spread(const Path& path) const {
    if (target().harts < 2 || !target().offersMapping("parallel")) return std::nullopt;
    if (workBelow(path) < kParallelWork) return std::nullopt;
    std::optional<Share> out;
    Path loop = path;
    while (freeExtent(program(), loop) > 0) {
      Position turned = at_;
      bool swapped = true;
      for (Path at = loop; swapped && at.size() > path.size();) {
        at.pop_back();
        swapped = turned.add({"swap_scopes", {at}});
      }
      if (swapped) shares(turned, path, out);
      if (scopeAt(program(), loop)->body.size() != 1) break;
      loop.push_back(0);
    }
    if (out) return std::move(out->position);
    // What can't be mapped to streams is done by several harts at least.
    Position next = at_;
    if (cutFor(next, path) < 2 || !next.add({"parallelize", {path}}) ||
        !moves::lowerable(next.state()->program(), target()).ok()) {
      return std::nullopt;
    }
    return next;
  }

  /// Makes the loop at `path` one of a piece for each hart; how many they are.
  [[nodiscard]] std::int64_t cutFor(Position& position, const Path& path) const {
    const std::int64_t extent = freeExtent(position.state()->program(), path);
    const std::int64_t pieces = divisorUpTo(extent, target().harts);
    if (pieces > 1 && pieces < extent && !position.add({"split_scope", {path, extent / pieces}})) {
      return 0;
    }
    return pieces;
  }

  /// `out` becomes the best way to share the loop at `path` if that is better.
  void shares(Position from, const Path& path, std::optional<Share>& out) const {
    const std::int64_t pieces = cutFor(from, path);
    if (pieces < 2 || (out && pieces < out->pieces)) return;
    const std::size_t children = scopeAt(from.state()->program(), path)->body.size();
    for (int k = 0; k < static_cast<int>(children); ++k) {
      const Path inner = child(path, k);
      if (scopeAt(from.state()->program(), inner) == nullptr) continue;
      for (const Calls& calls : callsAt(inner)) {
        Position next = from;
        if (!add(next, calls) || !next.add({"parallelize", {path}})) continue;
        const ir::Program& result = next.state()->program();
        if (!moves::lowerable(result, target()).ok()) continue;
        Share share{pieces, scoreOf(result), bankCycles(result, path, target()), std::move(next)};
        if (!out || share.betterThan(*out)) out = std::move(share);
      }
    }
  }

  [[nodiscard]] double workBelow(const Path& path) const {
    double out = 0;
    for (const Path& leaf : leavesBelow(program(), path)) {
      double each = 1;
      for (std::size_t depth = path.size(); depth < leaf.size(); ++depth) {
        const Path at(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(depth));
        const ir::Extent& extent = scopeAt(program(), at)->extent;
        if (extent.isConstant()) each *= static_cast<double>(extent.count);
      }
      out += each;
    }
    return out;
  }

  void mapAt(const Path& path) {
    if (scopeAt(program(), path) == nullptr) return;
    if (path.size() == 1) {
      if (std::optional<Position> shared = spread(path)) {
        at_ = std::move(*shared);
        return;
      }
    }
    if (std::optional<Position> found = best(at_, path)) {
      at_ = std::move(*found);
      return;
    }
    const std::size_t children = scopeAt(program(), path)->body.size();
    for (auto k = static_cast<int>(children); k-- > 0;) mapAt(child(path, k));
  }

  /// What is left to routines is done several times in a row, so that they overlap.
  void unroll() {
    everywhere([this](const ir::Visit& visit) {
      const std::int64_t extent = freeExtent(program(), visit.path);
      if (extent < 2) return false;
      for (const ir::Node* around : visit.enclosing) {
        if (!around->scope().mapping.none()) return false;
      }
      const std::vector<ir::Node>& body = visit.node->scope().body;
      if (!std::all_of(body.begin(), body.end(), [](const ir::Node& n) { return n.isLeaf(); })) {
        return false;
      }
      const std::int64_t times = divisorUpTo(extent, kRoutinesInRow);
      return times > 1 && take({"unroll_by", {visit.path, times}});
    });
  }
};

}  // namespace

Position expertOnStreams(const Position& start) {
  return StreamRecipe(expertTransfers(start)).run();
}

}  // namespace dojo::search
