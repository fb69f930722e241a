// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GDB's remote serial protocol, as far as memory, run control and the monitor go.
#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "transport/elf.h"
#include "transport/frame.h"
#include "transport/mailbox.h"
#include "transport/stream.h"

namespace dojo::transport {
namespace {

constexpr double kAnswerSeconds = 5;
/// What every server takes.
constexpr std::size_t kLeastPacket = 400;
constexpr std::size_t kMostPacket = 65536;

std::string hexOf(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string fromHex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
}

/// Takes bytes as they come; whole packets come out, without their frame and escapes.
class Packets {
 public:
  void feed(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) take(static_cast<char>(byte));
  }
  std::optional<std::string> next() {
    if (whole_.empty()) return std::nullopt;
    std::string packet = std::move(whole_.front());
    whole_.pop_front();
    return packet;
  }
  /// Acknowledgements that came, until none are used any more.
  bool takeAck() { return std::exchange(acked_, false); }

 private:
  void take(char c) {
    switch (state_) {
      case State::outside:
        if (c == '$') {
          packet_.clear();
          state_ = State::inside;
        } else if (c == '+') {
          acked_ = true;
        }
        break;
      case State::inside:
        if (c == '#') {
          state_ = State::sum;
          left_ = 2;
        } else {
          packet_ += c;
        }
        break;
      case State::sum:
        if (--left_ > 0) break;
        whole_.push_back(plain());
        state_ = State::outside;
        break;
    }
  }
  /// Run lengths and escapes undone.
  std::string plain() const {
    std::string out;
    for (std::size_t i = 0; i < packet_.size(); ++i) {
      if (packet_[i] == '}' && i + 1 < packet_.size()) {
        out += static_cast<char>(packet_[++i] ^ 0x20);
      } else if (packet_[i] == '*' && i + 1 < packet_.size() && !out.empty()) {
        out.append(static_cast<std::size_t>(std::max(0, packet_[++i] - 29)), out.back());
      } else {
        out += packet_[i];
      }
    }
    return out;
  }

  enum class State : std::uint8_t { outside, inside, sum } state_ = State::outside;
  std::string packet_;
  int left_ = 0;
  bool acked_ = false;
  std::deque<std::string> whole_;
};

class Gdb : public Debugger {
 public:
  explicit Gdb(std::string address) : address_(std::move(address)) {}

  Status connect(Server& server) override {
    server_ = &server;
    auto address = server.expand(address_);
    if (!address) return address.error();
    auto stream = connectTo(*address, server.setup().seconds, [&] { return server.check(); });
    if (!stream) return stream.error();
    stream_ = std::move(*stream);
    packets_ = {};
    holds_ = 0;
    acknowledges_ = true;
    binary_ = true;
    most_ = kLeastPacket;
    const std::string supported = "qSupported:swbreak+";
    auto features = ask(supported);
    if (!features) return features.error();
    if (const auto at = features->find("PacketSize="); at != std::string::npos) {
      std::size_t size = 0;
      const char* first = features->data() + at + 11;
      std::from_chars(first, features->data() + features->size(), size, 16);
      most_ = std::clamp(size, std::size_t{64}, kMostPacket);
    }
    if (features->find("QStartNoAckMode+") != std::string::npos) {
      auto quiet = ask("QStartNoAckMode");
      if (!quiet) return quiet.error();
      acknowledges_ = *quiet != "OK";
    }
    // Some write registers only for who has asked how they are laid out.
    if (features->find("qXfer:features:read+") != std::string::npos) {
      Status read = command("qXfer:features:read:target.xml:0,80");
      if (!read) return read;
    }
    // Most servers stop the device when one connects; those that don't say so.
    auto state = ask("?");
    if (!state) return state.error();
    running_ = state->empty() || *state == "OK";
    if (Status threads = command("Hg0"); !threads && threads.error().code == "link.closed") {
      return threads;
    }
    return resume();
  }

  Status start(const std::string& image) override {
    if (Status stopped = halt(); !stopped) return stopped;
    if (image.empty()) {
      return Error{"link.monitor", fmt::format("'{}': nothing tells how the device is reset; give "
                                               "its target a reset command (\"monitor ...\")",
                                               describe())};
    }
    auto elf = readElf(image);
    if (!elf) return elf.error();
    for (const Segment& segment : elf->segments) {
      std::vector<std::byte> bytes = segment.bytes;
      bytes.resize(segment.memoryBytes);
      if (Status written = write(segment.address, bytes); !written) {
        if (written.error().code != "link.memory") return written;
        return Error{"load.memory", written.error().message};
      }
    }
    const int word = elf->wide ? 8 : 4;
    if (elf->machine == kElfArm) {
      // A microcontroller takes its stack from where its code begins.
      const Segment& first =
          *std::min_element(elf->segments.begin(), elf->segments.end(),
                            [](const auto& a, const auto& b) { return a.address < b.address; });
      if (Status set = setRegister(13, getAt(first.bytes, 0, 4), 4); !set) return set;
    }
    const std::uint64_t entry =
        elf->machine == kElfArm ? elf->entry & ~std::uint64_t{1} : elf->entry;
    return setRegister(elf->machine == kElfArm ? 15 : 32, entry, word);
  }

  Status monitor(const std::string& text) override {
    if (Status stopped = halt(); !stopped) return stopped;
    if (Status sent = put("qRcmd," + hexOf(text)); !sent) return sent;
    std::string said;
    while (true) {
      auto answer = packet(kAnswerSeconds, "the monitor");
      if (!answer) return answer.error();
      if (*answer == "OK") return {};
      if (answer->size() > 1 && answer->front() == 'O') {
        said += fromHex(answer->substr(1));
        continue;
      }
      if (!answer->empty() && answer->front() != 'E') return {};  // its last words, in hexadecimal
      return Error{"link.monitor", fmt::format("'{}' refuses \"monitor {}\": {}{}", describe(),
                                               text, *answer, said)};
    }
  }

  Status hold() override {
    if (holds_ == 0) {
      if (Status stopped = halt(); !stopped) return stopped;
    }
    ++holds_;
    return {};
  }

  Status release() override {
    if (holds_ > 0) --holds_;
    if (holds_ > 0) return {};
    return resume();
  }

  Status read(std::uint64_t address, std::span<std::byte> into) override {
    const std::size_t most = (most_ - 8) / 2;
    while (!into.empty()) {
      const std::size_t take = std::min(most, into.size());
      auto answer = ask(fmt::format("m{:x},{:x}", address, take));
      if (!answer) return answer.error();
      if (answer->size() != 2 * take) return refused("read", address, *answer);
      for (std::size_t i = 0; i < take; ++i) {
        const int value = digit((*answer)[2 * i]) * 16 + digit((*answer)[2 * i + 1]);
        if (value < 0) return refused("read", address, *answer);
        into[i] = static_cast<std::byte>(value);
      }
      into = into.subspan(take);
      address += take;
    }
    return {};
  }

  Status write(std::uint64_t address, std::span<const std::byte> bytes) override {
    const std::size_t most = (most_ - 40) / 2;
    while (!bytes.empty()) {
      const std::size_t take = std::min(most, bytes.size());
      const std::string_view part(reinterpret_cast<const char*>(bytes.data()), take);
      std::string request = fmt::format("{}{:x},{:x}:", binary_ ? 'X' : 'M', address, take);
      if (binary_) {
        for (const char c : part) {
          if (c == '#' || c == '$' || c == '}' || c == '*') {
            request += '}';
            request += static_cast<char>(c ^ 0x20);
          } else {
            request += c;
          }
        }
      } else {
        request += hexOf(part);
      }
      auto answer = ask(request);
      if (!answer) return answer.error();
      if (answer->empty() && binary_) {
        binary_ = false;  // not known there
        continue;
      }
      if (*answer != "OK") return refused("written", address, *answer);
      bytes = bytes.subspan(take);
      address += take;
    }
    return {};
  }

  std::string describe() const override { return "gdb " + address_; }

 private:
  Error refused(const char* what, std::uint64_t address, const std::string& answer) const {
    return {"link.memory", fmt::format("'{}': memory at {:#x} can't be {}: {}", describe(), address,
                                       what, answer.empty() ? "not known there" : answer)};
  }

  Status halt() {
    if (!running_) return {};
    const std::byte interrupt{3};
    if (Status sent = stream_.send(std::span(&interrupt, 1), kAnswerSeconds, describe()); !sent) {
      return sent;
    }
    while (true) {
      auto answer = packet(kAnswerSeconds, "the device to stop");
      if (!answer) return answer.error();
      if (answer->empty() || std::string_view("TSWX").find(answer->front()) == std::string::npos) {
        continue;
      }
      if (answer->front() == 'W' || answer->front() == 'X') {
        return Error{"link.closed", fmt::format("'{}': the device has exited", describe())};
      }
      running_ = false;
      return {};
    }
  }

  Status resume() {
    if (running_) return {};
    if (Status sent = put("c"); !sent) return sent;
    running_ = true;
    return {};
  }

  Status setRegister(int number, std::uint64_t value, int bytes) {
    std::vector<std::byte> body;
    transport::put(body, value, bytes);
    const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
    const std::string request = fmt::format("P{:x}={}", number, hexOf(text));
    auto answer = ask(request);
    if (!answer) return answer.error();
    if (*answer == "OK") return {};
    return Error{"link.monitor",
                 fmt::format("'{}' refuses register {}: {}", describe(), number, *answer)};
  }

  Status command(const std::string& request) {
    auto answer = ask(request);
    return answer ? Status() : Status(answer.error());
  }

  Status put(const std::string& payload) {
    unsigned sum = 0;
    for (const char c : payload) sum += static_cast<unsigned char>(c);
    const std::string text = fmt::format("${}#{:02x}", payload, sum & 0xffU);
    return stream_.send(std::as_bytes(std::span(text)), kAnswerSeconds, describe());
  }

  Result<std::string> ask(const std::string& request) {
    if (Status sent = put(request); !sent) return sent.error();
    return packet(kAnswerSeconds, request.substr(0, request.find(':')).c_str());
  }

  /// The next packet. Stops that come unasked while an answer is expected are swallowed by who
  /// asks.
  Result<std::string> packet(double seconds, const char* what) {
    const double deadline = systemClock().now() + seconds;
    std::array<std::byte, 4096> chunk;
    while (true) {
      if (auto whole = packets_.next()) {
        if (acknowledges_) {
          const std::byte plus{'+'};
          if (Status sent = stream_.send(std::span(&plus, 1), seconds, describe()); !sent) {
            return sent.error();
          }
        }
        return std::move(*whole);
      }
      const double left = deadline - systemClock().now();
      if (left <= 0) {
        return Error{"link.timeout",
                     fmt::format("'{}': waited {:.1f} s for {}", describe(), seconds, what)};
      }
      auto got = server_->receive(stream_, chunk, left, describe());
      if (!got) return got.error();
      packets_.feed(std::span(chunk).first(*got));
    }
  }

  std::string address_;
  Server* server_ = nullptr;
  Stream stream_;
  Packets packets_;
  std::size_t most_ = kLeastPacket;
  int holds_ = 0;
  bool running_ = false, acknowledges_ = true, binary_ = true;
};

}  // namespace

std::unique_ptr<Transport> makeGdb(MailboxOptions options) {
  auto debugger = std::make_unique<Gdb>(options.address);
  return makeMailbox(std::move(debugger), std::move(options));
}

}  // namespace dojo::transport
