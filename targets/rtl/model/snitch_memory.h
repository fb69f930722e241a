// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What lies in DRAM and in the scratchpad of the Snitch cluster: arrays of this process, or of a
/// file that is shared with another. The machine reaches them by DPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dojo::rtl {

class SnitchMemory {
 public:
  /// The one that the machine talks to.
  static SnitchMemory& instance();

  /// DRAM of `ramBytes` from `ramOrigin` on, and the scratchpad.
  void lay(std::uint32_t ramOrigin, std::uint32_t ramBytes, std::uint32_t scratchpadOrigin,
           std::uint32_t scratchpadBytes);
  /// Moves both into a file, DRAM first: who maps it, too, has a back door. The file is made as
  /// long as it must be; what it holds becomes what memory holds. What went wrong; empty: nothing.
  [[nodiscard]] std::string share(const std::string& path);

  [[nodiscard]] bool poke(std::uint64_t address, std::span<const std::byte> bytes);
  [[nodiscard]] bool peek(std::uint64_t address, std::span<std::byte> into) const;

  /// Where `size` bytes lie; null: not in one memory.
  [[nodiscard]] std::byte* at(std::uint32_t address, std::size_t size) const {
    if (size <= ramBytes_ && address - ramOrigin_ <= ramBytes_ - size) {
      return base_ + (address - ramOrigin_);
    }
    if (size <= scratchpadBytes_ && address - scratchpadOrigin_ <= scratchpadBytes_ - size) {
      return base_ + ramBytes_ + (address - scratchpadOrigin_);
    }
    return nullptr;
  }

 private:
  std::byte* base_ = nullptr;  ///< Mapped for the life of the process.
  std::uint32_t ramOrigin_ = 0, ramBytes_ = 0, scratchpadOrigin_ = 0, scratchpadBytes_ = 0;
};

}  // namespace dojo::rtl
