// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which storage carries values from one execution of a piece of program to another, and which is
/// written anew in each: the latter may be reordered freely and be private.
#pragma once

#include <vector>

#include "ir/dependence.h"
#include "ir/tree.h"

namespace dojo::moves {

/// One execution of the children [first, last) of the scope at `scope` (empty path: the program).
struct Block {
  ir::Path scope;
  int first = 0;
  int last = 0;

  [[nodiscard]] bool contains(const ir::Path& place) const;
};
/// One iteration of the scope at `place`.
[[nodiscard]] Block iteration(const ir::Program& program, const ir::Path& place);
/// One execution of the node at `place`.
[[nodiscard]] Block execution(const ir::Path& place);

/// True where all storage that `read` touches has been written earlier in the same execution of
/// the block. Sound.
[[nodiscard]] bool coveredIn(const ir::Accesses& accesses, const ir::Site& read,
                             const Block& block);

/// True for a tmp of which no value lives from one execution of a block to another, or out of the
/// blocks (which don't overlap): the executions may then change places as far as it is concerned.
[[nodiscard]] bool localTo(const ir::Accesses& accesses, ir::BufferId buffer,
                           const std::vector<Block>& blocks);

}  // namespace dojo::moves
