// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How bytes reach a device. One file a way in; the link layer (device.h) stands on this.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "target/target.h"

namespace dojo::transport {

/// Memory that host and device share, by offset into the shared file.
struct SharedMemory {
  std::span<std::byte> bytes;
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Starts or connects. The first error is the error shown: "link.start" with the system's reason.
  [[nodiscard]] virtual Status open() = 0;
  /// All of `bytes` within `seconds`. Errors: "link.closed" (with how the device ended and what it
  /// complained about), "link.timeout".
  [[nodiscard]] virtual Status send(std::span<const std::byte> bytes, double seconds) = 0;
  /// What has arrived, waiting at most `seconds` for the first byte; 0: nothing came.
  /// Error "link.closed".
  [[nodiscard]] virtual Result<std::size_t> receive(std::span<std::byte> into, double seconds) = 0;
  /// Brings a dead device back: respawn, reset line, power cycle. Errors as open().
  [[nodiscard]] virtual Status recover() = 0;
  /// Empty where host and device share none.
  [[nodiscard]] virtual SharedMemory shared() { return {}; }
  /// What is at the other end, for messages: the command, the port.
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// The transport that a target names. `runnerPath` replaces {runner} in its command; empty: the
/// runner beside this program. Error "link.transport" names the known ones.
[[nodiscard]] Result<std::unique_ptr<Transport>> make(const target::Runner& runner,
                                                      const std::string& runnerPath = {});
/// Path of the built runner of a port: beside this program (or in ../libexec/perfdojo).
[[nodiscard]] std::string builtRunner(const std::string& port);

}  // namespace dojo::transport
