// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Numbers worth offering as parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/tree.h"
#include "target/target.h"

namespace dojo::moves {

/// Sizes of pieces to split scopes into: small numbers, powers of two and the target's lane
/// counts; sorted.
[[nodiscard]] std::vector<std::int64_t> factors(const target::Target& target);

/// Where to cut N iterations in two: the first, the last, and what is left beyond a multiple of a
/// factor; sorted, 0 < k < n.
[[nodiscard]] std::vector<std::int64_t> cuts(const target::Target& target, std::int64_t n);

/// Refuses ("move.depth") where a node at `place` of that height would nest too deep.
[[nodiscard]] Status needsDepth(const ir::Path& place, int height);

}  // namespace dojo::moves
