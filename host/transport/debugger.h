// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A device's memory and reset from outside, through a debug server. The mailbox transport
/// (mailbox.h) makes a link of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "transport/server.h"

namespace dojo::transport {

class Debugger {
 public:
  virtual ~Debugger() = default;

  /// Connects to the server, again where it was connected. Errors: "link.start", "link.address",
  /// "link.closed", "load.command".
  [[nodiscard]] virtual Status connect(Server& server) = 0;
  /// Stops the device, loads the image and starts it at its entry. An empty image: starts what is
  /// there. Errors: "load.image", "load.memory" (address), "link.*".
  [[nodiscard]] virtual Status start(const std::string& image) = 0;
  /// A command of the server's own. Errors: "link.monitor" (what it said), "link.*".
  [[nodiscard]] virtual Status monitor(const std::string& command) = 0;

  /// Between hold() and release() memory is accessed at once; whatever must stand still for it does
  /// so. They nest.
  [[nodiscard]] virtual Status hold() = 0;
  [[nodiscard]] virtual Status release() = 0;
  /// Held. Errors: "link.memory" (address and reason), "link.timeout", "link.closed".
  [[nodiscard]] virtual Status read(std::uint64_t address, std::span<std::byte> into) = 0;
  [[nodiscard]] virtual Status write(std::uint64_t address, std::span<const std::byte> bytes) = 0;

  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace dojo::transport
