// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The `serial` transport: frames over a line, 8N1, at any speed.
#pragma once

#include <memory>
#include <string>

#include "transport/server.h"
#include "transport/transport.h"

namespace dojo::transport {

struct SerialOptions {
  Setup setup;
  /// "/dev/ttyUSB0"; {dir} is replaced; "{pty}": the first "/dev/..." that the command prints, as
  /// emulators do for a pseudo-terminal.
  std::string device;
  int baud = 115200;
  std::string resetLine;  ///< "", "dtr" or "rts": pulsed to reset the board.
};
[[nodiscard]] std::unique_ptr<Transport> makeSerial(SerialOptions options);

}  // namespace dojo::transport
