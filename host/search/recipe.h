// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the expert's recipes share: a position that goes on by calls that a target can run.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "moves/lowerable.h"
#include "search/position.h"
#include "search/script.h"

namespace dojo::search {

class Recipe {
 protected:
  /// A recipe that goes on for longer than this has lost its way.
  static constexpr int kMostRounds = 200;

  explicit Recipe(Position start)
      : at_(std::move(start)), lowerable_(moves::lowerable(program(), target()).ok()) {}

  [[nodiscard]] const ir::Program& program() const { return at_.state()->program(); }
  [[nodiscard]] const target::Target& target() const { return at_.state()->target(); }

  /// False where the call is refused or the target couldn't run the result.
  bool take(const moves::Move& call) {
    Position next = at_;
    if (!next.add(call)) return false;
    const bool runs = moves::lowerable(next.state()->program(), target()).ok();
    if (lowerable_ && !runs) return false;
    lowerable_ = runs;
    at_ = std::move(next);
    return true;
  }

  /// Calls `step` on the places of the program, from the first again whenever it changed
  /// something.
  template <class Step>
  void everywhere(const Step& step) {
    for (int round = 0; round < kMostRounds; ++round) {
      const StatePtr state = at_.state();
      const std::vector<ir::Visit>& nodes = state->nodes();
      if (std::none_of(nodes.begin(), nodes.end(), step)) return;
    }
  }

  /// Takes what doesn't change out of loops, divisions by it included.
  void hoist() {
    everywhere([this](const ir::Visit& visit) {
      if (!visit.node->isLeaf() || visit.enclosing.empty()) return false;
      const ir::Leaf& leaf = visit.node->leaf();
      if (leaf.op == ir::Op::div && take({"reciprocal", {visit.path}})) return true;
      return take({"hoist", {visit.path}}) || dropDim(leaf, variableOf(visit.path) - 1);
    });
  }

  /// Takes the dim away that only says in which iteration a value was made that is always the same.
  bool dropDim(const ir::Leaf& leaf, int var) {
    const ir::Buffer& buffer = program().buffer(leaf.dst.buffer);
    const bool varies =
        std::any_of(leaf.operands.begin(), leaf.operands.end(), [&](const ir::Operand& operand) {
          const auto* access = std::get_if<ir::Access>(&operand);
          const auto* index = std::get_if<ir::Affine>(&operand);
          return (access != nullptr && uses(*access, var)) ||
                 (index != nullptr && index->coef(var) != 0);
        });
    if (varies || buffer.isArgument() || leaf.isReduction()) return false;
    for (int d = 0; d < buffer.rank(); ++d) {
      const ir::Index& index = leaf.dst.indices[static_cast<std::size_t>(d)];
      if (buffer.dims[static_cast<std::size_t>(d)].fold == 1 && index.affine.coef(var) != 0) {
        return take({"drop_dim", {buffer.name, std::int64_t{d}}});
      }
    }
    return false;
  }

  Position at_;
  bool lowerable_;
};

}  // namespace dojo::search
