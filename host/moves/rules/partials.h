// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Partial accumulators: what privatize and combine share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/dependence.h"
#include "ir/program.h"
#include "moves/rule.h"
#include "moves/rules/cache.h"

namespace dojo::moves {

/// The operator of a reduction: `fma+=` is `+=`.
[[nodiscard]] ir::Assign operatorOf(ir::Assign assign);
/// The value that leaves the other operand of a reduction as it is.
[[nodiscard]] ir::Constant identityOf(ir::Assign assign, ir::DType type);

/// "add", "mul", "max", "min", "fma".
[[nodiscard]] std::string_view nameOf(ir::Assign assign);
/// Refuses where an operand of the leaf at `place` may be the element that the leaf writes.
[[nodiscard]] Status readsNot(const State& state, const ir::Path& place, const ir::Leaf& leaf);

struct PartialRequest {
  ir::Path scope;   ///< P: its variable indexes the partial accumulators.
  ir::Path around;  ///< Q: P or a scope around it.
  int count = 1;    ///< Of siblings from Q on, each with a scope such as P at the same place in it.
  ir::BufferId accumulator = -1;
  std::string location;
  std::string name;
};

struct PartialPlan {
  Region region;  ///< Of the accumulator under Q.
  ir::Assign assign = ir::Assign::add;
};

/// The buffers that P's body reduces into without P's variable in the index, in order.
[[nodiscard]] std::vector<ir::BufferId> accumulatorsOf(const State& state, const ir::Path& scope);

[[nodiscard]] Result<PartialPlan> planPartials(const ir::Accesses& accesses,
                                               const PartialRequest& request);
/// The effect; not canonical.
[[nodiscard]] ir::Program applyPartials(const ir::Program& program, const PartialRequest& request,
                                        const PartialPlan& plan);

}  // namespace dojo::moves
