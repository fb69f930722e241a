// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Small programs, each a trap for a move that forgets one clause of its precondition.
#pragma once

#include <string>

#include "proof/random.h"

namespace dojo::proof {

/// The text of one program, its sizes, types and places at random. Most are valid; the caller
/// checks.
[[nodiscard]] std::string trapText(Random& random);

}  // namespace dojo::proof
