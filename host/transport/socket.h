// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The `socket` transport: frames through a TCP or Unix socket that somebody else listens on
/// (ser2net, an emulator's character device, labgrid).
#pragma once

#include <memory>
#include <string>

#include "transport/server.h"
#include "transport/transport.h"

namespace dojo::transport {

struct SocketOptions {
  Setup setup;
  std::string address;  ///< "HOST:PORT" or "unix:PATH"; {dir} is replaced.
};
[[nodiscard]] std::unique_ptr<Transport> makeSocket(SocketOptions options);

}  // namespace dojo::transport
