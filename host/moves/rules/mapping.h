// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the moves that map scopes share.
#pragma once

#include "base/result.h"
#include "moves/rule.h"

namespace dojo::moves {

/// Refuses unless an unmapped scope stands at `place`, the target offers the mapping
/// ("move.target"), and it may stand inside and around the mappings there.
[[nodiscard]] Status needsMappable(const State& state, const ir::Path& place, ir::MapKind kind);

/// The same for `stream` and `frep`, which may stand together on one scope.
[[nodiscard]] Status needsRegion(const State& state, const ir::Path& place, ir::MapKind kind);

/// The way back of adding `kind` to the mapping that the scope at `place` has.
[[nodiscard]] Move unmapOf(const State& before, const ir::Path& place, ir::MapKind kind);

/// Proves that the scope at `place` may run its iterations at once (rule 4 for a concurrent
/// mapping): nothing that one iteration writes is touched by another, but for storage that becomes
/// private, and for `vector` reductions.
[[nodiscard]] Status proveConcurrent(const State& state, const ir::Path& place, ir::MapKind kind);

/// The program with the scope at `place` mapped so.
[[nodiscard]] ir::Program withMapping(const State& state, const ir::Path& place,
                                      ir::Mapping mapping);

}  // namespace dojo::moves
