// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/stream.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

namespace dojo::transport {
namespace {

/// False when `seconds` have passed.
bool waitFor(int fd, short events, double seconds) {
  const double deadline = systemClock().now() + seconds;
  while (true) {
    const double left = std::max(0.0, deadline - systemClock().now());
    pollfd poller{.fd = fd, .events = events, .revents = 0};
    const timespec limit{.tv_sec = static_cast<time_t>(left),
                         .tv_nsec = static_cast<long>((left - static_cast<time_t>(left)) * 1e9)};
    const int ready = ppoll(&poller, 1, &limit, nullptr);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

Error closed(const std::string& what, const char* reason) {
  return {"link.closed",
          fmt::format("'{}' closed the link{}{}", what, *reason != 0 ? ": " : "", reason)};
}

/// The descriptor connected, or the reason why not in errno.
FileDescriptor tryConnect(int family, const sockaddr* at, socklen_t length, double seconds) {
  FileDescriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {};
  if (connect(fd.get(), at, length) != 0) {
    if (errno != EINPROGRESS) return {};
    if (!waitFor(fd.get(), POLLOUT, seconds)) {
      errno = ETIMEDOUT;
      return {};
    }
    int reason = 0;
    socklen_t size = sizeof reason;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &reason, &size);
    if (reason != 0) {
      errno = reason;
      return {};
    }
  }
  if (family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return fd;
}

FileDescriptor tryUnix(const std::string& path, double seconds) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof at.sun_path) {
    errno = ENAMETOOLONG;
    return {};
  }
  std::memcpy(at.sun_path, path.data(), path.size());
  return tryConnect(AF_UNIX, reinterpret_cast<const sockaddr*>(&at), sizeof at, seconds);
}

FileDescriptor tryTcp(const std::string& host, const std::string& port, double seconds,
                      std::string& reason) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    reason = gai_strerror(failed);
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  FileDescriptor fd;
  for (const addrinfo* at = found; at != nullptr && !fd; at = at->ai_next) {
    fd = tryConnect(at->ai_family, at->ai_addr, at->ai_addrlen, seconds);
  }
  if (!fd) reason = std::strerror(errno);
  return fd;
}

}  // namespace

Status Stream::send(std::span<const std::byte> bytes, double seconds, const std::string& what) {
  if (!fd_) return closed(what, "");
  const double deadline = systemClock().now() + seconds;
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!waitFor(fd_.get(), POLLOUT, deadline - systemClock().now())) {
        return Error{"link.timeout", fmt::format("'{}' took no input for {:.1f} s", what, seconds)};
      }
    } else if (errno != EINTR) {
      const Error error = closed(what, std::strerror(errno));
      close();
      return error;
    }
  }
  return {};
}

Result<std::size_t> Stream::receive(std::span<std::byte> into, double seconds,
                                    const std::string& what) {
  if (!fd_) return closed(what, "");
  if (!waitFor(fd_.get(), POLLIN, seconds)) return std::size_t{0};
  const ssize_t count = ::read(fd_.get(), into.data(), into.size());
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::size_t{0};
  const Error error = closed(what, count < 0 ? std::strerror(errno) : "");
  close();
  return error;
}

Result<Stream> connectTo(const std::string& address, double seconds,
                         const std::function<Status()>& alive) {
  static const bool ignored = std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  (void)ignored;
  const bool local = address.starts_with("unix:");
  std::string host, port;
  if (!local) {
    const std::size_t colon = address.rfind(':');
    host = address.substr(0, colon);
    if (colon != std::string::npos) port = address.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    if (host.empty() || port.empty()) {
      return Error{"link.address",
                   fmt::format("'{}' is no address; expected HOST:PORT or unix:PATH", address)};
    }
  }
  const double deadline = systemClock().now() + seconds;
  double pause = 0.002;
  while (true) {
    const double left = std::max(deadline - systemClock().now(), 0.0);
    std::string reason;
    FileDescriptor fd = local ? tryUnix(address.substr(5), left) : tryTcp(host, port, left, reason);
    if (fd) return Stream(std::move(fd));
    if (reason.empty()) reason = std::strerror(errno);
    if (Status up = alive(); !up) return up.error();
    if (systemClock().now() >= deadline) {
      return Error{"link.start", fmt::format("can't connect to '{}' within {:.1f} s: {}", address,
                                             seconds, reason)};
    }
    systemClock().sleep(pause);
    pause = std::min(2 * pause, 0.1);
  }
}

}  // namespace dojo::transport
