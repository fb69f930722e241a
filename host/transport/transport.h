// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How bytes reach a device. One file a way in; the link layer (device.h) stands on this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace dojo::transport {

/// A stretch of the device's memory and where it lies in the shared file.
struct Window {
  std::uint64_t address = 0, size = 0;
  std::uint64_t offset = 0;
};

/// Memory that host and device share, by offset into the shared file.
struct SharedMemory {
  std::span<std::byte> bytes;
  /// All that is shared; empty: what the runner says of its regions (DOJO_REGION_SHARED).
  std::vector<Window> windows;
};

/// A step that may bring a dead device back.
struct Rescue {
  std::string name;               ///< Completes "brought back by ...".
  std::string code;               ///< Of its failure: "link.reset", "link.power", "link.restart"
  std::function<Status()> apply;  ///< Keeps its own time limit; HELLO is tried after it.
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Starts or connects. The first error is the error shown: "link.start" with the system's reason,
  /// "load.command" where a command that loads the device failed.
  [[nodiscard]] virtual Status open() = 0;
  /// All of `bytes` within `seconds`. Errors: "link.closed" (the way to the device is gone),
  /// "link.ended" (the device itself: with how it ended and what it complained about),
  /// "link.timeout" (what was waited for), "load.command" (before the device said anything).
  [[nodiscard]] virtual Status send(std::span<const std::byte> bytes, double seconds) = 0;
  /// What has arrived, waiting at most `seconds` for the first byte; 0: nothing came. Errors as
  /// send().
  [[nodiscard]] virtual Result<std::size_t> receive(std::span<std::byte> into, double seconds) = 0;
  /// Starts the device anew, or at least the way to it: the last of the rescues. Errors as open().
  [[nodiscard]] virtual Status recover() = 0;
  /// What may bring a dead device back, the mildest first.
  [[nodiscard]] virtual std::vector<Rescue> rescues();
  /// Memory commands that may be under way at once: 1 where bytes that the device doesn't take in
  /// time are lost.
  [[nodiscard]] virtual int depth() const { return 16; }
  /// What so many bytes need on the line, in seconds, where that is known and matters.
  [[nodiscard]] virtual double lineSeconds(std::size_t /*bytes*/) const { return 0; }
  /// Memory that is read and written from outside, past the runner (a debug module, a simulator's
  /// back door): at any time, also while a kernel runs. False: there is none, and memory goes by
  /// frames.
  [[nodiscard]] virtual bool hasBackDoor() const { return false; }
  /// Errors: "link.memory" (address and reason), "link.closed", "link.timeout".
  [[nodiscard]] virtual Status poke(std::uint64_t address, std::span<const std::byte> bytes);
  [[nodiscard]] virtual Status peek(std::uint64_t address, std::span<std::byte> into);
  /// Empty where host and device share none.
  [[nodiscard]] virtual SharedMemory shared() { return {}; }
  /// What is at the other end, for messages: the command, the port.
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// The transport that a target names. `runnerPath` replaces {runner} in its command; empty: the
/// runner beside this program. Error "link.transport" names the known ones.
[[nodiscard]] Result<std::unique_ptr<Transport>> make(const target::Target& target,
                                                      const std::string& runnerPath = {});
/// Path of the built runner of a target: beside this program (or in ../libexec/perfdojo).
[[nodiscard]] std::string builtRunner(const target::Target& target);

}  // namespace dojo::transport
