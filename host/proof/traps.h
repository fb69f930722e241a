// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The texts of traps (generate_traps.h), less their first line, instead of which `for MOVE ...`
/// may say what they are traps for, with places to fill: $N, $M: extents. $S: a smaller one. $T: a
/// float type. $W, $L: a type and a narrower one. $P: where a tmp is. $A, $B: different reduction
/// operators. $C: a comparison.
#pragma once

#include <string>
#include <vector>

namespace dojo::proof {

[[nodiscard]] const std::vector<std::string>& trapsOfValues();
[[nodiscard]] const std::vector<std::string>& trapsOfNumbers();
[[nodiscard]] const std::vector<std::string>& trapsOfFactors();
[[nodiscard]] const std::vector<std::string>& trapsOfPadding();
[[nodiscard]] const std::vector<std::string>& trapsOfStreams();
[[nodiscard]] const std::vector<std::string>& trapsOfInstructions();

}  // namespace dojo::proof
