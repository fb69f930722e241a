// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"

namespace dojo::search::composite {
namespace {

using ir::Path;

/// Steps beyond this leave too little of a vector together.
constexpr std::int64_t kMostStep = 8;
constexpr int kMostRounds = 32;

struct Use {
  Path leaf;
  ir::Affine last;  ///< Index in the last dim.
};

std::vector<Use> usesOf(const ir::Program& program, ir::BufferId id) {
  std::vector<Use> out;
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!visit.node->isLeaf()) return true;
    ir::forEachAccess(*visit.node, [&](const ir::Access& access, ir::Touch) {
      if (access.buffer == id) out.push_back({visit.path, access.indices.back().affine});
    });
    return true;
  });
  return out;
}

/// The step in which vectors read the last dim; 0 where none does, or in different ones.
std::int64_t stepOf(const ir::Program& program, ir::BufferId id) {
  std::int64_t step = 0;
  for (const Use& use : usesOf(program, id)) {
    for (const ir::Term& term : use.last.terms()) {
      const Path scope(use.leaf.begin(), use.leaf.begin() + term.var + 1);
      if (!scopeAt(program, scope)->mapping.has(ir::MapKind::vector)) continue;
      if (step != 0 && step != term.coef) return 0;
      step = term.coef;
    }
  }
  return step;
}

/// A loop along the dim that goes beyond one step gets pieces that don't.
bool divide(Script& script, ir::BufferId id, std::int64_t step) {
  for (const Use& use : usesOf(script.program(), id)) {
    for (const ir::Term& term : use.last.terms()) {
      if (term.coef != 1) continue;
      const Path loop(use.leaf.begin(), use.leaf.begin() + term.var + 1);
      const ir::Extent& extent = scopeAt(script.program(), loop)->extent;
      if (!extent.isConstant() || extent.count <= step) continue;
      if (extent.count % step == 0 && script.apply("split_scope", {loop, step})) return true;
      if (script.apply("peel_scope", {loop, step})) return true;
    }
  }
  return false;
}

class Deinterleave final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "deinterleave",
        "B",
        {},
        "Where vectors read every n-th element along the last dim of the tmp B, its elements are "
        "laid out by their remainders, so that vectors read neighbours."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    const ir::Program& program = state.program();
    for (std::size_t id = 0; id < program.buffers.size(); ++id) {
      const ir::Buffer& buffer = program.buffers[id];
      if (buffer.isArgument() || buffer.rank() == 0) continue;
      if (stepOf(program, static_cast<ir::BufferId>(id)) > 1) out.emplace_back(buffer.name);
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>&) const override {
    const auto& name = std::get<std::string>(place);
    const auto id = script.program().find(name);
    if (!id || script.program().buffer(*id).rank() == 0) {
      return script.refuse("there is no buffer '" + name + "' with a dim");
    }
    const std::int64_t step = stepOf(script.program(), *id);
    if (step < 2 || step > kMostStep)
      return script.refuse("no vector reads '" + name + "' in steps");
    const std::int64_t last = script.program().buffer(*id).rank() - 1;
    for (int round = 0; round < kMostRounds; ++round) {
      if (script.apply("split_dim", {name, last, step})) {
        return script.apply("reorder_dims", {name, last, last + 1});
      }
      if (!divide(script, *script.program().find(name), step)) return false;
    }
    return false;
  }
};

}  // namespace

const Composite* deinterleave() {
  static const Deinterleave composite;
  return &composite;
}

}  // namespace dojo::search::composite
