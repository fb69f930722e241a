// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What stream and hardware-loop scopes ask of what stands in them, as far as one scope can tell;
/// whether a region of them can be compiled is asked of all of it (lowerable.h).
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "target/target.h"

namespace dojo::moves {

/// Data movers that streams of these buffers take: for each one for what is read in the scope, and
/// one for what is written.
[[nodiscard]] int moversFor(const ir::Node& scope, const std::vector<ir::BufferId>& buffers);

/// True for buffers in the memory that the target's streams reach.
[[nodiscard]] bool reachedByStreams(const ir::Buffer& buffer, const target::Target& target);

/// Why the buffer's accesses in the scope can't be streams of the target; empty: they can.
[[nodiscard]] std::string notStreamable(const ir::Program& program, const ir::Node& scope,
                                        ir::BufferId buffer, const target::Target& target);
/// The buffers for which that is empty, in declared order.
[[nodiscard]] std::vector<ir::BufferId> streamableIn(const ir::Program& program,
                                                     const ir::Node& scope,
                                                     const target::Target& target);

/// Floating-point instructions that the node takes as part of a hardware loop's body, with the
/// copies that unrolled scopes make; saturates. 0 where something in it is no such instruction.
[[nodiscard]] std::int64_t loopInstructions(const ir::Program& program, const ir::Node& node,
                                            const target::Target& target);

/// Hardware loops in one another at and below the node.
[[nodiscard]] int loopNesting(const ir::Node& node);

}  // namespace dojo::moves
