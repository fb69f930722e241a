// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/streams.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// The reduction that the loop at `place` does alone into an element that stays the same.
const ir::Leaf* reductionAt(const ir::Program& program, const Path& place) {
  if (freeExtent(program, place) < 2) return nullptr;
  const std::vector<ir::Node>& body = scopeAt(program, place)->body;
  if (body.size() != 1 || !body.front().isLeaf()) return nullptr;
  const ir::Leaf& leaf = body.front().leaf();
  return leaf.isReduction() && !uses(leaf.dst, variableOf(place)) ? &leaf : nullptr;
}

class StreamSum final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "stream_sum",
        "P",
        {{"partials", {1, 2, 3, 4, 6, 8}}, {"fold", {0, 1}}},
        "The loop at P, which reduces into one element, goes to data movers and a hardware loop, "
        "with so many partial accumulators in registers; with fold, the first step makes their "
        "initial values.",
        3};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (!hasStreams(state.target())) return out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && reductionAt(state.program(), visit.path) != nullptr) {
        out.emplace_back(visit.path);
      }
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    Path loop = std::get<Path>(place);
    if (!hasStreams(script.target())) return script.refuse("the target has no data movers");
    if (reductionAt(script.program(), loop) == nullptr) {
      return script.refuse("no loop that reduces into one element is here");
    }
    contractBelow(script, loop);
    const std::string result =
        script.program().buffer(reductionAt(script.program(), loop)->dst.buffer).name;
    // The region: the loop with what it begins and ends with.
    Path around = loop;
    if (!script.apply("add_scope", {around})) return false;
    loop = child(around, 0);
    while (around.back() > 0) {
      Path before = around;
      --before.back();
      const ir::Node& node = *ir::find(script.program(), before);
      if (!node.isLeaf() || node.leaf().dst.buffer != *script.program().find(result)) break;
      if (!script.apply("sink", {before, std::int64_t{0}})) break;
      around = before;
      loop = child(around, loop.back() + 1);
    }
    const std::int64_t width = divisorUpTo(freeExtent(script.program(), loop), knobs[0]);
    if (width > 1) {
      const bool whole = width == freeExtent(script.program(), loop);
      if (whole) return script.refuse("the loop is no longer than the partial sums are many");
      if (!script.apply("split_scope", {loop, width}) ||
          !script.apply("privatize", {child(loop, 0), loop, std::string("register")})) {
        return false;
      }
      ++loop.back();
    }
    if (script.program().buffer(*script.program().find(result)).location != "register" &&
        !script.apply("cache_write", {around, result, std::string("register")})) {
      return false;
    }
    if (knobs[1] != 0 && width > 1) foldFirst(script, around, loop.back());
    for (const Path& scope : scopesBelow(script.program(), around)) {
      const ir::Scope* at = scopeAt(script.program(), scope);
      const bool leaves = std::all_of(at->body.begin(), at->body.end(),
                                      [](const ir::Node& node) { return node.isLeaf(); });
      if (leaves && width > 1 && freeExtent(script.program(), scope) == width &&
          !script.apply("unroll", {scope})) {
        return false;
      }
    }
    if (mapStreams(script, around)) return true;
    return script.refuse("nothing of the loop can be mapped to streams");
  }

 private:
  /// The first step makes the initial values of the partial accumulators.
  static void foldFirst(Script& script, const Path& around, int keep) {
    const Path first = child(around, keep - 1);
    Script attempt = script;
    if (attempt.apply("peel_scope", {child(around, keep), std::int64_t{1}}) &&
        attempt.apply("add_scope", {first}) && attempt.apply("join_scopes", {first}) &&
        attempt.apply("join_scopes", {child(first, 0)}) &&
        attempt.apply("fold_init", {child(child(first, 0), 0)})) {
      script = std::move(attempt);
    }
  }
};

}  // namespace

const Composite* streamSum() {
  static const StreamSum composite;
  return &composite;
}

}  // namespace dojo::search::composite
