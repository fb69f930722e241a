// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/server.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

namespace dojo::transport {
namespace {

constexpr std::size_t kMostOutput = 4096;
/// How long what a command prints may wait for us.
constexpr double kDrainSeconds = 0.02;

void replaceAll(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text;
}

/// A port of the loopback interface that nobody listens on.
Result<std::string> freePort() {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  auto* address = reinterpret_cast<sockaddr*>(&name);
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool found =
      probe >= 0 && bind(probe, address, size) == 0 && getsockname(probe, address, &size) == 0;
  const int reason = errno;
  if (probe >= 0) close(probe);
  if (found) return std::to_string(ntohs(name.sin_port));
  return Error{"link.start", fmt::format("can't find a free port: {}", std::strerror(reason))};
}

}  // namespace

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> PrivateFolder::path() {
  if (path_.empty()) {
    std::error_code failed;
    std::string name = (std::filesystem::temp_directory_path(failed) / "dojo-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr) {
      return Error{"link.start",
                   fmt::format("can't make a temporary folder: {}", std::strerror(errno))};
    }
    path_ = name;
  }
  return path_;
}

Result<std::string> Server::expand(std::string text) {
  replaceAll(text, "{runner}", setup_.runnerPath);
  if (text.find("{dir}") != std::string::npos) {
    auto folder = folder_.path();
    if (!folder) return folder.error();
    replaceAll(text, "{dir}", *folder);
  }
  if (text.find("{bin}") != std::string::npos) {
    std::error_code ignored;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    replaceAll(text, "{bin}", self.parent_path().string());
  }
  if (text.find("{port}") != std::string::npos) {
    if (port_.empty()) {
      auto port = freePort();
      if (!port) return port.error();
      port_ = std::move(*port);
    }
    replaceAll(text, "{port}", port_);
  }
  return text;
}

Result<std::vector<std::string>> Server::expandWords(const std::string& command) {
  auto words = splitWords(command);
  if (!words) return Error{"link.start", words.error().message};
  for (std::string& word : *words) {
    auto expanded = expand(std::move(word));
    if (!expanded) return expanded.error();
    word = std::move(*expanded);
  }
  return words;
}

bool Server::loads() const { return setup_.command.find("{runner}") != std::string::npos; }

Status Server::start() {
  process_.reset();
  output_.clear();
  if (setup_.command.empty()) return {};
  auto words = expandWords(setup_.command);
  if (!words) return words.error();
  auto started = Process::start(*words);
  if (!started) return Error{"link.start", started.error().message};
  process_.emplace(std::move(*started));
  return {};
}

void Server::drain() {
  if (!process_) return;
  std::array<std::byte, 4096> chunk;
  while (true) {
    auto got = process_->read(chunk, 0);
    if (!got || *got == 0) break;
    output_.append(reinterpret_cast<const char*>(chunk.data()), *got);
    if (output_.size() > kMostOutput) output_.erase(0, output_.size() - kMostOutput);
  }
  (void)process_->complaints();
}

Status Server::check() {
  if (!process_) return {};
  drain();
  const std::string ending = process_->ending(0);
  if (ending == "still running" || ending == "exit status 0") return {};
  return Error{"load.command", fmt::format("'{}' failed: {}", setup_.command, ending), "",
               trimmed(process_->complaints() + output_)};
}

Result<std::size_t> Server::receive(Stream& stream, std::span<std::byte> into, double seconds,
                                    const std::string& what) {
  const double deadline = systemClock().now() + seconds;
  while (true) {
    drain();
    const double left = std::max(deadline - systemClock().now(), 0.0);
    auto got = stream.receive(into, std::min(left, kDrainSeconds), what);
    if (!got || *got != 0 || left <= kDrainSeconds) return got;
  }
}

Status Server::explain(Status status, bool heard) {
  if (status || status.error().code != "link.closed" || !process_) return status;
  (void)process_->ending(0.2);
  Status ended = check();
  if (ended) return status;
  if (!heard) return ended;
  Error error = ended.error();
  error.code = "link.ended";
  error.message = fmt::format("'{}' ended: {}", setup_.command, process_->ending(0));
  return error;
}

std::string Server::printedDevice() {
  drain();
  std::string all = output_;
  if (process_) all += process_->complaints();
  const std::size_t at = all.find("/dev/");
  if (at == std::string::npos) return {};
  const std::size_t end = all.find_first_of(" \t\r\n'\"", at);
  return end == std::string::npos ? std::string() : all.substr(at, end - at);
}

Status Server::run(const target::Remedy& remedy, const std::string& code) {
  auto words = expandWords(remedy.command);
  if (!words) return Error{code, words.error().message};
  auto started = Process::start(*words);
  if (!started) return Error{code, started.error().message};
  const double deadline = systemClock().now() + remedy.seconds;
  std::array<std::byte, 4096> chunk;
  // Its output is of no interest but must not hold it up.
  while (true) {
    const double left = deadline - systemClock().now();
    auto got = started->read(chunk, left > 0 ? left : 0);
    if (!got) break;
    if (left <= 0) {
      return Error{code,
                   fmt::format("'{}' didn't end within {:.1f} s", remedy.command, remedy.seconds)};
    }
  }
  const double left = deadline - systemClock().now();
  const std::string ending = started->ending(left > 0 ? left : 0);
  if (ending == "exit status 0") return {};
  return Error{code, fmt::format("'{}' failed: {}", remedy.command, ending), "",
               trimmed(started->complaints())};
}

std::vector<Rescue> Server::rescues(Rescue transportsOwn, Transport& transport) {
  std::vector<Rescue> out;
  if (!setup_.reset.command.empty()) {
    out.push_back(
        {"the reset command", "link.reset", [this] { return run(setup_.reset, "link.reset"); }});
  }
  if (transportsOwn.apply) out.push_back(std::move(transportsOwn));
  if (!setup_.powerCycle.command.empty()) {
    out.push_back({"the power-cycle command", "link.power",
                   [this] { return run(setup_.powerCycle, "link.power"); }});
  }
  out.push_back({setup_.command.empty() ? "connecting anew" : "starting it again", "link.restart",
                 [&transport] { return transport.recover(); }});
  return out;
}

}  // namespace dojo::transport
