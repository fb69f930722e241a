// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>

#include "search/composites/all.h"
#include "search/expert_block.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

using ir::Path;

/// Two loops of which one runs along what is written, the other along what is read.
struct Pattern {
  std::string read;  ///< The buffer.
  bool writesInner;  ///< The inner loop is the one along what is written.
};

std::optional<Pattern> match(const ir::Program& program, const Path& path) {
  if (freeExtent(program, path) < 2) return std::nullopt;
  const std::vector<ir::Node>& body = ir::find(program, path)->scope().body;
  const Path inner = child(path, 0);
  if (body.size() != 1 || freeExtent(program, inner) < 2) return std::nullopt;
  const std::vector<ir::Node>& leaves = body[0].scope().body;
  if (leaves.size() != 1 || !leaves[0].isLeaf() || leaves[0].leaf().isReduction()) {
    return std::nullopt;
  }
  const ir::Leaf& leaf = leaves[0].leaf();
  const int a = variableOf(path), b = variableOf(inner);
  for (const bool writesInner : {true, false}) {
    const int written = writesInner ? b : a, other = writesInner ? a : b;
    if (along(leaf.dst, written) != Along::contiguous) continue;
    for (const ir::Operand& operand : leaf.operands) {
      const auto* access = std::get_if<ir::Access>(&operand);
      if (access != nullptr && along(*access, other) == Along::contiguous &&
          along(*access, written) == Along::strided) {
        return Pattern{program.buffer(access->buffer).name, writesInner};
      }
    }
  }
  return std::nullopt;
}

class Turn final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "turn",
        "P",
        {{"vectors", {1, 2}}},
        "Reads and writes of P and the loop perfectly nested in it, which run along different "
        "dims, go through a tile of vectors that is turned round in registers; what is left over "
        "becomes nests of its own."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && match(state.program(), visit.path)) {
        out.emplace_back(visit.path);
      }
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& path = std::get<Path>(place);
    const std::optional<Pattern> found = match(script.program(), path);
    if (!found) return script.refuse("no nest that reads along one loop and writes along another");
    const std::int64_t lanes = lanesFor(script.program(), path, script.target());
    const std::int64_t wide = lanes * std::max<std::int64_t>(knobs[0], 1);
    LoopNest nest(script, path,
                  found->writesInner ? std::vector<std::string>{"read", "write"}
                                     : std::vector<std::string>{"write", "read"});
    if (lanes < 2 || nest.extent("read") < lanes || nest.extent("write") < wide) {
      return script.refuse("the loops are smaller than the tile");
    }
    if (!nest.peelTo("read", lanes) || !nest.peelTo("write", wide)) return false;
    if (!nest.split("read", lanes, "row") || !nest.split("write", wide, "lane")) return false;
    std::vector<std::string> order = {"read", "write", "row", "lane"};
    if (!found->writesInner) std::swap(order[0], order[1]);
    if (!nest.reorder(order)) return false;
    const Path tile = nest.path(1);
    if (!script.apply("cache_read", {tile, found->read, std::string("register")})) return false;
    for (const int k : {0, 1}) {
      const Path rows = child(tile, k);
      if (!script.apply("vectorize", {child(rows, 0)}) || !script.apply("unroll", {rows})) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace

const Composite* turn() {
  static const Turn composite;
  return &composite;
}

}  // namespace dojo::search::composite
