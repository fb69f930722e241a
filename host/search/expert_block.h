// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which reductions can be blocked in registers, and how large the blocks are to be.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "ir/tree.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::search {

/// How the elements that an access touches lie along a loop.
enum class Along : std::uint8_t { fixed, contiguous, strided };
[[nodiscard]] Along along(const ir::Access& access, int var);

/// True where a leaf below `node` (whose scope binds `depth`) reduces products of operands that
/// each lack another loop of the result: every operand is used again and again.
[[nodiscard]] bool isContraction(const ir::Node& node, int depth);

/// Calls of register_block for the nest at `place`, the most promising first; none where the
/// reduction isn't contiguous along its result.
[[nodiscard]] std::vector<moves::Move> blockCalls(const ir::Program& program, const ir::Path& place,
                                                  const target::Target& target);

/// Calls of instruct for the nest at `place`, for each of the target's instructions the blocks that
/// load least for what they do first.
[[nodiscard]] std::vector<moves::Move> instructCalls(const ir::Program& program,
                                                     const ir::Path& place,
                                                     const target::Target& target);

}  // namespace dojo::search
