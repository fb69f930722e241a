// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The little of ELF that loading firmware needs: 32 and 64 bits, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace dojo::transport {

struct Segment {
  std::uint64_t address = 0;  ///< Where it is loaded.
  std::uint64_t memoryBytes = 0;
  std::vector<std::byte> bytes;
};

struct ElfImage {
  std::uint64_t entry = 0;
  int machine = 0;  ///< e_machine
  bool wide = true;
  std::vector<Segment> segments;
};

constexpr int kElfArm = 40, kElfAarch64 = 183, kElfRiscv = 243;

/// Error "load.image" (the file and what is wrong with it).
[[nodiscard]] Result<ElfImage> readElf(const std::string& path);
/// Writes a copy of an image with one more segment. Error "load.image".
[[nodiscard]] Status addSegment(const std::string& from, const std::string& to,
                                std::uint64_t address, std::span<const std::byte> bytes);

}  // namespace dojo::transport
