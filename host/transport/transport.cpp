// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/transport.h"

#include <filesystem>

#include <fmt/format.h>

#include "transport/command.h"

namespace dojo::transport {

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

Status Transport::poke(std::uint64_t address, std::span<const std::byte>) {
  return Error{"link.memory", fmt::format("'{}' has no way to memory at {:#x} but its runner",
                                          describe(), address)};
}

Status Transport::peek(std::uint64_t address, std::span<std::byte>) { return poke(address, {}); }

Result<std::unique_ptr<Transport>> make(const target::Target& target,
                                        const std::string& runnerPath) {
  const target::Runner& runner = target.runner;
  if (runner.transport != "command") {
    return Error{"link.transport",
                 fmt::format("transport '{}' is not known; there is: command", runner.transport)};
  }
  return makeCommand({.command = runner.command,
                      .runnerPath = runnerPath.empty() ? builtRunner(target) : runnerPath});
}

}  // namespace dojo::transport
