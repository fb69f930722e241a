// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Chains that bring loops to data movers and hardware loops: what the composites for targets with
/// them are written with. They look at accesses and at the target's limits alone.
#pragma once

#include <cstdint>
#include <string>

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

/// In the block at `body`, whose children are copies of `width` iterations that set, update and
/// write accumulators, the first step of the loop at child `keep` becomes the initial values, and
/// the last one what is written, as far as that is how they stand. Never fails.
void foldEnds(Script& script, const ir::Path& body, int keep);

/// The largest divisor of `extent` that is at most `most`.
[[nodiscard]] std::int64_t divisorUpTo(std::int64_t extent, std::int64_t most);

}  // namespace dojo::search
