// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Shared storage, re-proved on the result of every move.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::moves {

/// No tmp loses a value to another in the same storage. With the moves' own proofs, which take each
/// buffer to have an array of its own, this makes a result valid. At once for programs that share
/// no storage. `program` must be canonical and keep rule 4. Errors: "check.*".
[[nodiscard]] Status proveSharing(const ir::Program& program);

/// The way back with what rules don't know: buffers that it brings back get their place in shared
/// storage again.
[[nodiscard]] Trace withSharing(const ir::Program& before, const target::Target& target, Trace back,
                                const ir::Program& after);

}  // namespace dojo::moves
