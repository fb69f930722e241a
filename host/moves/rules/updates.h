// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// An update `d += e` and the assignment `d = d + e` that does the same: what open_update and
/// close_update turn into each other.
#pragma once

#include <optional>

#include "ir/program.h"

namespace dojo::moves {

/// The assignment that does what the update does in one operation; nullopt where there is none.
[[nodiscard]] std::optional<ir::Leaf> opened(const ir::Leaf& leaf);
/// The update that opened() makes the assignment of; nullopt where there is none, or several.
[[nodiscard]] std::optional<ir::Leaf> closed(const ir::Leaf& leaf);

}  // namespace dojo::moves
