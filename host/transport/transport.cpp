// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/transport.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "transport/batch.h"
#include "transport/command.h"
#include "transport/mailbox.h"
#include "transport/serial.h"
#include "transport/socket.h"

namespace dojo::transport {
namespace {

constexpr const char* kKnown = "batch, command, gdb, openocd, serial, socket, verilator";

/// The memory that holds the mailbox or, in a batch image, the list. Error "link.mailbox".
Result<target::Memory> mailboxOf(const target::Target& target) {
  for (const target::Memory& memory : target.memories) {
    const auto& roles = memory.roles;
    if (std::find(roles.begin(), roles.end(), "mailbox") != roles.end()) return memory;
  }
  return Error{
      "link.mailbox",
      fmt::format("transport '{}' needs a memory with role \"mailbox\"", target.runner.transport),
      target.file};
}

}  // namespace

std::string builtRunner(const target::Target& target) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string& file = target.runner.image;
  const fs::path installed = self / ".." / "libexec" / "perfdojo" / file;
  if (!fs::exists(self / file, ignored) && fs::exists(installed, ignored)) {
    return fs::canonical(installed, ignored).string();
  }
  return (self / file).string();
}

std::vector<Rescue> Transport::rescues() {
  return {{"starting it again", "link.restart", [this] { return recover(); }}};
}

Status Transport::poke(std::uint64_t address, std::span<const std::byte>) {
  return Error{"link.memory", fmt::format("'{}' has no way to memory at {:#x} but its runner",
                                          describe(), address)};
}

Status Transport::peek(std::uint64_t address, std::span<std::byte>) { return poke(address, {}); }

Result<std::unique_ptr<Transport>> make(const target::Target& target,
                                        const std::string& runnerPath) {
  const target::Runner& runner = target.runner;
  Setup setup{.command = runner.command,
              .runnerPath = runnerPath.empty() ? builtRunner(target) : runnerPath,
              .reset = runner.reset,
              .powerCycle = runner.powerCycle,
              .seconds = runner.helloSeconds};
  const bool model = runner.transport == "verilator";
  if (runner.transport == "command" || model) {
    return makeCommand({.command = runner.command,
                        .runnerPath = setup.runnerPath,
                        .windows = model ? modelMemory(target) : std::vector<Window>(),
                        .reset = runner.reset,
                        .powerCycle = runner.powerCycle});
  }
  if (runner.transport == "serial") {
    return makeSerial({.setup = std::move(setup),
                       .device = runner.device,
                       .baud = runner.baud,
                       .resetLine = runner.resetLine});
  }
  if (runner.transport == "socket") {
    return makeSocket({.setup = std::move(setup), .address = runner.address});
  }
  const bool mailbox = runner.transport == "gdb" || runner.transport == "openocd";
  if (!mailbox && runner.transport != "batch") {
    return Error{"link.transport", fmt::format("transport '{}' is not known; there are: {}",
                                               runner.transport, kKnown)};
  }
  auto memory = mailboxOf(target);
  if (!memory) return memory.error();
  if (!mailbox) {
    return makeBatch({.setup = std::move(setup),
                      .list = memory->origin,
                      .listBytes = memory->length,
                      .seconds = runner.callSeconds});
  }
  MailboxOptions options{
      .setup = std::move(setup), .address = runner.address, .mailbox = memory->origin};
  return runner.transport == "gdb" ? makeGdb(std::move(options)) : makeOpenocd(std::move(options));
}

}  // namespace dojo::transport
