// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The parts of check(). Each expects what the ones before it have proved.
#pragma once

#include <string>

#include "ir/check.h"
#include "ir/dependence.h"

namespace dojo::ir {

/// An error whose `where` is the line of the node at `path`.
[[nodiscard]] Error errorAt(const Program& program, const Path& path, std::string code,
                            std::string message);
/// "line 12"
[[nodiscard]] std::string lineText(const Program& program, const Path& path);

/// The line of a buffer's declaration.
[[nodiscard]] std::string declarationLine(BufferId id);

/// Rule 1. Needs a good structure.
[[nodiscard]] Status checkBounds(const Accesses& accesses);

/// No value goes round in one execution of a stream scope: streams read ahead of the program and
/// write behind it.
[[nodiscard]] Status checkStreams(const Accesses& accesses, const Visit& scope);

/// A dma scope writes no element twice: the engine copies in no certain order.
[[nodiscard]] Status checkTransfer(const Accesses& accesses, const Visit& scope);

/// Rules 2 and 3. Needs rules 1 and 4.
[[nodiscard]] Status checkWritten(const Accesses& accesses);

/// Rules 2 and 3 by executing the program and marking what it writes: exact, for programs without
/// data-dependent extents (a gathered read may fall anywhere in the declared values).
/// "check.undecided" for others and past `budget` executed nodes.
[[nodiscard]] Status checkWrittenByMarking(const Accesses& accesses, std::int64_t budget);

}  // namespace dojo::ir
