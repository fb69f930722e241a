// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// Loops over elements of the result, and in their body one nest that reduces into it, with leaves
/// before and after (or the reducing leaf alone).
struct Pattern {
  std::vector<std::string> loops;    ///< Of the chain, outermost first: "s0", "s1", ...
  std::vector<std::string> reduces;  ///< Of the reducing nest below the chain.
  int keep = 0;                      ///< Child of the innermost body that reduces.
  int children = 1;
  std::string vector;               ///< The loop along which the result is contiguous.
  std::vector<std::string> rows;    ///< Other loops that the result's index uses, inner first.
  std::string result;               ///< Buffer names.
  std::vector<std::string> panels;  ///< Operands that the vector loop runs along.
  std::vector<std::vector<std::string>> panelLoops;  ///< The loops that each of them uses.
};

bool isReduction(const ir::Node& node) { return node.isLeaf() && node.leaf().isReduction(); }

std::optional<Pattern> match(const ir::Program& program, const Path& place) {
  Pattern pattern;
  Path at = place;
  std::vector<Path> chain;
  while (freeExtent(program, at) > 0) {
    chain.push_back(at);
    const std::vector<ir::Node>& body = ir::find(program, at)->scope().body;
    if (body.size() != 1 || !body[0].isScope()) break;
    at = child(at, 0);
  }
  if (chain.empty()) return std::nullopt;
  std::vector<Path> all = chain;
  const std::vector<ir::Node>& body = ir::find(program, chain.back())->scope().body;
  const ir::Node* reducing = nullptr;
  if (body.size() == 1) {
    reducing = &body[0];
  } else {
    pattern.children = static_cast<int>(body.size());
    int scopes = 0;
    for (std::size_t k = 0; k < body.size(); ++k) {
      if (!body[k].isScope()) continue;
      ++scopes;
      pattern.keep = static_cast<int>(k);
    }
    if (scopes != 1) return std::nullopt;
    at = child(chain.back(), pattern.keep);
    reducing = ir::find(program, at);
    while (reducing->isScope()) {
      if (freeExtent(program, at) == 0 || reducing->scope().body.size() != 1) return std::nullopt;
      all.push_back(at);
      at = child(at, 0);
      reducing = ir::find(program, at);
    }
  }
  if (!isReduction(*reducing)) return std::nullopt;
  const ir::Leaf& leaf = reducing->leaf();
  if (leaf.dst.indices.empty()) return std::nullopt;

  const bool perfect = pattern.children == 1;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const int var = variableOf(all[k]);
    const std::string name = "s" + std::to_string(k);
    const bool spatial = uses(leaf.dst, var);
    if (k < chain.size() && (spatial || !perfect)) {
      pattern.loops.push_back(name);
      if (leaf.dst.indices.back().affine.coef(var) == 1) pattern.vector = name;
    } else if (spatial) {
      return std::nullopt;
    } else {
      // In a perfect nest all loops can be interchanged; the chain then holds them in any order.
      pattern.reduces.push_back(name);
    }
  }
  if (pattern.vector.empty() || pattern.reduces.empty()) return std::nullopt;
  for (auto it = pattern.loops.rbegin(); it != pattern.loops.rend(); ++it) {
    const int var = variableOf(all[static_cast<std::size_t>(std::stoi(it->substr(1)))]);
    if (*it != pattern.vector && uses(leaf.dst, var)) pattern.rows.push_back(*it);
  }
  pattern.result = program.buffer(leaf.dst.buffer).name;
  const int vectorVar =
      variableOf(all[static_cast<std::size_t>(std::stoi(pattern.vector.substr(1)))]);
  for (const ir::Operand& operand : leaf.operands) {
    const ir::Access* access = std::get_if<ir::Access>(&operand);
    if (access == nullptr || !uses(*access, vectorVar)) continue;
    pattern.panels.push_back(program.buffer(access->buffer).name);
    std::vector<std::string> loops;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (uses(*access, variableOf(all[k]))) loops.push_back("s" + std::to_string(k));
    }
    pattern.panelLoops.push_back(std::move(loops));
  }
  return pattern;
}

Path innermostScope(const ir::Program& program, Path at) {
  while (true) {
    const ir::Scope* scope = scopeAt(program, at);
    int inside = -1;
    for (std::size_t k = 0; k < scope->body.size(); ++k) {
      if (scope->body[k].isScope()) inside = static_cast<int>(k);
    }
    if (inside < 0) return at;
    at = child(at, inside);
  }
}

class RegisterBlock final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "register_block",
        "P",
        {{"rows", {1, 2, 3, 4, 6, 8, 12, 14}},
         {"vectors", {1, 2, 3, 4, 6}},
         {"row_loop", {0, 1}},
         {"order", {0, 1, 2}},
         {"k_tile", {0, 64, 128, 256}},
         {"k_unroll", {1, 2, 4, 8}}},
        "Blocks the reduction nest at P: rows by vectors of the result are accumulated in "
        "registers, in vectors along the result's last dim (in scalars where there are no "
        "vectors). row_loop counts the other loops of the "
        "result from the innermost. order 0 keeps the rows outermost, 1 the vectors, 2 also packs "
        "the operand along the vectors. k_tile cuts the outermost reduction loop and takes the "
        "tiles outermost (0: not), k_unroll unrolls the innermost one.",
        4};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && match(state.program(), visit.path)) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& given) const override {
    std::vector<std::int64_t> knobs = given;
    const std::int64_t rows = knobs[0], vectors = knobs[1], order = knobs[3];
    const std::int64_t kTile = knobs[4], kUnroll = knobs[5];
    const Path& root = std::get<Path>(place);
    std::optional<Pattern> found = match(script.program(), root);
    if (!found) return script.refuse("no nest that reduces into elements is here");
    Pattern& pattern = *found;
    const target::Target& target = script.target();
    const std::int64_t lanes = lanesFor(script.program(), root, target);
    const std::int64_t registers = registersFor(script.program(), root, target);
    if (rows < 1 || vectors < 1 || kUnroll < 1 || rows * vectors + vectors + 1 > registers) {
      return script.refuse("the block doesn't fit the registers");
    }
    std::string row;
    if (rows > 1) {
      if (pattern.rows.empty()) return script.refuse("the result has no other loop for rows");
      row = pattern.rows[std::min(static_cast<std::size_t>(knobs[2]), pattern.rows.size() - 1)];
    }
    const std::string vector = pattern.vector;

    std::vector<std::string> loops = pattern.loops;
    if (pattern.children == 1) {
      // A perfect nest: sort the reductions inwards first.
      std::vector<std::string> all = loops;
      all.insert(all.end(), pattern.reduces.begin(), pattern.reduces.end());
      std::vector<std::string> sorted = all;
      std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
        return std::stoi(a.substr(1)) < std::stoi(b.substr(1));
      });
      LoopNest whole(script, root, sorted);
      if (!whole.reorder(all)) return false;
    }
    LoopNest nest(script, root, loops);
    const std::int64_t width = blockWidth(nest.extent(vector), vectors, lanes);
    // What the block doesn't divide is blocked as well as it goes.
    if (const std::int64_t rest = nest.extent(vector) % width; rest != 0) {
      if (!nest.peelTo(vector, width)) return false;
      knobs[1] = std::max<std::int64_t>(1, rest / lanes);
      blockRest(script, root, knobs);
      knobs[1] = vectors;
    }
    if (const std::int64_t rest = row.empty() ? 0 : nest.extent(row) % rows; rest != 0) {
      if (!nest.peelTo(row, rows)) return false;
      knobs[0] = rest;
      blockRest(script, root, knobs);
    }
    // With tiles of the reduction outermost, the initial values are set before all of them.
    Path kept = root;
    if (kTile > 0) {
      std::optional<Path> isolated = nest.isolate(0, pattern.keep, pattern.children);
      if (!isolated) return false;
      kept = *isolated;
      for (Path before = root; before != kept; ++before.back()) {
        const Path at = innermostScope(script.program(), before);
        if (script.apply("split_scope", {at, width})) layOut(script, child(at, 0));
      }
      pattern.children = 1;
      pattern.keep = 0;
    }
    std::vector<std::string> names = loops;
    if (kTile > 0) names.insert(names.end(), pattern.reduces.begin(), pattern.reduces.end());
    LoopNest block(script, kept, names);
    std::vector<std::string> outer;
    for (const std::string& loop : loops) {
      if (loop != vector && loop != row) outer.push_back(loop);
    }
    if (!row.empty() && order == 0) outer.push_back(row);
    outer.push_back(vector);
    if (!row.empty() && order != 0) outer.push_back(row);
    if (order != 0 && row.empty() && outer.size() > 1) {
      // The panel of the vectors stays while the next loop outwards runs.
      std::swap(outer[outer.size() - 1], outer[outer.size() - 2]);
    }
    if (!block.split(vector, width, "vector")) return false;
    if (!row.empty() && !block.split(row, rows, "row")) return false;
    if (kTile > 0) {
      const std::string& k = pattern.reduces.front();
      if (block.extent(k) <= kTile) return script.refuse("the reduction is no longer than a tile");
      if (!block.split(k, kTile, "tile")) return false;
      outer.insert(outer.begin(), k);
      pattern.reduces.front() = "tile";
    }
    std::vector<std::string> sequence = outer;
    if (!row.empty()) sequence.emplace_back("row");
    sequence.emplace_back("vector");
    if (kTile > 0) sequence.insert(sequence.end(), pattern.reduces.begin(), pattern.reduces.end());
    if (!block.reorder(sequence)) return false;

    const int inner = static_cast<int>(outer.size());
    const Path body = block.path(inner - 1);
    Path main = block.path(inner);
    std::vector<std::string> mainLoops(sequence.begin() + inner, sequence.end());
    if (kTile == 0) {
      std::optional<Path> isolated = block.isolate(inner, pattern.keep, pattern.children);
      if (!isolated) return false;
      main = *isolated;
      mainLoops.insert(mainLoops.end(), pattern.reduces.begin(), pattern.reduces.end());
    }
    LoopNest core(script, main, mainLoops);
    std::vector<std::string> coreOrder = pattern.reduces;
    if (kUnroll > 1) {
      if (!core.split(pattern.reduces.back(), kUnroll, "unroll")) return false;
      coreOrder.emplace_back("unroll");
    }
    if (!row.empty()) coreOrder.emplace_back("row");
    coreOrder.emplace_back("vector");
    if (!core.reorder(coreOrder)) return false;
    if (!script.apply("cache_write", {body, pattern.result, std::string("register")})) return false;
    // A copy in, if there had to be one, now stands first.
    contractBelow(script, body);
    const auto parts = static_cast<int>(ir::find(script.program(), body)->scope().body.size());
    for (int part = 0; part < parts; ++part) {
      const Path top = child(body, part);
      if (scopeAt(script.program(), top) == nullptr) continue;
      Path at = innermostScope(script.program(), top);
      if (freeExtent(script.program(), at) != width) {
        return script.refuse("a part of the block isn't along the vectors");
      }
      if (!layOut(script, at)) return false;
      for (std::int64_t times : {row.empty() ? std::int64_t{1} : rows, kUnroll}) {
        if (times == 1 || at.size() <= body.size() + 1) continue;
        const Path above(at.begin(), at.end() - 1);
        if (freeExtent(script.program(), above) != times) continue;
        if (!script.apply("unroll", {above})) return false;
        at = above;
      }
    }
    if (order == 2) {
      for (std::size_t k = 0; k < pattern.panels.size(); ++k) {
        const std::vector<std::string>& used = pattern.panelLoops[k];
        if (!row.empty() && std::find(used.begin(), used.end(), row) != used.end()) continue;
        return pack(script, block.path(vector), pattern.panels[k], target.vector.grouping * lanes);
      }
      return script.refuse("no operand is shared by the rows");
    }
    return true;
  }

 private:
  /// The nest after `root`, if that works.
  void blockRest(Script& script, Path root, const std::vector<std::int64_t>& knobs) const {
    ++root.back();
    Script attempt = script;
    if (expand(attempt, root, knobs)) script = attempt;
  }

  /// Turns the copy that the first child of `place` makes so that its last dim lies along the lanes
  /// that read it. Left as it is where that's so already.
  static void alignLanes(Script& script, const Path& place) {
    const ir::Program& program = script.program();
    const Path first = leavesBelow(program, child(place, 0)).front();
    const ir::BufferId copy = ir::find(program, first)->leaf().dst.buffer;
    const int last = program.buffer(copy).rank() - 1;
    for (const Path& path : leavesBelow(program, place)) {
      if (path == first) continue;
      Path lanes = path;
      lanes.pop_back();
      const ir::Scope* scope = scopeAt(program, lanes);
      if (scope == nullptr || !scope->mapping.has(ir::MapKind::vector)) continue;
      int dim = -1;
      ir::forEachAccess(*ir::find(program, path), [&](const ir::Access& access, ir::Touch) {
        if (access.buffer != copy) return;
        for (int d = 0; d <= last; ++d) {
          const ir::Index& index = access.indices[static_cast<std::size_t>(d)];
          if (index.affine.coef(variableOf(lanes)) != 0) dim = d;
        }
      });
      if (dim < 0) continue;
      if (dim != last) {
        script.apply("reorder_dims",
                     {program.buffer(copy).name, std::int64_t{dim}, std::int64_t{last}});
      }
      return;
    }
  }

  static bool pack(Script& script, const Path& place, const std::string& buffer,
                   std::int64_t most) {
    if (!script.apply("cache_read", {place, buffer, std::string("heap")})) return false;
    alignLanes(script, place);
    Script attempt = script;
    if (turn()->expand(attempt, child(place, 0), {1})) {
      script = attempt;
      return true;
    }
    const Path copy = innermostScope(script.program(), child(place, 0));
    if (freeExtent(script.program(), copy) <= most) script.apply("vectorize", {copy});
    return true;
  }
};

}  // namespace

const Composite* registerBlock() {
  static const RegisterBlock composite;
  return &composite;
}

}  // namespace dojo::search::composite
