// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A value that is made again beside its use: what recompute and reuse share.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"

namespace dojo::moves {

/// A value may take this many tmps to make.
constexpr std::size_t kMostRecomputed = 3;

struct RecomputePlan {
  ir::Path use;                   ///< The leaf that reads the value.
  ir::Access value;               ///< As it reads it.
  std::vector<ir::Path> makers;   ///< The leaves that make the value, in order; siblings.
  std::vector<ir::Affine> at;     ///< Their variables, by depth, in those of the use.
  std::vector<ir::BufferId> own;  ///< What they write, the value's buffer last.
  /// Which of their operands they make themselves.
  std::vector<std::pair<ir::Path, ir::Access>> inner;
};
/// The precondition.
[[nodiscard]] Result<RecomputePlan> planRecompute(const State& state, ir::BufferId buffer,
                                                  const ir::Path& use);
/// The effect, with new tmps of these names for `own` (missing ones: the lowest free); not
/// canonical.
[[nodiscard]] ir::Program applyRecompute(const ir::Program& program, const RecomputePlan& plan,
                                         const std::vector<std::string>& names);

}  // namespace dojo::moves
