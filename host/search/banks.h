// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the banks of a scratchpad make of harts whose data movers ask at once.
#pragma once

#include "ir/tree.h"
#include "target/target.h"

namespace dojo::search {

/// Cycles of the parallel scope at `path` as far as its streams, the banks that they meet in, and
/// results that wait for one another decide; from the first steps of each hart. Harts start
/// together, buffers lie one after another, and one step is begun in a cycle. It is what tells one
/// way to share work from another, not what will be measured. 0: nothing below is streamed, or the
/// target doesn't say what banks there are.
[[nodiscard]] double bankCycles(const ir::Program& program, const ir::Path& path,
                                const target::Target& target);

}  // namespace dojo::search
