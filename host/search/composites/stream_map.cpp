// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/streams.h"
#include "search/composites/all.h"
#include "search/composites/streams.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// The innermost loop of the perfect nest at `place`, whose body is leaves; empty: there is none.
Path innermost(const ir::Program& program, Path at) {
  while (freeExtent(program, at) > 0) {
    const std::vector<ir::Node>& body = scopeAt(program, at)->body;
    if (std::all_of(body.begin(), body.end(), [](const ir::Node& n) { return n.isLeaf(); })) {
      return at;
    }
    if (body.size() != 1) break;
    at = child(at, 0);
  }
  return {};
}

class StreamMap final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "stream_map",
        "P",
        {{"block", {1, 2, 3, 4, 6, 8}}},
        "The nest at P, of loops around leaves, goes to data movers and hardware loops; so many "
        "iterations of the innermost loop are done side by side, leaf by leaf.",
        4};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (!hasStreams(state.target())) return out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && !innermost(state.program(), visit.path).empty()) {
        out.emplace_back(visit.path);
      }
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& root = std::get<Path>(place);
    if (!hasStreams(script.target())) return script.refuse("the target has no data movers");
    const Path loop = innermost(script.program(), root);
    if (loop.empty()) return script.refuse("no loops around leaves are here");
    contractBelow(script, root);
    const std::int64_t extent = freeExtent(script.program(), loop);
    const std::int64_t width = divisorUpTo(extent, knobs[0]);
    const std::vector<ir::Node>& body = scopeAt(script.program(), loop)->body;
    // One instruction doesn't wait for itself, but a routine does.
    const bool waits = body.size() > 1 || moves::loopInstructions(script.program(), body.front(),
                                                                  script.target()) == 0;
    if (width > 1 && waits) {
      Script attempt = script;
      if (interleave(attempt, loop, width)) script = std::move(attempt);
    }
    if (mapStreams(script, root)) return true;
    return script.refuse("nothing of the nest can be mapped to streams");
  }

 private:
  static bool interleave(Script& script, const Path& loop, std::int64_t width) {
    if (!sideBySide(script, loop, width)) return false;
    const auto parts = static_cast<int>(scopeAt(script.program(), loop)->body.size());
    for (int k = 0; k < parts; ++k) {
      if (!script.apply("unroll", {child(loop, k)})) return false;
    }
    return true;
  }
};

}  // namespace

const Composite* streamMap() {
  static const StreamMap composite;
  return &composite;
}

}  // namespace dojo::search::composite
