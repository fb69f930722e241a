// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// OpenOCD's remote_bitbang adapter: each character on a socket sets the JTAG pins of the model,
/// asks for TDO or works the reset lines. One client at a time, on loopback or a Unix socket.
#pragma once

#include <string>

#include "model.h"

namespace dojo::rtl {

class RemoteBitbang {
 public:
  /// `clocks`: cycles of the machine for each setting of the pins, half a TCK period.
  RemoteBitbang(Model& model, unsigned clocks) : model_(model), clocks_(clocks) {}
  ~RemoteBitbang();
  RemoteBitbang(const RemoteBitbang&) = delete;
  RemoteBitbang& operator=(const RemoteBitbang&) = delete;

  /// "PORT" (0: any free one) or "unix:PATH". Returns what went wrong; empty: nothing.
  [[nodiscard]] std::string listen(const std::string& where);
  /// Where it listens, as OpenOCD is told: the port or the path.
  [[nodiscard]] const std::string& address() const { return address_; }

  /// Serves all that has arrived, waiting at most `microseconds` (under a second) for the first of
  /// it. True: there was something.
  bool serve(int microseconds);
  /// A client has come and gone.
  [[nodiscard]] bool abandoned() const { return abandoned_; }

 private:
  void execute(char command, std::string& answers);
  void dropClient();

  Model& model_;
  unsigned clocks_;
  std::string address_, path_;
  int listener_ = -1;
  int client_ = -1;
  bool abandoned_ = false;
};

}  // namespace dojo::rtl
