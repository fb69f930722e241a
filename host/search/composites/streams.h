// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Chains that bring loops to data movers and hardware loops: what the composites for targets with
/// them are written with. They look at accesses and at the target's limits alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/script.h"

namespace dojo::search {

/// True where the target has data movers and hardware loops.
[[nodiscard]] bool hasStreams(const target::Target& target);

/// Operations that are under way at once where one after the other is free to start in each cycle:
/// so many results don't wait for one another.
constexpr std::int64_t kInFlight = 4;

/// Maps the nest at `path` to streams, as many of its buffers as there are movers, those first of
/// which other elements are touched most often, and its loops to hardware loops, from the innermost
/// outwards, as far as the target can run the result. Scopes that can't hold streams leave it to
/// the next one inside. False where nothing of it was mapped.
bool mapStreams(Script& script, const ir::Path& path);

/// Loops over elements of a result, and in their body one perfect nest that reduces into one of
/// them, with leaves before and after.
struct ReductionNest {
  std::vector<std::string> loops;    ///< Over elements, outermost first: "l0", ...
  std::vector<std::string> reduces;  ///< Of the reducing nest: "r0", ...
  int keep = 0;                      ///< Child of the innermost body that reduces.
  int children = 1;
  std::string result;
};
[[nodiscard]] std::optional<ReductionNest> reductionNest(const ir::Program& program,
                                                         const ir::Path& place);

/// So many elements of the result side by side: in `body` stand blocks of what was before the
/// reducing nest, that nest (at `main`), now over the block from its innermost loop, and blocks of
/// what was after it.
struct ReductionBlock {
  ir::Path body, main;
  std::int64_t width = 1;  ///< 1: there are no blocks.
};
/// Cuts blocks of at most `block` along the loop over elements that is counted `back` from the
/// innermost. nullopt: refused.
[[nodiscard]] std::optional<ReductionBlock> cutBlock(Script& script, const ir::Path& root,
                                                     const ReductionNest& nest, std::int64_t block,
                                                     std::int64_t back);
/// Reductions in `body` over more loops than the hardware nests: the innermost ones become a row of
/// instructions, of which each step takes `width`, as far as the hardware loop holds them.
void unrollSteps(Script& script, const ir::Path& body, std::int64_t width);

/// Cuts `loop`, which holds leaves, into blocks of `width` iterations, and the leaves of a block
/// into a loop each, with registers for what passes between them.
bool sideBySide(Script& script, const ir::Path& loop, std::int64_t width);

/// In the block at `body`, whose children are copies of `width` iterations that set, update and
/// write accumulators, the first step of the loop at child `keep` becomes the initial values, and
/// the last one what is written, as far as that is how they stand. Never fails.
void foldEnds(Script& script, const ir::Path& body, int keep);

/// The largest divisor of `extent` that is at most `most`.
[[nodiscard]] std::int64_t divisorUpTo(std::int64_t extent, std::int64_t most);

}  // namespace dojo::search
