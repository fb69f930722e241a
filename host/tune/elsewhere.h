// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the log has of a kernel at other shapes. Internal to host/tune.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/log.h"

namespace dojo::tune {

/// How far apart two shapes are: the sum of the logarithms of what their sizes differ by. nullopt
/// where they haven't the same parameters, or can't be read.
[[nodiscard]] std::optional<double> shapeDistance(std::string_view a, std::string_view b);

/// Traces of the fastest programs of the same kernel on the same target, fingerprint and cache at
/// other shapes, the nearest shape first; a few at most, none twice.
[[nodiscard]] Result<std::vector<std::string>> schedulesElsewhere(const log::Log& log,
                                                                  const log::RunSettings& settings);

}  // namespace dojo::tune
