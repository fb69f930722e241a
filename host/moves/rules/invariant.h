// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The proof that hoist and sink share: a node may run once before a scope or in each iteration of
/// it, with the same result.
#pragma once

#include "base/result.h"
#include "moves/rule.h"

namespace dojo::moves {

/// `node` stands either in the body of the scope at `scope`, as child `position`, or just before
/// that scope, and would then be put before child `position`. Proves that what the node reads and
/// writes is written by nothing else in the scope, that children before `position` don't read what
/// it writes, and that running it again changes nothing. Where the scope has one iteration, only
/// the children before `position` count. Errors: "move.dependence".
[[nodiscard]] Status proveInvariant(const State& state, const ir::Path& node, const ir::Path& scope,
                                    int position);

}  // namespace dojo::moves
