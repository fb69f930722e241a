// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A roofline plot: operations a cycle over operations a byte, under what a target can do at most.
/// Source of the form: Williams, Waterman, Patterson, Roofline (CACM 52(4), 2009).
#pragma once

#include <string>
#include <vector>

#include "target/target.h"

namespace dojo::cli {

struct RooflinePoint {
  std::string name;
  double opsPerCycle = 0;
  double opsPerByte = 0;  ///< Of the arguments, each byte once.
};

/// An SVG file that needs nothing else. `dtype` chooses among the target's peaks; a peak that its
/// file doesn't tell isn't drawn.
[[nodiscard]] std::string roofline(const target::Target& target, const std::string& dtype,
                                   const std::vector<RooflinePoint>& points);

}  // namespace dojo::cli
