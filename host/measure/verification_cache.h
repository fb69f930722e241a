// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// References on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/interpret.h"

namespace dojo::measure {

using References = std::vector<std::vector<ir::Bounded>>;

/// Names a reference by all that decides it.
[[nodiscard]] std::string referenceKey(const std::string& programText, ir::InputSet set,
                                       std::uint64_t seed);
/// nullopt where there is none, or the file is damaged or of another version.
[[nodiscard]] std::optional<References> readReferences(const std::string& folder,
                                                       const std::string& key);
/// Does nothing where the folder can't be written. The oldest ones go when all together are beyond
/// 1 GiB.
void writeReferences(const std::string& folder, const std::string& key,
                     const References& references);

}  // namespace dojo::measure
