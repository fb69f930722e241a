// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Smaller programs with the same property.
#pragma once

#include <functional>

#include "ir/program.h"

namespace dojo::proof {

/// Tries simpler valid programs (nodes, guards, mappings and operands taken away, extents lowered,
/// computed buffers made inputs, ...) and keeps one as long as `holds`; ends where none does.
/// `budget` bounds the calls of `holds`.
[[nodiscard]] ir::Program shrink(ir::Program program,
                                 const std::function<bool(const ir::Program&)>& holds,
                                 int budget = 3000);

}  // namespace dojo::proof
