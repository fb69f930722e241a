// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a program asks of the machine's host through its symbols `tohost` and `fromhost`: to end,
/// and system calls, by the conventions of RISC-V simulators.
#pragma once

#include <cstdint>
#include <optional>

#include "load_elf.h"
#include "model.h"

namespace dojo::rtl {

class HostInterface {
 public:
  HostInterface(Model& model, const LoadedElf& program);

  /// Looks at `tohost` and does what is asked; the exit status where the program has ended.
  [[nodiscard]] std::optional<int> serve();

 private:
  /// The call whose eight double words (number, then arguments) lie at `block`.
  std::optional<int> call(std::uint32_t block);
  std::int64_t write(std::uint64_t address, std::uint64_t size);

  Model& model_;
  std::optional<std::uint32_t> toHost_, fromHost_;
};

}  // namespace dojo::rtl
