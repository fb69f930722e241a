// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/all.h"

namespace dojo::search::composite {
namespace {

class ParallelizeBy final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "parallelize_by",
        "P",
        {{"pieces", {1, 2, 4, 8}}},
        "Spreads the outermost loop P over the harts, in so many pieces for each of them."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    if (state.target().harts < 2 || !state.target().offersMapping("parallel")) return out;
    for (std::size_t k = 0; k < state.program().body.size(); ++k) {
      const ir::Path path = {static_cast<int>(k)};
      if (freeExtent(state.program(), path) > 1) out.emplace_back(path);
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& path = std::get<ir::Path>(place);
    const std::int64_t n = freeExtent(script.program(), path);
    if (n < 2 || knobs[0] < 1) return script.refuse("no loop is here");
    const std::int64_t wanted = knobs[0] * script.target().harts;
    // The largest divisor of n that makes at least as many pieces as wanted.
    std::int64_t factor = 1;
    for (std::int64_t f = n / wanted; f > 1; --f) {
      if (n % f == 0) {
        factor = f;
        break;
      }
    }
    if (factor > 1 && !script.apply("split_scope", {path, factor})) return false;
    return script.apply("parallelize", {path});
  }
};

}  // namespace

const Composite* parallelizeBy() {
  static const ParallelizeBy composite;
  return &composite;
}

}  // namespace dojo::search::composite
