// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What generated code counts on in vector registers.
#pragma once

#include "target/target.h"

namespace dojo::target {

/// Bits that a vector register of the target certainly has: on scalable ones those that the
/// architecture or the named extensions promise (RISC-V's zvlNb, at least 128 with v), however many
/// this device has.
[[nodiscard]] int guaranteedVectorBits(const Target& target);
/// Bits of the widest vector of fixed length that code for the target holds in one value: a
/// register, or a group of them where instructions work on groups.
[[nodiscard]] int vectorValueBits(const Target& target);

}  // namespace dojo::target
