// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How many values code without vectors keeps in registers.
#pragma once

#include "target/target.h"

namespace dojo::target {

/// Scalars that a loop can hold in registers: all registers of floats where `floats` and the
/// target's processor has some, else the integer ones that addresses and counters leave over.
/// Follows from the architecture and the extensions that the target names.
[[nodiscard]] int scalarRegisters(const Target& target, bool floats);

}  // namespace dojo::target
