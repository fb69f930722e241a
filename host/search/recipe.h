// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the expert's recipes share: a position that goes on by calls that a target can run.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "moves/lowerable.h"
#include "search/position.h"

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

  Position at_;
  bool lowerable_;
};

}  // namespace dojo::search
