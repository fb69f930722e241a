// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rule 4, re-proved on the result of every move.
#pragma once

#include "base/result.h"
#include "ir/program.h"

namespace dojo::moves {

/// True where some scope runs its iterations in any order or at once, or touches memory apart from
/// the program: streams and transfers.
[[nodiscard]] bool hasConcurrency(const ir::Program& program);

/// Which mappings may stand inside which: lanes hold no mapping but `unroll`, threads no threads,
/// streams and hardware loops neither threads, transfers nor streams, transfers nothing.
[[nodiscard]] bool mayContain(const ir::Mapping& outer, const ir::Mapping& inner);

/// Mappings nest as they may, concurrent scopes carry no dependence that their mapping doesn't
/// handle, and storage that is private to their iterations is written in each before it is read.
/// With the moves' own proofs, which take all storage as shared and all scopes as sequential, this
/// makes a result valid. `program` must be canonical. Errors: "move.mapping", "check.*".
[[nodiscard]] Status proveConcurrency(const ir::Program& program);

}  // namespace dojo::moves
