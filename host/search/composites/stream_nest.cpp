// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/streams.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

class StreamNest final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "stream_nest",
        "P",
        {{"block", {1, 2, 4, 6, 8, 12, 16}}, {"loop", {0, 1, 2, 3}}, {"fold", {0, 1}}},
        "The reduction nest at P goes to data movers and hardware loops: so many elements of the "
        "result are accumulated in registers at once, along a loop over elements counted from the "
        "innermost; with fold, the first step of the reduction makes the initial values and the "
        "last one writes the result.",
        6};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (!hasStreams(state.target())) return out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && reductionNest(state.program(), visit.path))
        out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& root = std::get<Path>(place);
    if (!hasStreams(script.target())) return script.refuse("the target has no data movers");
    const std::optional<ReductionNest> nest = reductionNest(script.program(), root);
    if (!nest) return script.refuse("no nest that reduces into elements is here");
    contractBelow(script, root);
    const std::optional<ReductionBlock> cut = cutBlock(script, root, *nest, knobs[0], knobs[1]);
    if (!cut) return false;
    const Path body = cut->body;
    const std::int64_t width = cut->width;
    const std::optional<ir::BufferId> result = script.program().find(nest->result);
    if (script.program().buffer(*result).location != "register" &&
        !script.apply("cache_write", {body, nest->result, std::string("register")})) {
      return false;
    }
    // A copy in, if there had to be one, now stands first.
    int keep = -1;
    const ir::Scope* block = scopeAt(script.program(), body);
    for (int k = 0; k < static_cast<int>(block->body.size()); ++k) {
      const Path at = child(body, k);
      if (scopesBelow(script.program(), at).size() > (width > 1 ? 1 : 0)) keep = k;
    }
    if (keep < 0) return script.refuse("the reduction isn't where it was");
    if (knobs[2] != 0 && width > 1) foldEnds(script, body, keep);
    for (const Path& scope : scopesBelow(script.program(), body)) {
      const ir::Scope* at = scopeAt(script.program(), scope);
      const bool leaves = std::all_of(at->body.begin(), at->body.end(),
                                      [](const ir::Node& node) { return node.isLeaf(); });
      if (leaves && freeExtent(script.program(), scope) == width && width > 1 &&
          !script.apply("unroll", {scope})) {
        return false;
      }
    }
    unrollSteps(script, body, width);
    if (mapStreams(script, root)) return true;
    return script.refuse("nothing of the nest can be mapped to streams");
  }
};

}  // namespace

const Composite* streamNest() {
  static const StreamNest composite;
  return &composite;
}

}  // namespace dojo::search::composite
