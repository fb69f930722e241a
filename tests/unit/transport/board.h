// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A board on a line: the native runner on a pseudo-terminal, started again whenever it ends.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "transport/serial.h"

namespace dojo::transport {

class LineBoard {
 public:
  LineBoard() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(master_);
    REQUIRE(grantpt(master_.get()) == 0);
    REQUIRE(unlockpt(master_.get()) == 0);
    line_ = ptsname(master_.get());
    std::string folder = (std::filesystem::temp_directory_path() / "dojo-board-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    // Else the terminal would hang up whenever nobody has it open.
    kept_ = FileDescriptor(::open(line_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  LineBoard(const LineBoard&) = delete;
  LineBoard& operator=(const LineBoard&) = delete;
  ~LineBoard() { std::filesystem::remove_all(folder_); }

  void start() {
    const std::string loop = fmt::format(
        "while :; do {} --harts 1 --code-bytes 1048576 --data-bytes 1048576 <&{} >&{} & "
        "echo $! > {}; wait; done",
        DOJO_BINARY_DIR "/bin/dojo-runner-linux", master_.get(), master_.get(), pidFile());
    auto process = Process::start({"sh", "-c", loop}, {master_.get()});
    REQUIRE(process);
    process_.emplace(std::move(*process));
    while (runner() == 0) systemClock().sleep(0.002);
  }
  /// Of the runner that is up now.
  int runner() const {
    std::ifstream in(pidFile());
    int pid = 0;
    in >> pid;
    return pid;
  }
  std::string pidFile() const { return folder_ + "/pid"; }
  /// A command that resets the board.
  std::string reset() const { return fmt::format("sh -c 'kill -9 $(cat {})'", pidFile()); }
  const std::string& line() const { return line_; }

  SerialOptions options() const {
    return {.setup = {.command = {}, .runnerPath = {}, .reset = {}, .powerCycle = {}, .seconds = 2},
            .device = line_,
            .baud = 1000000,
            .resetLine = {}};
  }

 private:
  FileDescriptor master_, kept_;
  std::string line_, folder_;
  std::optional<Process> process_;
};

}  // namespace dojo::transport
