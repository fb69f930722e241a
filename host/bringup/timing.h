// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What sequences of instructions take on a device beside what they take on the machine that it is
/// judged against, row by row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::bringup {

struct TimingRow {
  std::string name;
  double reference = 0;  ///< Cycles of the machine that we are judged against.
  double ours = 0;
  double allowed = 0;      ///< Difference.
  bool most = false;       ///< Fewer cycles are well, too.
  std::string wrong = {};  ///< Why there is no figure, or what was computed wrong; empty: nothing.

  [[nodiscard]] double difference() const { return ours - reference; }
  [[nodiscard]] bool within() const;
};

/// Called with each row; false ends it.
using OnRow = std::function<bool(const TimingRow&)>;

/// Assembles and runs every row whose name contains `only`. A row that fails is a row. Errors:
/// "timing.target" where there is no table for the target, "bringup.*".
[[nodiscard]] Result<std::vector<TimingRow>> checkTiming(const target::Target& target,
                                                         transport::Device& device,
                                                         const std::string& only,
                                                         const OnRow& onRow);

}  // namespace dojo::bringup
