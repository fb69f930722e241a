// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Whether a target can do what a program says: asked before anything is compiled.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "target/target.h"

namespace dojo::moves {

/// Every mapping and location is offered and within the target's limits; register buffers have
/// indices that are constant after unrolling and vectorising; vector scopes are not nested and fit
/// lanes * grouping; the stack and the unrolled size fit. A program that passes compiles: lowering
/// never ignores a mapping. Errors: "lower.*", where = the line of print().
[[nodiscard]] Status lowerable(const ir::Program& program, const target::Target& target);

}  // namespace dojo::moves
