// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote_bitbang.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dojo::rtl {

RemoteBitbang::~RemoteBitbang() {
  if (client_ >= 0) close(client_);
  if (listener_ >= 0) close(listener_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::string RemoteBitbang::listen(const std::string& where) {
  constexpr std::string_view kUnix = "unix:";
  const auto failed = [&where](const char* what) {
    return where + ": " + what + ": " + std::strerror(errno);
  };
  if (where.starts_with(kUnix)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string path = where.substr(kUnix.size());
    if (path.empty() || path.size() >= sizeof name.sun_path) {
      return where + ": not a path that a socket can have";
    }
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0) return failed("socket");
    if (bind(listener_, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) {
      return failed("bind");
    }
    path_ = address_ = path;
  } else {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), port);
    if (error != std::errc() || end != where.data() + where.size()) {
      return where + ": neither a port nor unix:PATH";
    }
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0) return failed("socket");
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t size = sizeof name;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) {
      return failed("bind");
    }
    if (getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &size) != 0) {
      return failed("getsockname");
    }
    address_ = std::to_string(ntohs(name.sin_port));
  }
  if (::listen(listener_, 1) != 0) return failed("listen");
  return {};
}

void RemoteBitbang::dropClient() {
  close(client_);
  client_ = -1;
  abandoned_ = true;
}

bool RemoteBitbang::serve(int microseconds) {
  pollfd wait = {client_ >= 0 ? client_ : listener_, POLLIN, 0};
  const timespec most = {0, microseconds * 1000L};
  if (ppoll(&wait, 1, &most, nullptr) <= 0) return false;
  if (client_ < 0) {
    client_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client_ < 0) return false;
    const int on = 1;
    setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    abandoned_ = false;
    return true;
  }
  char commands[16384];
  const ssize_t got = recv(client_, commands, sizeof commands, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    dropClient();
    return true;
  }
  std::string answers;
  for (ssize_t i = 0; i < got && client_ >= 0; ++i) execute(commands[i], answers);
  std::size_t sent = 0;
  while (client_ >= 0 && sent < answers.size()) {
    const ssize_t now = send(client_, answers.data() + sent, answers.size() - sent, MSG_NOSIGNAL);
    if (now > 0) sent += static_cast<std::size_t>(now);
    if (now < 0 && errno != EINTR) dropClient();
  }
  return true;
}

void RemoteBitbang::execute(char command, std::string& answers) {
  if (command >= '0' && command <= '7') {
    const int pins = command - '0';
    model_.setJtag((pins & 4) != 0, (pins & 2) != 0, (pins & 1) != 0);
    model_.run(clocks_);
  } else if (command >= 'r' && command <= 'u') {
    const int lines = command - 'r';
    model_.setReset((lines & 2) != 0, (lines & 1) != 0);
    model_.run(clocks_);
  } else if (command == 'R') {
    answers += model_.tdo() ? '1' : '0';
  } else if (command == 'Q') {
    dropClient();
  }
  // 'B' and 'b' blink a light; others are of newer adapters.
}

}  // namespace dojo::rtl
