// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Ctrl-C as a flag: the first asks to end, the second ends at once.
#pragma once

#include <atomic>

namespace dojo::cli {

/// Installs the handlers (SIGINT, SIGTERM) when first called.
[[nodiscard]] const std::atomic<bool>& interrupted();

}  // namespace dojo::cli
