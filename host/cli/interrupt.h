// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Ctrl-C: a command that asks for it may end in its own time, which is short; every other one ends
/// at once. Either way the last line says so, the exit code is kFailed, and no child is left.
#pragma once

#include <atomic>

namespace dojo::cli {

/// Handles SIGINT and SIGTERM from now on.
void handleInterrupts();

/// The flag that the first signal sets, for a command that looks at it. From the first call on such
/// a signal doesn't end the program at once, but a second one does, and 1.5 s after the first the
/// end comes in any case: whatever is being computed, what the log holds is committed.
[[nodiscard]] const std::atomic<bool>& interrupted();

}  // namespace dojo::cli
