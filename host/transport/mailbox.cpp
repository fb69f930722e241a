// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/mailbox.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "protocol/protocol.h"
#include "transport/frame.h"

namespace dojo::transport {
namespace {

constexpr double kFirstPause = 0.0001;
constexpr double kLongestPause = 0.005;
constexpr std::uint32_t kMostRing = 1U << 24;
constexpr std::size_t kWord = 4;

/// One of the two rings.
struct Ring {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t position = 0;  ///< That this side moves.
};

class Mailbox : public Transport {
 public:
  Mailbox(std::unique_ptr<Debugger> debugger, MailboxOptions options)
      : options_(std::move(options)),
        server_(std::move(options_.setup)),
        debugger_(std::move(debugger)) {}

  Status open() override {
    if (Status started = server_.start(); !started) return started;
    if (Status connected = debugger_->connect(server_); !connected) return connected;
    if (server_.loads()) return find(false);
    return restart();
  }

  Status send(std::span<const std::byte> bytes, double seconds) override {
    const double deadline = systemClock().now() + seconds;
    double pause = kFirstPause;
    while (!bytes.empty()) {
      std::size_t taken = 0;
      const Status put = held([&]() -> Status {
        std::uint32_t used = commands_.position - taken_;
        if (bytes.size() > commands_.size - used) {
          auto read = word(DOJO_MAILBOX_COMMANDS_READ);
          if (!read) return read.error();
          taken_ = *read;
          used = commands_.position - taken_;
        }
        if (used > commands_.size) return damaged("commands", used);
        taken = std::min<std::size_t>(bytes.size(), commands_.size - used);
        return taken == 0 ? Status() : putCommands(bytes.first(taken));
      });
      if (!put) return explain(put);
      bytes = bytes.subspan(taken);
      if (bytes.empty()) break;
      if (taken != 0) pause = kFirstPause;
      if (systemClock().now() >= deadline) {
        return Error{"link.timeout", fmt::format("'{}': the device took no command out of its "
                                                 "mailbox for {:.1f} s",
                                                 describe(), seconds)};
      }
      systemClock().sleep(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
    return {};
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    const double deadline = systemClock().now() + seconds;
    double pause = kFirstPause;
    while (true) {
      std::size_t count = 0;
      const Status got = held([&]() -> Status {
        auto written = word(DOJO_MAILBOX_RECORDS_WRITTEN);
        if (!written) return written.error();
        const std::uint32_t used = *written - records_.position;
        if (used > records_.size) return damaged("records", used);
        count = std::min<std::size_t>(used, into.size());
        return count == 0 ? Status() : takeRecords(into.first(count));
      });
      if (!got) return explain(got).error();
      if (count != 0) {
        heard_ = true;
        return count;
      }
      const double left = deadline - systemClock().now();
      if (left <= 0) return std::size_t{0};
      systemClock().sleep(std::min(pause, left));
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  Status recover() override { return open(); }

  std::vector<Rescue> rescues() override {
    Rescue reset{"a reset through the debug server", "link.reset-server",
                 [this] { return restart(); }};
    std::vector<Rescue> out = server_.rescues(std::move(reset), *this);
    const std::string& command = server_.setup().reset.command;
    for (Rescue& rescue : out) {
      if (rescue.code == "link.reset" && command.starts_with("monitor ")) {
        rescue.apply = [this, text = command.substr(8)] {
          if (Status stopped = debugger_->hold(); !stopped) return stopped;
          if (Status wiped = setWord(DOJO_MAILBOX_AT_MAGIC, 0); !wiped) return wiped;
          if (Status done = debugger_->monitor(text); !done) return done;
          if (Status on = debugger_->release(); !on) return on;
          return find(true);
        };
      } else if (rescue.code == "link.reset" || rescue.code == "link.power") {
        // The server may have lost its device, and we the server.
        rescue.apply = [this, apply = std::move(rescue.apply)] {
          if (Status applied = apply(); !applied) return applied;
          if (Status connected = debugger_->connect(server_); !connected) return connected;
          return restart();
        };
      }
    }
    return out;
  }

  bool hasBackDoor() const override { return true; }
  Status poke(std::uint64_t address, std::span<const std::byte> bytes) override {
    return explain(held([&] { return debugger_->write(address, bytes); }));
  }
  Status peek(std::uint64_t address, std::span<std::byte> into) override {
    return explain(held([&] { return debugger_->read(address, into); }));
  }

  std::string describe() const override { return debugger_->describe(); }

 private:
  template <class Action>
  Status held(const Action& action) {
    if (Status stopped = debugger_->hold(); !stopped) return stopped;
    Status done = action();
    Status released = debugger_->release();
    return done ? released : done;
  }

  Status explain(Status status) { return server_.explain(std::move(status), heard_); }

  Result<std::uint32_t> word(std::uint32_t offset) {
    std::array<std::byte, kWord> bytes{};
    if (Status read = debugger_->read(options_.mailbox + offset, bytes); !read) return read.error();
    return static_cast<std::uint32_t>(getAt(bytes, 0, kWord));
  }
  Status setWord(std::uint32_t offset, std::uint32_t value) {
    std::vector<std::byte> bytes;
    put(bytes, value, kWord);
    return debugger_->write(options_.mailbox + offset, bytes);
  }

  Error damaged(const char* ring, std::uint32_t used) const {
    return {"link.mailbox", fmt::format("'{}': the mailbox at {:#x} is damaged: its ring of {} "
                                        "holds {} bytes",
                                        describe(), options_.mailbox, ring, used)};
  }

  /// Loads and starts the device, and finds its mailbox.
  Status restart() {
    const Status started = held([&]() -> Status {
      if (Status wiped = setWord(DOJO_MAILBOX_AT_MAGIC, 0); !wiped) return wiped;
      return debugger_->start(server_.loads() ? std::string() : server_.setup().runnerPath);
    });
    return started ? find(true) : explain(started);
  }

  /// Waits for the mailbox. fresh: it was wiped before the device was started; else it may have
  /// been in use.
  Status find(bool fresh) {
    heard_ = false;
    const double deadline = systemClock().now() + server_.setup().seconds;
    std::array<std::byte, DOJO_MAILBOX_BYTES> header{};
    while (true) {
      const Status read = held([&] { return debugger_->read(options_.mailbox, header); });
      if (!read) return explain(read);
      if (getAt(header, DOJO_MAILBOX_AT_MAGIC, 4) == DOJO_MAILBOX_MAGIC) break;
      if (systemClock().now() >= deadline) {
        return Error{"link.timeout",
                     fmt::format("'{}': waited {:.1f} s for the device to make its "
                                 "mailbox at {:#x}",
                                 describe(), server_.setup().seconds, options_.mailbox)};
      }
      if (Status up = server_.check(); !up) return up;
      systemClock().sleep(0.005);
    }
    return take(header, fresh);
  }

  Status take(std::span<const std::byte> header, bool fresh) {
    const auto number = [&](int offset) {
      return static_cast<std::uint32_t>(getAt(header, static_cast<std::size_t>(offset), 4));
    };
    const std::uint64_t version = getAt(header, DOJO_MAILBOX_AT_VERSION, 2);
    if (version != DOJO_MAILBOX_VERSION) {
      return Error{"link.version", fmt::format("the device's mailbox has version {}, this program "
                                               "knows version {}; install the runner that was "
                                               "built with it",
                                               version, DOJO_MAILBOX_VERSION)};
    }
    commands_ = {.address = options_.mailbox + number(DOJO_MAILBOX_COMMANDS),
                 .size = number(DOJO_MAILBOX_COMMANDS_SIZE),
                 .position = number(DOJO_MAILBOX_COMMANDS_WRITTEN)};
    records_ = {.address = options_.mailbox + number(DOJO_MAILBOX_RECORDS),
                .size = number(DOJO_MAILBOX_RECORDS_SIZE),
                .position = number(DOJO_MAILBOX_RECORDS_WRITTEN)};
    for (const Ring* ring : {&commands_, &records_}) {
      const bool power = (ring->size & (ring->size - 1)) == 0;
      if (!power || ring->size < DOJO_MAILBOX_LEAST_RING || ring->size > kMostRing) {
        return Error{"link.mailbox", fmt::format("the mailbox at {:#x} has a ring of {} bytes",
                                                 options_.mailbox, ring->size)};
      }
    }
    taken_ = number(DOJO_MAILBOX_COMMANDS_READ);
    if (commands_.position - taken_ > commands_.size) {
      return damaged("commands", commands_.position - taken_);
    }
    kept_.assign(commands_.size, std::byte{0});
    if (fresh) return {};
    // What is in the rings is of another host.
    const Status read = held([&]() -> Status {
      if (Status done = setWord(DOJO_MAILBOX_RECORDS_READ, records_.position); !done) return done;
      return debugger_->read(commands_.address, kept_);
    });
    return explain(read);
  }

  /// Puts bytes into the ring of commands, by whole words, and moves the position.
  Status putCommands(std::span<const std::byte> bytes) {
    const std::uint32_t mask = commands_.size - 1;
    while (!bytes.empty()) {
      const std::uint32_t at = commands_.position & mask;
      const std::size_t take = std::min<std::size_t>(bytes.size(), commands_.size - at);
      std::memcpy(kept_.data() + at, bytes.data(), take);
      const std::size_t from = at / kWord * kWord;
      const std::size_t end = (at + take + kWord - 1) / kWord * kWord;
      const Status written =
          debugger_->write(commands_.address + from, std::span(kept_).subspan(from, end - from));
      if (!written) return written;
      commands_.position += static_cast<std::uint32_t>(take);
      bytes = bytes.subspan(take);
    }
    return setWord(DOJO_MAILBOX_COMMANDS_WRITTEN, commands_.position);
  }

  Status takeRecords(std::span<std::byte> into) {
    const std::uint32_t mask = records_.size - 1;
    while (!into.empty()) {
      const std::uint32_t at = records_.position & mask;
      const std::size_t take = std::min<std::size_t>(into.size(), records_.size - at);
      if (Status read = debugger_->read(records_.address + at, into.first(take)); !read) {
        return read;
      }
      records_.position += static_cast<std::uint32_t>(take);
      into = into.subspan(take);
    }
    return setWord(DOJO_MAILBOX_RECORDS_READ, records_.position);
  }

  MailboxOptions options_;
  Server server_;
  std::unique_ptr<Debugger> debugger_;
  Ring commands_, records_;
  std::uint32_t taken_ = 0;      ///< Up to where the device took commands when last seen: not less.
  std::vector<std::byte> kept_;  ///< What is in the ring of commands: only we write it.
  bool heard_ = false;
};

}  // namespace

std::unique_ptr<Transport> makeMailbox(std::unique_ptr<Debugger> debugger, MailboxOptions options) {
  return std::make_unique<Mailbox>(std::move(debugger), std::move(options));
}

}  // namespace dojo::transport
