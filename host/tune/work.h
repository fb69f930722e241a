// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a program has to do, counted from its text: for GFLOP/s, GB/s and the least time possible.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace dojo::tune {

struct Work {
  /// Floating-point operations of one call (a multiply-add counts as two); nullopt where guards or
  /// data decide how many there are and counting would take too long.
  std::optional<double> flops;
  /// Terms added up by floating-point sums: no move takes one of them away.
  std::optional<double> terms;
  /// Arguments, each element read once or written once (inout: both); of an input no more than is
  /// read.
  double bytes = 0;
  double executions = 0;  ///< Leaves, at most.
};

/// Counts on the plain program: what a rewritten one saves shows as speed.
[[nodiscard]] Work countWork(const ir::Program& program);

}  // namespace dojo::tune
