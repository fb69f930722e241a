// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The `command` transport: frames on the standard streams of any command. The `verilator`
/// transport is one whose command is a model that shares all of its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace dojo::transport {

struct CommandOptions {
  /// A command with {runner}, {dir} and {memory} replaced. Where {memory} stands, a file in memory
  /// is handed to the child and the runner shares its code and data regions through it; without it
  /// all goes through frames (ssh, emulators).
  std::string command;
  std::string runnerPath;
  std::uint64_t codeBytes = std::uint64_t{64} << 20;
  std::uint64_t dataBytes = std::uint64_t{2} << 30;
  /// The memory of a model, each stretch at its offset: {memory} is then the path of a file as
  /// large as all of them.
  std::vector<Window> windows = {};
  target::Remedy reset = {}, powerCycle = {};
};
[[nodiscard]] std::unique_ptr<Transport> makeCommand(CommandOptions options);

/// How a model lays its memories out in the file that it shares (`--memory FILE`): neighbours are
/// one stretch; that which holds the code of kernels comes first, the others by their addresses.
[[nodiscard]] std::vector<Window> modelMemory(const target::Target& target);

}  // namespace dojo::transport
