// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/all.h"
#include "search/loop_nest.h"

namespace dojo::search::composite {
namespace {

class UnrollBy final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "unroll_by",
        "P",
        {{"times", {2, 3, 4, 8, 16}}},
        "Copies the body of the loop P so many times in a row; a loop that is no longer than that "
        "goes away."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      if (freeExtent(state.program(), visit.path) > 1) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& path = std::get<ir::Path>(place);
    const std::int64_t n = freeExtent(script.program(), path);
    const std::int64_t times = knobs[0];
    if (n < 2 || times < 2) return script.refuse("no loop is here");
    if (n <= times) return script.apply("unroll", {path});
    if (n % times != 0 && !script.apply("peel_scope", {path, n - n % times})) return false;
    return script.apply("split_scope", {path, times}) && script.apply("unroll", {child(path, 0)});
  }
};

}  // namespace

const Composite* unrollBy() {
  static const UnrollBy composite;
  return &composite;
}

}  // namespace dojo::search::composite
