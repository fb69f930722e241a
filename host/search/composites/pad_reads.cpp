// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/streams.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// A row of cuts that is longer than this has lost its way.
constexpr int kMostCuts = 32;

/// Names of what guarded sums at or below `place` read.
std::vector<std::string> guardedReads(const ir::Program& program, const Path& place) {
  std::vector<std::string> out;
  for (const Path& leaf : leavesBelow(program, place)) {
    const ir::Node& node = *ir::find(program, leaf);
    if (node.guard.empty() || !node.leaf().isReduction()) continue;
    for (const ir::Operand& operand : node.leaf().operands) {
      const auto* access = std::get_if<ir::Access>(&operand);
      if (access == nullptr) continue;
      const std::string& name = program.buffer(access->buffer).name;
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

/// Where the loop at `place` is to be cut so that a guard below holds throughout a part, or not at
/// all; 0: nowhere.
std::int64_t cutOf(const ir::Program& program, const Path& place) {
  const std::int64_t extent = freeExtent(program, place);
  const int var = variableOf(place);
  for (const Path& leaf : leavesBelow(program, place)) {
    for (const ir::GuardTerm& term : ir::find(program, leaf)->guard) {
      if (!(term.expr + ir::Affine(-term.expr.constant()) == ir::Affine::variable(var))) continue;
      for (const std::int64_t bound : {term.lo, term.hi}) {
        const std::int64_t cut = bound - term.expr.constant();
        if (cut > 0 && cut < extent) return cut;
      }
    }
  }
  return 0;
}

class PadReads final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "pad_reads",
        "P",
        {},
        "Guarded sums at or below P read from padded copies instead, so that they need no guard, "
        "and loops are cut where a guard of the copying changes.",
        4};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (!hasStreams(state.target())) return out;
    const auto nests = static_cast<int>(state.program().body.size());
    for (int k = 0; k < nests; ++k) {
      if (!guardedReads(state.program(), {k}).empty()) out.emplace_back(Path{k});
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& /*knobs*/) const override {
    const auto& nest = std::get<Path>(place);
    if (!hasStreams(script.target())) return script.refuse("the target has no data movers");
    if (ir::find(script.program(), nest) == nullptr) return script.refuse("nothing is here");
    bool padded = false;
    for (const std::string& name : guardedReads(script.program(), nest)) {
      for (const Path& around : {Path{}, nest}) {
        if (!script.apply("pad_cache", {around, name, std::string("heap")})) continue;
        padded = true;
        break;
      }
    }
    if (!padded) return script.refuse("no guarded sum is here that can read a padded copy");
    for (int cuts = 0; cuts < kMostCuts && cut(script); ++cuts) continue;
    return true;
  }

 private:
  static bool cut(Script& script) {
    const StatePtr state = script.state();
    for (const ir::Visit& visit : state->nodes()) {
      if (freeExtent(state->program(), visit.path) < 2) continue;
      const std::int64_t at = cutOf(state->program(), visit.path);
      if (at > 0 && script.apply("peel_scope", {visit.path, at})) return true;
    }
    return false;
  }
};

}  // namespace

const Composite* padReads() {
  static const PadReads composite;
  return &composite;
}

}  // namespace dojo::search::composite
