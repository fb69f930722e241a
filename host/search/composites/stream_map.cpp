// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <set>

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
    if (width > 1 && scopeAt(script.program(), loop)->body.size() > 1) {
      Script attempt = script;
      if (interleave(attempt, loop, width)) script = std::move(attempt);
    }
    if (mapStreams(script, root)) return true;
    return script.refuse("nothing of the nest can be mapped to streams");
  }

 private:
  static bool interleave(Script& script, const Path& loop, std::int64_t width) {
    if (width == freeExtent(script.program(), loop)) return false;
    if (!script.apply("split_scope", {loop, width})) return false;
    const Path block = child(loop, 0);
    const int outer = variableOf(loop);
    // Values between the leaves get a register for each iteration.
    std::set<std::string> names;
    for (const Path& leaf : leavesBelow(script.program(), block)) {
      const ir::BufferId id = ir::find(script.program(), leaf)->leaf().dst.buffer;
      if (script.program().buffer(id).location == "register") {
        names.insert(script.program().buffer(id).name);
      }
    }
    for (const std::string& name : names) {
      const ir::Access* access = nullptr;
      for (const Path& leaf : leavesBelow(script.program(), block)) {
        const ir::Access& dst = ir::find(script.program(), leaf)->leaf().dst;
        if (script.program().buffer(dst.buffer).name == name) access = &dst;
      }
      const ir::Buffer& buffer = script.program().buffer(access->buffer);
      for (int d = 0; d < buffer.rank(); ++d) {
        const ir::Affine& index = access->indices[static_cast<std::size_t>(d)].affine;
        if (index.coef(outer) != width || index.coef(outer + 1) != 1) continue;
        if (buffer.dims[static_cast<std::size_t>(d)].fold != 1) break;
        if (!script.apply("split_dim", {name, std::int64_t{d}, width}) ||
            !script.apply("materialize_dim", {name, std::int64_t{d} + 1})) {
          return false;
        }
        break;
      }
    }
    while (scopeAt(script.program(), block)->body.size() > 1) {
      const auto last =
          static_cast<std::int64_t>(scopeAt(script.program(), block)->body.size()) - 1;
      if (!script.apply("fission_scope", {block, last})) return false;
    }
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
