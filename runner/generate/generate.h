// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the firmware of a bare-metal target is built from, out of its description.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace dojo::generate {

/// Text by file name: port_config.h, items.S, link.ld, port.cmake.
using Files = std::map<std::string, std::string>;

/// Errors: "target.value" (what the firmware needs and the description lacks, with its file).
[[nodiscard]] Result<Files> firmwareFiles(const target::Target& target);

/// A memory that kernels see, as HELLO reports it.
struct Region {
  std::string name;  ///< "code", "data", "stack", or the memory's where that is taken
  std::uint64_t base = 0, size = 0;
  unsigned flags = 0;  ///< DOJO_REGION_*
};
[[nodiscard]] std::vector<Region> regions(const target::Target& target);

}  // namespace dojo::generate
