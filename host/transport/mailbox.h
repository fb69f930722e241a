// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Frames through a mailbox in device memory (runner/protocol/PROTOCOL.md), for every debug server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/debugger.h"
#include "transport/server.h"
#include "transport/transport.h"

namespace dojo::transport {

struct MailboxOptions {
  Setup setup;
  std::string address;        ///< Of the server: "HOST:PORT" or "unix:PATH"; {dir} is replaced.
  std::uint64_t mailbox = 0;  ///< Device address of the mailbox.
};
/// The `gdb` transport: any server of GDB's remote protocol.
[[nodiscard]] std::unique_ptr<Transport> makeGdb(MailboxOptions options);
/// The `openocd` transport: a running or started OpenOCD, through its Tcl port.
[[nodiscard]] std::unique_ptr<Transport> makeOpenocd(MailboxOptions options);

/// What both are made of. The device is started through the debugger, unless the command that was
/// started loads it.
[[nodiscard]] std::unique_ptr<Transport> makeMailbox(std::unique_ptr<Debugger> debugger,
                                                     MailboxOptions options);

}  // namespace dojo::transport
