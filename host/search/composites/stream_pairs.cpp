// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/streams.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// Neighbouring elements that a data mover brings at once.
constexpr std::int64_t kPair = 2;

/// Neighbours in `var` are neighbours in memory.
bool contiguous(const ir::Access& access, int var) {
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    if (access.indices[d].isGather()) return false;
    const std::int64_t want = d + 1 == access.indices.size() ? 1 : 0;
    if (access.indices[d].affine.coef(var) != want) return false;
  }
  return true;
}

/// All that the leaf touches is f32 and, where it varies with `var`, contiguous; at least one does.
bool pairsAlong(const ir::Program& program, const ir::Node& leaf, int var, bool written) {
  bool any = false;
  bool all = true;
  ir::forEachAccess(leaf, [&](const ir::Access& access, ir::Touch touch) {
    const ir::Buffer& buffer = program.buffer(access.buffer);
    all = all && buffer.dtype == ir::DType::f32;
    if (touch == ir::Touch::write && !written) return;
    if (!uses(access, var) || buffer.location == "register") return;
    any = true;
    all = all && contiguous(access, var);
  });
  return any && all;
}

/// The scope is a row of pairs.
bool pairUp(Script& script, const Path& scope, bool unroll) {
  const std::int64_t extent = freeExtent(script.program(), scope);
  if (extent < kPair || extent % kPair != 0) return false;
  if (extent == kPair) return script.apply("vectorize", {scope});
  return script.apply("split_scope", {scope, kPair}) &&
         script.apply("vectorize", {child(scope, 0)}) &&
         (!unroll || script.apply("unroll", {scope}));
}

/// Each leaf of the program below `path` with the scope right around it.
bool isInnermost(const ir::Program& program, const Path& path) {
  const std::vector<ir::Node>& body = scopeAt(program, path)->body;
  return std::all_of(body.begin(), body.end(), [](const ir::Node& node) { return node.isLeaf(); });
}

class StreamPairs final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "stream_pairs",
        "P",
        {{"block", {1, 2, 4, 6, 8}}, {"loop", {0, 1, 2, 3}}},
        "The nest at P, whose elements are f32, goes to data movers and hardware loops two "
        "neighbours at a time: a reduction along what is contiguous, with so many results or "
        "partial sums accumulated at once along a loop over results counted from the innermost; "
        "or loops around leaves, with so many pairs done side by side.",
        4};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (!fits(state.target())) return out;
    for (const ir::Visit& visit : state.nodes()) {
      if (!visit.node->isScope() || freeExtent(state.program(), visit.path) == 0) continue;
      const Path inner = innermost(state.program(), visit.path);
      const bool pairs = !inner.empty() && leavesPair(state.program(), inner);
      if (pairs || stepsOf(state.program(), visit.path)) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& root = std::get<Path>(place);
    if (!fits(script.target())) return script.refuse("the target has no data movers for pairs");
    contractBelow(script, root);
    if (stepsOf(script.program(), root)) {
      if (!reduceNest(script, root, knobs[0], knobs[1])) return false;
      return mapped(script, root);
    }
    const Path inner = innermost(script.program(), root);
    if (inner.empty() || !leavesPair(script.program(), inner)) {
      return script.refuse("nothing here is contiguous and f32");
    }
    const std::vector<ir::Node>& body = scopeAt(script.program(), inner)->body;
    const ir::Leaf& leaf = body.front().leaf();
    if (body.size() == 1 && leaf.isReduction() && !uses(leaf.dst, variableOf(inner))) {
      if (inner != root) return script.refuse("a sum stands alone");
      Path around = root;
      return sum(script, around, knobs[0]) && mapped(script, around);
    }
    return map(script, inner, knobs[0]) && mapped(script, root);
  }

 private:
  static bool fits(const target::Target& target) {
    return hasStreams(target) && target.offersMapping("vector") &&
           target.lanes(ir::sizeBytes(ir::DType::f32)) == kPair;
  }

  static bool mapped(Script& script, const Path& root) {
    return mapStreams(script, root) ||
           script.refuse("nothing of the nest can be mapped to streams");
  }

  /// The loop around leaves of the perfect nest at `at`; empty: there is none.
  static Path innermost(const ir::Program& program, Path at) {
    while (freeExtent(program, at) > 0) {
      if (isInnermost(program, at)) return at;
      if (scopeAt(program, at)->body.size() != 1) break;
      at = child(at, 0);
    }
    return {};
  }

  static bool leavesPair(const ir::Program& program, const Path& loop) {
    if (freeExtent(program, loop) % kPair != 0) return false;
    const std::vector<ir::Node>& body = scopeAt(program, loop)->body;
    return std::all_of(body.begin(), body.end(), [&](const ir::Node& leaf) {
      return pairsAlong(program, leaf, variableOf(loop), true);
    });
  }

  /// Which of the loops of the reducing nest at `place` runs along what is contiguous.
  static std::optional<std::size_t> stepsOf(const ir::Program& program, const Path& place) {
    const std::optional<ReductionNest> nest = reductionNest(program, place);
    if (!nest) return std::nullopt;
    Path at = place;
    at.insert(at.end(), nest->loops.size() - 1, 0);
    at.push_back(nest->keep);
    const int first = variableOf(at);
    Path leaf = at;
    leaf.insert(leaf.end(), nest->reduces.size(), 0);
    for (std::size_t k = nest->reduces.size(); k-- > 0;) {
      Path loop = at;
      loop.insert(loop.end(), k, 0);
      const std::int64_t extent = freeExtent(program, loop);
      if (extent % kPair != 0 || extent < 2 * kPair) continue;
      if (pairsAlong(program, *ir::find(program, leaf), first + static_cast<int>(k), false)) {
        return k;
      }
    }
    return std::nullopt;
  }

  /// Pairs of partial sums for each result of a block; their lanes are added up at the end.
  static bool reduceNest(Script& script, const Path& root, std::int64_t most, std::int64_t back) {
    const ReductionNest nest = *reductionNest(script.program(), root);
    const std::string steps = nest.reduces[*stepsOf(script.program(), root)];
    const std::optional<ReductionBlock> cut = cutBlock(script, root, nest, most, back);
    if (!cut) return false;
    if (cut->width == kPair) return script.refuse("blocks of two results aren't told from pairs");
    std::vector<std::string> core = nest.reduces;
    if (cut->width > 1) core.emplace_back("block");
    LoopNest reducing(script, cut->main, core);
    const int last = static_cast<int>(nest.reduces.size()) - 1;
    if (!reducing.move(steps, last) || !reducing.split(steps, kPair, "lane") ||
        !reducing.move("lane", reducing.size() - 1) ||
        !script.apply("privatize", {reducing.path("lane"), cut->main, std::string("register")})) {
      return false;
    }
    Path leaf = cut->main;
    ++leaf.back();
    leaf.insert(leaf.end(), static_cast<std::size_t>(reducing.size()), 0);
    const ir::BufferId partial = ir::find(script.program(), leaf)->leaf().dst.buffer;
    const std::string partials = script.program().buffer(partial).name;
    const ir::BufferId result = *script.program().find(nest.result);
    if (script.program().buffer(result).location != "register" &&
        !script.apply("cache_write", {cut->body, nest.result, std::string("register")})) {
      return false;
    }
    if (nest.reduces.size() == 1) foldFirst(script, cut->body, partials, cut->width > 1);
    writePairs(script, cut->body);
    return layOutPairs(script, cut->body, partials, cut->width) &&
           (unrollSteps(script, cut->body, cut->width), true);
  }

  /// The child of `body` that reduces into the buffer; -1: none.
  static int reducingChild(const ir::Program& program, const Path& body, const std::string& name) {
    const auto children = static_cast<int>(scopeAt(program, body)->body.size());
    for (int k = 0; k < children; ++k) {
      const std::vector<Path> leaves = leavesBelow(program, child(body, k));
      if (leaves.size() != 1) continue;
      const ir::Leaf& leaf = ir::find(program, leaves.front())->leaf();
      if (leaf.isReduction() && program.buffer(leaf.dst.buffer).name == name) return k;
    }
    return -1;
  }

  /// The first step makes the initial values of the partial sums.
  static void foldFirst(Script& script, const Path& body, const std::string& partials, bool block) {
    const int keep = reducingChild(script.program(), body, partials);
    if (keep < 1 || freeExtent(script.program(), child(body, keep)) < 2) return;
    const Path first = child(body, keep - 1);
    const Path inside = child(child(first, 0), 0);
    Script attempt = script;
    if (attempt.apply("peel_scope", {child(body, keep), std::int64_t{1}}) &&
        attempt.apply("add_scope", {first}) && attempt.apply("join_scopes", {first}) &&
        attempt.apply("join_scopes", {child(first, 0)}) &&
        (!block || attempt.apply("join_scopes", {inside})) &&
        attempt.apply("fold_init", {block ? child(inside, 0) : inside})) {
      script = std::move(attempt);
    }
  }

  /// Results that are neighbours are written as pairs.
  static void writePairs(Script& script, const Path& body) {
    const auto last = static_cast<int>(scopeAt(script.program(), body)->body.size()) - 1;
    const Path path = child(body, last);
    const ir::Scope* scope = scopeAt(script.program(), path);
    if (scope == nullptr || scope->body.size() != 1 || !scope->body.front().isLeaf()) return;
    const ir::Node& leaf = scope->body.front();
    if (leaf.leaf().isReduction() || leaf.leaf().op != ir::Op::copy) return;
    if (!pairsAlong(script.program(), leaf, variableOf(path), true)) return;
    Script attempt = script;
    if (pairUp(attempt, path, true)) script = std::move(attempt);
  }

  /// Partial sums of one result become lanes, and blocks of results rows of instructions.
  static bool layOutPairs(Script& script, const Path& body, const std::string& partials,
                          std::int64_t width) {
    const ir::BufferId id = *script.program().find(partials);
    for (const Path& path : scopesBelow(script.program(), body)) {
      if (!isInnermost(script.program(), path)) continue;
      if (freeExtent(script.program(), path) != kPair) continue;
      bool lanes = false;
      for (const ir::Node& leaf : scopeAt(script.program(), path)->body) {
        ir::forEachAccess(leaf, [&](const ir::Access& access, ir::Touch) {
          lanes = lanes || (access.buffer == id && uses(access, variableOf(path)));
        });
      }
      if (lanes && !script.apply("vectorize", {path})) return false;
    }
    if (width == 1) return true;
    for (const Path& path : scopesBelow(script.program(), body)) {
      if (path == body || freeExtent(script.program(), path) != width) continue;
      const std::vector<ir::Node>& inside = scopeAt(script.program(), path)->body;
      const bool block = std::all_of(inside.begin(), inside.end(), [](const ir::Node& node) {
        return node.isLeaf() || node.scope().mapping.has(ir::MapKind::vector);
      });
      if (block && !script.apply("unroll", {path})) return false;
    }
    return true;
  }

  /// Partial sums of a loop that stands alone: pairs, so many at once. `loop` becomes the region.
  static bool sum(Script& script, Path& loop, std::int64_t most) {
    const Path& around = loop;
    Path at = child(around, 0);
    if (!script.apply("add_scope", {around})) return false;
    const std::int64_t extent = freeExtent(script.program(), at);
    const std::int64_t width = kPair * divisorUpTo(extent / kPair, std::min(most, kInFlight));
    if (width == extent)
      return script.refuse("the loop is no longer than the partial sums are many");
    if (!script.apply("split_scope", {at, width}) ||
        !script.apply("privatize", {child(at, 0), at, std::string("register")})) {
      return false;
    }
    for (int k = 0; k < 3; ++k) {
      const Path part = k == 1 ? child(child(around, k), 0) : child(around, k);
      if (!pairUp(script, part, true)) return false;
    }
    const ir::Buffer& result = script.program().buffer(
        ir::find(script.program(), leavesBelow(script.program(), around).back())
            ->leaf()
            .dst.buffer);
    return result.location == "register" ||
           script.apply("cache_write", {around, result.name, std::string("register")});
  }

  /// Products that are added where a mover writes: packed multiply-adds add in registers alone, so
  /// that a product and a sum of their own are an instruction less.
  static void expandSums(Script& script, const Path& loop) {
    for (int k = 0; k < static_cast<int>(scopeAt(script.program(), loop)->body.size()); ++k) {
      const Path path = child(loop, k);
      const ir::Leaf& leaf = ir::find(script.program(), path)->leaf();
      if (leaf.assign != ir::Assign::fma || script.program().buffer(leaf.dst.buffer).isLocal()) {
        continue;
      }
      Script attempt = script;
      if (attempt.apply("open_update", {path}) && attempt.apply("expand_fma", {path})) {
        script = std::move(attempt);
      }
    }
  }

  /// Loops around leaves, leaf by leaf where there are several.
  static bool map(Script& script, const Path& loop, std::int64_t most) {
    expandSums(script, loop);
    const std::int64_t extent = freeExtent(script.program(), loop);
    const std::size_t leaves = scopeAt(script.program(), loop)->body.size();
    const std::int64_t width = kPair * divisorUpTo(extent / kPair, most);
    if (leaves == 1 || width == kPair || width == extent) return pairUp(script, loop, false);
    if (!sideBySide(script, loop, width)) return false;
    const auto parts = static_cast<int>(scopeAt(script.program(), loop)->body.size());
    for (int k = 0; k < parts; ++k) {
      if (!pairUp(script, child(loop, k), true)) return false;
    }
    return true;
  }
};

}  // namespace

const Composite* streamPairs() {
  static const StreamPairs composite;
  return &composite;
}

}  // namespace dojo::search::composite
