// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Small programs, each a trap for a move that forgets one clause of its precondition.
#pragma once

#include <string>
#include <vector>

#include "proof/random.h"

namespace dojo::proof {

/// The text of one program, its sizes, types and places at random. Most are valid; the caller
/// checks.
[[nodiscard]] std::string trapText(Random& random, int trap);
/// Traps are numbered from 0.
[[nodiscard]] int trapCount();
/// The moves that it is a trap for, where it says so.
[[nodiscard]] const std::vector<std::string>& trapFor(int trap);

}  // namespace dojo::proof
