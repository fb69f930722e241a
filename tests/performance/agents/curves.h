// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Best-so-far curves as SVG.
#pragma once

#include <string>
#include <vector>

#include "performance/agents/contest.h"

namespace dojo::contest {

/// The curves of one kernel and target, by trials: for each strategy the median of its seeds, and
/// the band of their middle half.
[[nodiscard]] std::string drawCurves(const std::vector<Row>& rows, const std::string& title,
                                     const std::string& unit);

}  // namespace dojo::contest
