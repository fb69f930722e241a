// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The exact, slow answer for systems that the solver's own search leaves open.
#pragma once

#include "ir/solver.h"

namespace dojo::ir {

/// Asks isl, which gives up after a fixed number of operations (then: unknown).
[[nodiscard]] Answer feasibleByIsl(const System& system);

}  // namespace dojo::ir
