// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The report of day one: reaches a device and tries everything that its description claims.
#pragma once

#include <string>

#include "bringup/report.h"
#include "target/target.h"

namespace dojo::bringup {

struct Options {
  std::string runner;  ///< Path of another runner; empty: the built one.
  bool peak = false;   ///< Measure peak rates of arithmetic and memory.
  bool full = false;   ///< Test all of every memory, however long it takes.
};

/// Runs every step in order. A device that can't be reached ends it; any other failure doesn't.
[[nodiscard]] Report check(const target::Target& target, const Options& options,
                           const OnBegin& onBegin, const OnStep& onStep);

}  // namespace dojo::bringup
