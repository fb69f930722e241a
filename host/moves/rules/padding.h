// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Copies padded with the identity of the reductions that read them: pad_cache and unpad_cache.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/dependence.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "moves/rules/cache.h"

namespace dojo::moves {

struct PaddingPlan {
  Region region;
  /// Of each dim, the indices whose elements are copied; cells of the copy at others are the
  /// identity.
  std::vector<ir::Interval> inside;
  ir::Constant identity;
  /// Leaves that lose the terms of their guard which keep a dim's index inside.
  struct Leaf {
    ir::Path path;
    std::vector<ir::GuardTerm> terms;
  };
  std::vector<Leaf> leaves;
};

/// The precondition of pad_cache; the location is not looked at.
[[nodiscard]] Result<PaddingPlan> planPadding(const ir::Accesses& accesses,
                                              const CacheRequest& request);
/// The effect; not canonical.
[[nodiscard]] ir::Program applyPadding(const ir::Program& program, const CacheRequest& request,
                                       const PaddingPlan& plan);

/// The program without a padded copy, and the moves that make it again.
struct Unpadded {
  ir::Program program;
  Trace back;
};
/// nullopt where `copy` hasn't the form that pad_cache gives it, or pad_cache wouldn't make it
/// again from what is left.
[[nodiscard]] std::optional<Unpadded> unpad(const State& state, ir::BufferId copy);

/// True where a guard of the leaf keeps an index of its read of `buffer` inside.
[[nodiscard]] bool guardsRead(const ir::Node& node, ir::BufferId buffer);

}  // namespace dojo::moves
