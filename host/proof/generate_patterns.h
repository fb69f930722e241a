// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random programs around the patterns that some moves ask for, which programs of independent
/// stages hardly ever have.
#pragma once

#include <string>
#include <vector>

#include "proof/random.h"

namespace dojo::proof {

/// The text of one program: a pattern in one of its forms, with whatever may stand in the way of
/// the move. Most are valid; the caller checks.
[[nodiscard]] std::string patternText(Random& random, int pattern);
/// The moves that ask for it.
[[nodiscard]] const std::vector<std::string>& patternFor(int pattern);
/// Patterns are numbered from 0.
constexpr int kPatterns = 3;

}  // namespace dojo::proof
