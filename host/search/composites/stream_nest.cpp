// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/streams.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// Loops over elements of a result, and in their body one perfect nest that reduces into one of
/// them, with leaves before and after.
struct Pattern {
  std::vector<std::string> loops;    ///< Over elements, outermost first: "l0", ...
  std::vector<std::string> reduces;  ///< Of the reducing nest: "r0", ...
  int keep = 0;                      ///< Child of the innermost body that reduces.
  int children = 1;
  std::string result;
};

std::optional<Pattern> match(const ir::Program& program, const Path& place) {
  Pattern out;
  Path at = place;
  const ir::Scope* inner = nullptr;
  while (true) {
    if (freeExtent(program, at) == 0) return std::nullopt;
    out.loops.push_back("l" + std::to_string(out.loops.size()));
    inner = scopeAt(program, at);
    if (inner->body.size() != 1 || !inner->body.front().isScope()) break;
    at = child(at, 0);
  }
  out.children = static_cast<int>(inner->body.size());
  const auto first = static_cast<int>(place.size()) - 1;
  const int results = first + static_cast<int>(out.loops.size());
  int scopes = 0;
  for (int k = 0; k < out.children; ++k) {
    if (inner->body[static_cast<std::size_t>(k)].isLeaf()) continue;
    ++scopes;
    out.keep = k;
  }
  if (scopes != 1) return std::nullopt;
  at = child(at, out.keep);
  while (scopeAt(program, at) != nullptr) {
    if (freeExtent(program, at) == 0 || scopeAt(program, at)->body.size() != 1) return std::nullopt;
    out.reduces.push_back("r" + std::to_string(out.reduces.size()));
    at = child(at, 0);
  }
  const ir::Leaf& leaf = ir::find(program, at)->leaf();
  if (!leaf.isReduction()) return std::nullopt;
  for (int var = results; var < static_cast<int>(at.size()) - 1; ++var) {
    if (uses(leaf.dst, var)) return std::nullopt;
  }
  out.result = program.buffer(leaf.dst.buffer).name;
  return out;
}

/// Reductions over more loops than the hardware nests: the innermost ones become a row of
/// instructions, as far as the hardware loop holds them.
void unrollSteps(Script& script, const Path& body, std::int64_t width) {
  const target::HardwareLoop& loop = script.target().hardwareLoop;
  std::vector<Path> steps;
  for (const Path& scope : scopesBelow(script.program(), body)) {
    if (scope.size() > body.size() && freeExtent(script.program(), scope) > 1) {
      steps.push_back(scope);
    }
  }
  std::int64_t instructions = width;
  while (static_cast<int>(steps.size()) > loop.nesting) {
    instructions *= freeExtent(script.program(), steps.back());
    if (instructions > loop.instructions || !script.apply("unroll", {steps.back()})) return;
    steps.pop_back();
  }
}

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
      if (visit.node->isScope() && match(state.program(), visit.path)) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    Path root = std::get<Path>(place);
    if (!hasStreams(script.target())) return script.refuse("the target has no data movers");
    std::optional<Pattern> pattern = match(script.program(), root);
    if (!pattern) return script.refuse("no nest that reduces into elements is here");
    contractBelow(script, root);
    std::vector<std::string> loops = pattern->loops;
    const std::size_t back = std::min(static_cast<std::size_t>(knobs[1]), loops.size() - 1);
    const std::string along = loops[loops.size() - 1 - back];
    LoopNest nest(script, root, loops);
    const std::int64_t extent = nest.extent(along);
    const std::int64_t width = divisorUpTo(extent, knobs[0]);
    if (width > 1 && width == extent && loops.size() == 1) {
      // What the block is a part of.
      if (!script.apply("add_scope", {root})) return false;
      loops.insert(loops.begin(), "around");
    }
    LoopNest outer(script, root, loops);
    Path body = outer.path(outer.size() - 1);
    if (width > 1) {
      std::string inner = along;
      if (width < extent) {
        inner = "block";
        if (!outer.split(along, width, inner)) return false;
      }
      if (!outer.move(inner, outer.size() - 1)) return false;
      const int last = outer.size() - 1;
      body = outer.path(last - 1);
      const std::optional<Path> main = outer.isolate(last, pattern->keep, pattern->children);
      if (!main) return false;
      std::vector<std::string> core = {inner};
      core.insert(core.end(), pattern->reduces.begin(), pattern->reduces.end());
      LoopNest reducing(script, *main, core);
      if (!reducing.move(inner, reducing.size() - 1)) return false;
    }
    const std::optional<ir::BufferId> result = script.program().find(pattern->result);
    if (script.program().buffer(*result).location != "register" &&
        !script.apply("cache_write", {body, pattern->result, std::string("register")})) {
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
