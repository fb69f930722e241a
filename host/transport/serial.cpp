// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/serial.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

// For speeds of any number; <termios.h> declares the same names otherwise.
#include <asm/termbits.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "transport/stream.h"

namespace dojo::transport {
namespace {

constexpr double kPulseSeconds = 0.1;

class Serial : public Transport {
 public:
  explicit Serial(SerialOptions options)
      : options_(std::move(options)), server_(std::move(options_.setup)) {}

  Status open() override {
    stream_.close();
    heard_ = false;
    if (Status started = server_.start(); !started) return started;
    const double seconds = server_.setup().seconds;
    const double deadline = systemClock().now() + seconds;
    while (true) {
      std::string reason = "the command named no /dev/... yet";
      auto name = options_.device == "{pty}" ? Result<std::string>(server_.printedDevice())
                                             : server_.expand(options_.device);
      if (!name) return name.error();
      device_ = *name;
      if (!device_.empty()) {
        FileDescriptor fd(::open(device_.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
        if (fd) {
          if (Status set = configure(fd.get()); !set) return set;
          stream_ = Stream(std::move(fd));
          return {};
        }
        reason = std::strerror(errno);
      }
      if (Status up = server_.check(); !up) return up;
      // Without a command nothing will make it appear.
      if (server_.setup().command.empty() || systemClock().now() >= deadline) {
        return Error{"link.start", fmt::format("can't open the line '{}': {}", describe(), reason)};
      }
      systemClock().sleep(0.005);
    }
  }

  Status send(std::span<const std::byte> bytes, double seconds) override {
    // What the line needs for these bytes is no sign of trouble.
    const double limit = seconds + lineSeconds(bytes.size());
    return server_.explain(stream_.send(bytes, limit, describe()), heard_);
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    auto got = stream_.receive(into, seconds, describe());
    if (!got) return server_.explain(got.error(), heard_).error();
    heard_ = heard_ || *got > 0;
    if (*got == 0 && !heard_) {
      if (Status up = server_.check(); !up) return up.error();
    }
    return got;
  }

  Status recover() override { return open(); }

  std::vector<Rescue> rescues() override {
    Rescue line;
    if (!options_.resetLine.empty()) {
      line = {"the reset line", "link.reset-line", [this] { return pulse(); }};
    }
    return server_.rescues(std::move(line), *this);
  }

  int depth() const override { return 1; }
  double lineSeconds(std::size_t bytes) const override {
    return static_cast<double>(bytes) * 10 / options_.baud;
  }

  std::string describe() const override {
    return device_.empty() ? options_.device : fmt::format("{} at {}", device_, options_.baud);
  }

 private:
  Status configure(int fd) const {
    termios2 settings{};
    if (ioctl(fd, TCGETS2, &settings) != 0) return refused("is no serial line");
    settings.c_iflag = 0;
    settings.c_oflag = 0;
    settings.c_lflag = 0;
    settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | BOTHER << IBSHIFT;
    settings.c_ispeed = settings.c_ospeed = static_cast<speed_t>(options_.baud);
    settings.c_cc[VMIN] = 0;
    settings.c_cc[VTIME] = 0;
    if (ioctl(fd, TCSETS2, &settings) != 0) return refused("refuses its settings");
    termios2 now{};
    const auto asked = static_cast<double>(options_.baud);
    if (ioctl(fd, TCGETS2, &now) == 0 && std::abs(now.c_ospeed / asked - 1) > 0.03) {
      return Error{"link.start", fmt::format("the line '{}' runs at {} baud and {} were asked for",
                                             device_, now.c_ospeed, options_.baud)};
    }
    (void)ioctl(fd, TCFLSH, TCIOFLUSH);
    return {};
  }

  Error refused(const char* what) const {
    return {"link.start", fmt::format("'{}' {}: {}", device_, what, std::strerror(errno))};
  }

  Status pulse() {
    int bit = options_.resetLine == "rts" ? TIOCM_RTS : TIOCM_DTR;
    if (!stream_) return Error{"link.reset-line", fmt::format("'{}' isn't open", describe())};
    const bool down = ioctl(stream_.fd(), TIOCMBIC, &bit) == 0;
    systemClock().sleep(kPulseSeconds);
    const bool up = ioctl(stream_.fd(), TIOCMBIS, &bit) == 0;
    if (down && up) return {};
    return Error{"link.reset-line", fmt::format("can't pulse {} of '{}': {}", options_.resetLine,
                                                device_, std::strerror(errno))};
  }

  SerialOptions options_;
  Server server_;
  Stream stream_;
  std::string device_;
  bool heard_ = false;
};

}  // namespace

std::unique_ptr<Transport> makeSerial(SerialOptions options) {
  return std::make_unique<Serial>(std::move(options));
}

}  // namespace dojo::transport
