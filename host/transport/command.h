// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The `command` transport: frames on the standard streams of any command.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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
  target::Remedy reset = {}, powerCycle = {};
};
[[nodiscard]] std::unique_ptr<Transport> makeCommand(CommandOptions options);

}  // namespace dojo::transport
