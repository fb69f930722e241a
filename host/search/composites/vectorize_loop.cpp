// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

Path sibling(Path path, int by) {
  path.back() += by;
  return path;
}

/// Names of the buffers that leaves at or below `path` reduce into at elements that don't depend
/// on `var`.
std::vector<std::string> accumulators(const ir::Program& program, const Path& path, int var) {
  std::vector<std::string> out;
  for (const Path& place : leavesBelow(program, path)) {
    const ir::Leaf& leaf = ir::find(program, place)->leaf();
    const std::string& name = program.buffer(leaf.dst.buffer).name;
    if (leaf.isReduction() && !uses(leaf.dst, var) &&
        std::find(out.begin(), out.end(), name) == out.end()) {
      out.push_back(name);
    }
  }
  return out;
}

class VectorizeLoop final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "vectorize_loop",
        "P",
        {{"vectors", {1, 2, 4, 8}}},
        "Cuts the loop P into pieces of so many vectors and maps them to lanes; what is left over "
        "becomes a loop of its own behind it. What the loop reduces into one element is first "
        "accumulated for each lane, in registers.",
        3};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && freeExtent(state.program(), visit.path) > 1 &&
          !mapped(*visit.node) &&
          std::none_of(visit.enclosing.begin(), visit.enclosing.end(), [](const ir::Node* node) {
            return node->scope().mapping.has(ir::MapKind::vector);
          })) {
        out.emplace_back(visit.path);
      }
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    Path loop = std::get<Path>(place);
    const std::int64_t n = freeExtent(script.program(), loop);
    const std::int64_t vectors = knobs[0];
    const std::int64_t grouping = script.target().vector.grouping;
    if (n < 2 || vectors < 1 || vectors > grouping) {
      return script.refuse("no loop of that size is here");
    }
    const std::int64_t lanes = lanesFor(script.program(), loop, script.target());
    const std::int64_t width = lanes * vectors;
    contractBelow(script, loop);
    if (n <= width) {
      if (vectors > 1 && n <= width / 2) return script.refuse("the loop is shorter than that");
      return script.apply("vectorize", {loop});
    }
    if (const std::int64_t rest = n % width; rest != 0) {
      if (!script.apply("peel_scope", {loop, n - rest})) return false;
      separate(script, sibling(loop, 1));
      if (rest <= lanes * grouping) script.apply("vectorize", {sibling(loop, 1)});
    }
    if (!script.apply("split_scope", {loop, width})) return false;
    const Path inner = child(loop, 0);
    int before = 0;
    for (const std::string& name : accumulators(script.program(), inner, variableOf(inner))) {
      const Path outer = sibling(loop, before);
      if (!script.apply("privatize", {child(outer, 0), outer, std::string("register"), name})) {
        return false;
      }
      ++before;
    }
    // The identities stand before the loop, the combinations after it.
    for (int k = -before; k <= before; ++k) {
      const Path at = sibling(loop, before + k);
      if (!script.apply("vectorize", {k == 0 ? child(at, 0) : at})) return false;
    }
    return true;
  }

 private:
  static bool mapped(const ir::Node& node) {
    const ir::Scope& scope = node.scope();
    return std::any_of(scope.body.begin(), scope.body.end(), [](const ir::Node& inner) {
      return inner.isScope() && (inner.scope().mapping.has(ir::MapKind::vector) || mapped(inner));
    });
  }
};

}  // namespace

const Composite* vectorizeLoop() {
  static const VectorizeLoop composite;
  return &composite;
}

}  // namespace dojo::search::composite
