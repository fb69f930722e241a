// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Bytes through a file descriptor, with time limits; and connecting to a server.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/process.h"
#include "base/result.h"

namespace dojo::transport {

class Stream {
 public:
  Stream() = default;
  explicit Stream(FileDescriptor fd) : fd_(std::move(fd)) {}

  /// All of `bytes` within `seconds`. Errors: "link.closed", "link.timeout"; `what` is the other
  /// end.
  [[nodiscard]] Status send(std::span<const std::byte> bytes, double seconds,
                            const std::string& what);
  /// What has arrived, waiting at most `seconds` for the first byte. Error "link.closed".
  [[nodiscard]] Result<std::size_t> receive(std::span<std::byte> into, double seconds,
                                            const std::string& what);
  void close() { fd_.reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  FileDescriptor fd_;
};

/// Connects to "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; tries again until `seconds` have passed,
/// as long as `alive` says so. Errors: "link.address" (not one of these), "link.start" (the
/// system's reason), and what `alive` says.
[[nodiscard]] Result<Stream> connectTo(const std::string& address, double seconds,
                                       const std::function<Status()>& alive);

}  // namespace dojo::transport
