// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Puts a 32-bit little-endian ELF program into a model's memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model.h"

namespace dojo::rtl {

struct LoadedElf {
  std::string error;  ///< Empty: all is well.
  std::uint32_t entry = 0;
  std::map<std::string, std::uint32_t> symbols;
};

/// Through the back door, at the physical addresses of the segments.
[[nodiscard]] LoadedElf loadElf(Model& model, const std::string& path);

}  // namespace dojo::rtl
