// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/transport.h"

#include <filesystem>

#include <fmt/format.h>

#include "transport/command.h"

namespace dojo::transport {

std::string builtRunner(const std::string& port) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string file = "dojo-runner-" + port;
  const fs::path installed = self / ".." / "libexec" / "perfdojo" / file;
  if (!fs::exists(self / file, ignored) && fs::exists(installed, ignored)) {
    return fs::canonical(installed, ignored).string();
  }
  return (self / file).string();
}

Result<std::unique_ptr<Transport>> make(const target::Runner& runner,
                                        const std::string& runnerPath) {
  if (runner.transport != "command") {
    return Error{"link.transport",
                 fmt::format("transport '{}' is not known; there is: command", runner.transport)};
  }
  return makeCommand({.command = runner.command,
                      .runnerPath = runnerPath.empty() ? builtRunner(runner.port) : runnerPath});
}

}  // namespace dojo::transport
