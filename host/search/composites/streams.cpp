// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/streams.h"

#include <algorithm>
#include <map>
#include <vector>

#include "moves/lowerable.h"
#include "moves/streams.h"

namespace dojo::search {
namespace {

using ir::Path;
using moves::Arg;

/// How often an access comes to another element at or below `path`, and how often it is done.
struct Touches {
  double moved = 0, done = 0;
  auto operator<=>(const Touches&) const = default;
};
std::map<ir::BufferId, Touches> touches(const ir::Program& program, const Path& path) {
  std::map<ir::BufferId, Touches> out;
  for (const Path& leaf : leavesBelow(program, path)) {
    ir::forEachAccess(*ir::find(program, leaf), [&](const ir::Access& access, ir::Touch) {
      Touches one{1, 1};
      for (std::size_t depth = path.size(); depth < leaf.size(); ++depth) {
        const Path at(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(depth));
        one.done *=
            static_cast<double>(std::max<std::int64_t>(scopeAt(program, at)->extent.count, 1));
        if (uses(access, static_cast<int>(depth) - 1)) one.moved = one.done;
      }
      out[access.buffer].moved += one.moved;
      out[access.buffer].done += one.done;
    });
  }
  return out;
}

/// True where the buffer's elements at or below `path` differ from iteration to iteration; what
/// stays is loaded once anyway.
bool varies(const ir::Program& program, const Path& path, ir::BufferId id) {
  bool out = false;
  for (const Path& leaf : leavesBelow(program, path)) {
    ir::forEachAccess(*ir::find(program, leaf), [&](const ir::Access& access, ir::Touch) {
      if (access.buffer != id) return;
      for (std::size_t var = path.size() - 1; var + 1 < leaf.size(); ++var) {
        out = out || uses(access, static_cast<int>(var));
      }
    });
  }
  return out;
}

bool runs(const Script& script) { return moves::lowerable(script.program(), script.target()).ok(); }

/// Streams on the scope itself.
bool streamHere(Script& script, const Path& path) {
  const ir::Node& node = *ir::find(script.program(), path);
  const std::map<ir::BufferId, Touches> counts = touches(script.program(), path);
  std::vector<ir::BufferId> wanted = moves::streamableIn(script.program(), node, script.target());
  std::erase_if(wanted, [&](ir::BufferId id) { return !varies(script.program(), path, id); });
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](ir::BufferId a, ir::BufferId b) { return counts.at(a) > counts.at(b); });
  std::vector<Arg> args = {path};
  std::vector<ir::BufferId> chosen;
  Script best = script;
  for (const ir::BufferId id : wanted) {
    chosen.push_back(id);
    args.emplace_back(script.program().buffer(id).name);
    Script attempt = script;
    if (moves::moversFor(node, chosen) <= script.target().streams.movers &&
        attempt.apply("stream", args) && runs(attempt)) {
      best = std::move(attempt);
      continue;
    }
    chosen.pop_back();
    args.pop_back();
  }
  if (chosen.empty()) return false;
  script = std::move(best);
  return true;
}

/// Hardware loops on scopes at and below the path, inner ones first.
void repeat(Script& script, const Path& path) {
  std::vector<Path> scopes = scopesBelow(script.program(), path);
  std::stable_sort(scopes.begin(), scopes.end(),
                   [](const Path& a, const Path& b) { return a.size() > b.size(); });
  for (const Path& scope : scopes) {
    const ir::Extent& extent = scopeAt(script.program(), scope)->extent;
    if (extent == ir::Extent(1)) continue;
    Script attempt = script;
    if (attempt.apply("frep", {scope}) && runs(attempt)) script = std::move(attempt);
  }
}

}  // namespace

bool hasStreams(const target::Target& target) {
  return target.streams.movers > 0 && target.hardwareLoop.instructions > 0 &&
         target.offersMapping("stream") && target.offersMapping("frep");
}

bool mapStreams(Script& script, const Path& path) {
  const ir::Scope* scope = scopeAt(script.program(), path);
  if (scope == nullptr) return false;
  if (streamHere(script, path)) {
    repeat(script, path);
    return true;
  }
  bool any = false;
  for (int k = 0; k < static_cast<int>(scopeAt(script.program(), path)->body.size()); ++k) {
    any = mapStreams(script, child(path, k)) || any;
  }
  return any;
}

std::int64_t divisorUpTo(std::int64_t extent, std::int64_t most) {
  for (std::int64_t d = std::min(extent, most); d > 1; --d) {
    if (extent % d == 0) return d;
  }
  return 1;
}

void foldEnds(Script& script, const Path& body, int keep) {
  const auto at = [&](int k) { return child(body, k); };
  const auto leavesIn = [&](const Path& path) {
    return leavesBelow(script.program(), path).size();
  };
  const auto children = [&] {
    return static_cast<int>(ir::find(script.program(), body)->scope().body.size());
  };
  const std::int64_t steps = freeExtent(script.program(), at(keep));
  if (steps < 3) return;
  // What is peeled off must stand directly in the loop: one more inside would be left in pieces.
  const ir::Node& loop = *ir::find(script.program(), at(keep));
  const ir::Node& inner = loop.scope().body.front();
  if (loop.scope().body.size() != 1 || (inner.isScope() && !inner.scope().body.front().isLeaf())) {
    return;
  }
  const bool rows = inner.isScope();
  // The last step and what is written.
  if (keep + 2 == children() && leavesIn(at(keep + 1)) == 1) {
    Script attempt = script;
    const Path last = at(keep + 1);
    const Path leaf = rows ? child(child(last, 0), 0) : child(last, 0);
    if (attempt.apply("peel_scope", {at(keep), steps - 1}) &&
        attempt.apply("add_scope", {at(keep + 2)}) && attempt.apply("join_scopes", {last}) &&
        (!rows || attempt.apply("join_scopes", {child(last, 0)})) &&
        attempt.apply("open_update", {leaf}) && attempt.apply("fold_copy", {leaf})) {
      script = std::move(attempt);
    }
  }
  // The initial values and the first step.
  if (keep == 1 && leavesIn(at(0)) == 1) {
    Script attempt = script;
    const Path first = at(0);
    const Path leaf = rows ? child(child(first, 0), 0) : child(first, 0);
    if (attempt.apply("peel_scope", {at(1), std::int64_t{1}}) &&
        attempt.apply("add_scope", {first}) && attempt.apply("join_scopes", {first}) &&
        (!rows || attempt.apply("join_scopes", {child(first, 0)})) &&
        attempt.apply("fold_init", {leaf})) {
      script = std::move(attempt);
    }
  }
}

}  // namespace dojo::search
