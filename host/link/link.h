// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Placing an object at a device address (JITLink): relocations done, nothing executed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace dojo::link {

struct Image {
  std::uint64_t base = 0;  ///< Device address of bytes[0].
  std::vector<std::byte> bytes;
  std::uint64_t entry = 0;  ///< What to call: the entry symbol's device address; bit 0: Thumb.
};

/// `symbols`: device addresses of what the object may refer to (runner services). Errors:
/// "link.undefined" (names the symbol), "link.size" (both sizes), "link.object".
[[nodiscard]] Result<Image> place(const std::vector<std::byte>& object, const std::string& entry,
                                  std::uint64_t base, std::uint64_t capacity,
                                  const std::map<std::string, std::uint64_t>& symbols);

}  // namespace dojo::link
