// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/all.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

class Tile final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "tile",
        "P",
        {{"outer", {1, 4, 8, 16, 32, 64, 128}}, {"inner", {1, 8, 16, 32, 64, 128, 256}}},
        "Cuts P and the loop perfectly nested in it into tiles of outer by inner iterations; what "
        "is left over becomes nests of its own."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      if (nested(state.program(), visit.path)) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& path = std::get<ir::Path>(place);
    if (!nested(script.program(), path)) return script.refuse("no two nested loops are here");
    LoopNest nest(script, path, {"a", "b"});
    const std::int64_t a = knobs[0], b = knobs[1];
    if (a < 1 || b < 1 || a * b < 2 || a > nest.extent("a") || b > nest.extent("b")) {
      return script.refuse("the loops are smaller than the tile");
    }
    if (!nest.peelTo("a", a) || !nest.peelTo("b", b)) return false;
    std::vector<std::string> order = {"a", "b"};
    if (a > 1) {
      if (!nest.split("a", a, "a1")) return false;
      order.emplace_back("a1");
    }
    if (b > 1) {
      if (!nest.split("b", b, "b1")) return false;
      order.emplace_back("b1");
    }
    return nest.reorder(order);
  }

 private:
  static bool nested(const ir::Program& program, const ir::Path& path) {
    if (freeExtent(program, path) < 2) return false;
    const std::vector<ir::Node>& body = ir::find(program, path)->scope().body;
    return body.size() == 1 && freeExtent(program, child(path, 0)) > 1;
  }
};

}  // namespace

const Composite* tile() {
  static const Tile composite;
  return &composite;
}

}  // namespace dojo::search::composite
