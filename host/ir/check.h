// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Validity: rules 1 to 4 of the language.
#pragma once

#include "base/result.h"
#include "ir/dependence.h"
#include "ir/program.h"

namespace dojo::ir {

/// Structure (ids, ranks, dtypes, operand conversions, roles: `in` is never written, gathers on
/// right sides through read-only index buffers that declare their values, depth), then
///   1. every index is within its dim on every execution,
///   2. every element of a tmp or out is written before it is read, and since then no other buffer
///      that shares its storage has been written there,
///   3. every element of every out has been written at the end,
///   4. concurrent scopes carry no dependence other than reductions that the mapping handles.
/// Sound always; exact for affine programs within a budget. What can't be decided is refused with
/// the code "check.undecided". Codes: "check.structure", "check.bounds", "check.unwritten-read",
/// "check.unwritten-out", "check.mapping", "check.undecided". `where` is "line N" of print().
[[nodiscard]] Status check(const Program& program);

/// The structural part alone; fast.
[[nodiscard]] Status checkStructure(const Program& program);

/// Rule 4 alone, for every concurrent scope: what each move re-proves on its result. `vector`
/// handles reductions whose accumulator is touched by nothing else inside the scope; `parallel`
/// handles none. What a stream scope writes isn't read again in the same execution of it where
/// either goes by a stream; a dma scope writes no element twice.
[[nodiscard]] Status checkMappings(const Accesses& accesses);

/// Rule 2 as far as tmps lose values to others that share their storage: what each move re-proves
/// on its result. At once without such tmps. Needs rules 1 and 4.
[[nodiscard]] Status checkSharing(const Accesses& accesses);
/// The same of one storage if `a` and `b` were in it, asked of a program without concurrent scopes
/// in which they aren't yet. `undecided`: only the program with them in it can tell.
[[nodiscard]] Status checkSharing(const Accesses& accesses, BufferId a, BufferId b,
                                  bool& undecided);

}  // namespace dojo::ir
