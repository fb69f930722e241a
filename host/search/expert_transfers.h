// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The expert's recipe for arguments that lie in a memory that data movers don't reach.
#pragma once

#include "search/position.h"

namespace dojo::search {

/// Nests over such arguments are cut into tiles; the DMA engine brings what a tile reads into the
/// scratchpad one tile ahead and takes what it wrote away. What is computed is left as it is.
[[nodiscard]] Position expertTransfers(const Position& start);

}  // namespace dojo::search
