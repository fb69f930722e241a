// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenOCD through its Tcl port: commands and answers end in 0x1a.
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "transport/elf.h"
#include "transport/frame.h"
#include "transport/mailbox.h"
#include "transport/stream.h"

namespace dojo::transport {
namespace {

constexpr double kAnswerSeconds = 10;
constexpr double kLoadSeconds = 60;
constexpr char kEnd = 0x1a;
/// Longer stretches are read and written in parts.
constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kWord = 4;

class Openocd : public Debugger {
 public:
  explicit Openocd(std::string address) : address_(std::move(address)) {}

  Status connect(Server& server) override {
    server_ = &server;
    auto address = server.expand(address_);
    if (!address) return address.error();
    auto stream = connectTo(*address, server.setup().seconds, [&] { return server.check(); });
    if (!stream) return stream.error();
    stream_ = std::move(*stream);
    received_.clear();
    holds_ = 0;
    halted_ = false;
    auto version = run("version", kAnswerSeconds);
    return version ? Status() : Status(version.error());
  }

  Status start(const std::string& image) override {
    // Where the board has no reset that OpenOCD drives, halting does.
    auto reset = run("reset halt", kAnswerSeconds);
    if (!reset && reset.error().code == "link.monitor") reset = run("halt 1000", kAnswerSeconds);
    if (!reset) return reset.error();
    if (image.empty()) return resumeAt("");
    auto elf = readElf(image);
    if (!elf) return elf.error();
    auto loaded = run(fmt::format("load_image {{{}}}", image), kLoadSeconds);
    if (!loaded) {
      if (loaded.error().code != "link.monitor") return loaded.error();
      return Error{"load.memory", loaded.error().message};
    }
    if (elf->machine == kElfArm) {
      std::uint64_t first = ~std::uint64_t{0};
      for (const Segment& segment : elf->segments) first = std::min(first, segment.address);
      for (const Segment& segment : elf->segments) {
        if (segment.address != first) continue;
        auto set = run(fmt::format("reg sp {:#x}", getAt(segment.bytes, 0, 4)), kAnswerSeconds);
        if (!set) return set.error();
      }
    }
    return resumeAt(fmt::format(" {:#x}", elf->entry));
  }

  Status monitor(const std::string& text) override {
    auto answer = run(text, kAnswerSeconds);
    return answer ? Status() : Status(answer.error());
  }

  Status hold() override {
    ++holds_;
    return mustHalt_ ? halt() : Status();
  }
  Status release() override {
    if (holds_ > 0) --holds_;
    if (holds_ > 0) return {};
    return halted_ ? resumeAt("") : Status();
  }

  Status read(std::uint64_t address, std::span<std::byte> into) override {
    while (!into.empty()) {
      const std::size_t take = std::min(kMostBytes, into.size());
      if (Status done = readSome(address, into.first(take)); !done) return done;
      into = into.subspan(take);
      address += take;
    }
    return {};
  }

  Status write(std::uint64_t address, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      // Bytes up to a word, then words, then the bytes that are left.
      const std::size_t before = address % kWord == 0 ? 0 : kWord - address % kWord;
      std::size_t take = std::min(before, bytes.size());
      if (before == 0) take = std::min(kMostBytes, bytes.size() / kWord * kWord);
      const bool words = take != 0 && before == 0;
      if (take == 0) take = bytes.size();
      std::string list;
      const int width = words ? 4 : 1;
      for (std::size_t i = 0; i < take; i += static_cast<std::size_t>(width)) {
        list += fmt::format(" {:#x}", getAt(bytes, i, width));
      }
      auto done = access(fmt::format("write_memory {:#x} {} {{{}}}", address, width * 8, list));
      if (!done) return refused(done.error(), "written", address);
      bytes = bytes.subspan(take);
      address += take;
    }
    return {};
  }

  std::string describe() const override { return "openocd " + address_; }

 private:
  Status readSome(std::uint64_t address, std::span<std::byte> into) {
    const std::uint64_t from = address / kWord * kWord;
    const std::size_t words = (address - from + into.size() + kWord - 1) / kWord;
    auto answer = access(fmt::format("read_memory {:#x} 32 {}", from, words));
    if (!answer) return refused(answer.error(), "read", address);
    std::vector<std::byte> bytes;
    std::string_view rest = *answer;
    while (!rest.empty()) {
      const std::size_t start = rest.find_first_not_of(' ');
      if (start == std::string_view::npos) break;
      rest.remove_prefix(start);
      const std::string_view one = rest.substr(0, rest.find(' '));
      rest.remove_prefix(one.size());
      std::uint32_t value = 0;
      const std::size_t prefix = one.starts_with("0x") ? 2 : 0;
      std::from_chars(one.data() + prefix, one.data() + one.size(), value, 16);
      put(bytes, value, kWord);
    }
    if (bytes.size() != words * kWord) {
      return Error{"link.memory", fmt::format("'{}': {} bytes at {:#x} were read as {}", describe(),
                                              words * kWord, from, bytes.size())};
    }
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(address - from), into.size(),
                into.begin());
    return {};
  }

  Error refused(const Error& error, const char* what, std::uint64_t address) const {
    if (error.code != "link.monitor") return error;
    return {"link.memory", fmt::format("'{}': memory at {:#x} can't be {}: {}", describe(), address,
                                       what, error.message)};
  }

  /// Without halting where the device lets us, which shows at the first try.
  Result<std::string> access(const std::string& command) {
    auto done = run(command, kAnswerSeconds);
    if (done || mustHalt_ || done.error().code != "link.monitor") return done;
    if (Status stopped = halt(); !stopped) return done.error();
    auto again = run(command, kAnswerSeconds);
    mustHalt_ = again.ok();
    return again;
  }

  Status halt() {
    if (halted_) return {};
    auto done = run("halt 1000", kAnswerSeconds);
    if (!done) return done.error();
    halted_ = true;
    return {};
  }

  Status resumeAt(const std::string& entry) {
    auto done = run("resume" + entry, kAnswerSeconds);
    if (!done) return done.error();
    halted_ = false;
    return {};
  }

  /// What a command gives; "link.monitor" with what OpenOCD says where it fails.
  Result<std::string> run(const std::string& command, double seconds) {
    const std::string text = fmt::format(
        "set dojo_e [catch {{{}}} dojo_r]; set dojo_x \"$dojo_e $dojo_r\"{}", command, kEnd);
    if (Status sent = stream_.send(std::as_bytes(std::span(text)), seconds, describe()); !sent) {
      return sent.error();
    }
    const double deadline = systemClock().now() + seconds;
    std::array<std::byte, 4096> chunk;
    std::size_t end = 0;
    while ((end = received_.find(kEnd)) == std::string::npos) {
      const double left = deadline - systemClock().now();
      if (left <= 0) {
        stream_.close();  // a late answer would be taken for that of the next command
        return Error{"link.timeout", fmt::format("'{}': waited {:.1f} s for \"{}\"", describe(),
                                                 seconds, command.substr(0, 60))};
      }
      auto got = server_->receive(stream_, chunk, left, describe());
      if (!got) return got.error();
      received_.append(reinterpret_cast<const char*>(chunk.data()), *got);
    }
    std::string answer = received_.substr(0, end);
    received_.erase(0, end + 1);
    const bool good = answer.starts_with("0");
    answer = answer.size() > 2 ? answer.substr(2) : std::string();
    if (good) return answer;
    return Error{"link.monitor", fmt::format("OpenOCD: \"{}\": {}", command.substr(0, 60), answer)};
  }

  std::string address_;
  Server* server_ = nullptr;
  Stream stream_;
  std::string received_;
  int holds_ = 0;
  bool halted_ = false, mustHalt_ = false;
};

}  // namespace

std::unique_ptr<Transport> makeOpenocd(MailboxOptions options) {
  auto debugger = std::make_unique<Openocd>(options.address);
  return makeMailbox(std::move(debugger), std::move(options));
}

}  // namespace dojo::transport
