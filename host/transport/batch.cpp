// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/batch.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/process.h"
#include "protocol/protocol.h"
#include "transport/elf.h"
#include "transport/hello.h"

namespace dojo::transport {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMostCopies = 9;
constexpr std::uint64_t kMostKnown = std::uint64_t{256} << 20;

/// What is known of the device's memory, by page.
class Known {
 public:
  void write(std::uint64_t address, std::span<const std::byte> bytes) {
    each(address, bytes.size(), [&](Page& page, std::size_t at, std::size_t from, std::size_t n) {
      std::memcpy(page.bytes.data() + at, bytes.data() + from, n);
      page.mark(at, n);
      return true;
    });
  }
  void fill(std::uint64_t address, std::uint64_t size, std::byte value) {
    each(address, size, [&](Page& page, std::size_t at, std::size_t, std::size_t n) {
      std::fill_n(page.bytes.begin() + static_cast<std::ptrdiff_t>(at), n, value);
      page.mark(at, n);
      return true;
    });
  }
  /// False where some of it isn't known.
  bool read(std::uint64_t address, std::span<std::byte> into) {
    return each(address, into.size(),
                [&](Page& page, std::size_t at, std::size_t from, std::size_t n) {
                  std::memcpy(into.data() + from, page.bytes.data() + at, n);
                  return page.knows(at, n);
                });
  }
  void clear() { pages_.clear(); }

  /// All that is known as commands of at most `most` bytes: FILL where a stretch holds one value,
  /// else WRITE.
  void commands(std::size_t most, std::vector<Frame>& out) const {
    for (const auto& [number, page] : pages_) {
      for (std::size_t at = 0; at < kPage;) {
        if (!page.known[at]) {
          ++at;
          continue;
        }
        std::size_t end = at;
        while (end < kPage && page.known[end] && end - at < most) ++end;
        const auto first = page.bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = page.bytes.begin() + static_cast<std::ptrdiff_t>(end);
        const bool same = std::all_of(first, last, [&](std::byte b) { return b == *first; });
        Frame frame{.kind = same ? std::uint8_t{DOJO_FILL} : std::uint8_t{DOJO_WRITE}};
        put(frame.body, number * kPage + at, 8);
        if (same) {
          put(frame.body, end - at, 8);
          frame.body.push_back(*first);
        } else {
          frame.body.insert(frame.body.end(), first, last);
        }
        out.push_back(std::move(frame));
        at = end;
      }
    }
  }

 private:
  struct Page {
    std::array<std::byte, kPage> bytes{};
    std::bitset<kPage> known;
    void mark(std::size_t at, std::size_t n) {
      for (std::size_t i = at; i < at + n; ++i) known.set(i);
    }
    bool knows(std::size_t at, std::size_t n) const {
      for (std::size_t i = at; i < at + n; ++i) {
        if (!known[i]) return false;
      }
      return true;
    }
  };

  template <class Visit>
  bool each(std::uint64_t address, std::uint64_t size, const Visit& visit) {
    bool all = true;
    for (std::uint64_t done = 0; done < size;) {
      const std::size_t at = (address + done) % kPage;
      const std::size_t n = std::min<std::uint64_t>(kPage - at, size - done);
      all = visit(pages_[(address + done) / kPage], at, done, n) && all;
      done += n;
    }
    return all;
  }

  std::map<std::uint64_t, Page> pages_;
};

class Batch : public Transport {
 public:
  explicit Batch(BatchOptions options)
      : options_(std::move(options)), server_(std::move(options_.setup)) {}

  Status open() override {
    run_.reset();
    out_.clear();
    known_.clear();
    return {};
  }
  Status recover() override { return open(); }

  Status send(std::span<const std::byte> bytes, double) override {
    decoder_.feed(bytes);
    while (auto frame = decoder_.next()) {
      if (Status done = take(*frame); !done) return done;
    }
    return {};
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    if (out_.empty() && run_) {
      if (Status on = pump(seconds); !on) return on.error();
    } else if (out_.empty()) {
      systemClock().sleep(seconds);
    }
    const std::size_t count = std::min(into.size(), out_.size());
    std::copy_n(out_.begin(), count, into.begin());
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  std::vector<Rescue> rescues() override { return server_.rescues({}, *this); }
  std::string describe() const override { return server_.setup().command; }

 private:
  /// The device, running a list.
  struct Run {
    Process process;
    RecordReader records;
    double deadline = 0;
    int copies = 1;
    std::uint8_t call = 0;      ///< Number of the CALL in the list.
    bool started = false;       ///< The runner said INFO.
    bool ended = false;         ///< END came.
    bool changesKnown = false;  ///< All of them.
    bool complete = false;      ///< The last frame of the CALL came.
  };

  void answer(const Frame& frame) {
    const std::vector<std::byte> wire = encode(frame);
    out_.insert(out_.end(), wire.begin(), wire.end());
  }
  void answer(const Frame& to, std::uint8_t kind, std::vector<std::byte> body = {}) {
    answer(Frame{.kind = kind, .sequence = to.sequence, .part = 0, .body = std::move(body)});
  }
  void refuse(const Frame& to, int reason) {
    answer(to, DOJO_REFUSED, {static_cast<std::byte>(reason), static_cast<std::byte>(to.kind)});
  }

  Status take(const Frame& frame) {
    switch (frame.kind) {
      case DOJO_ABORT:
        return {};
      case DOJO_ACK:
        return getAt(frame.body, DOJO_ACK_RESEND, 1) != 0 ? again() : Status();
      case DOJO_HELLO:
        return greet(frame);
      case DOJO_CALL:
        if (callFrame_ && callFrame_->sequence == frame.sequence && run_) return {};
        if (Status over = settle(); !over) return over;
        callFrame_ = frame;
        return start(1);
      case DOJO_RESET:
        run_.reset();
        known_.clear();
        answer(frame, DOJO_OK);
        return {};
      case DOJO_PING:
        answer(frame, DOJO_OK, frame.body);
        return {};
      default:
        if (Status over = settle(); !over) return over;
        return memory(frame);
    }
  }

  Status greet(const Frame& hello) {
    run_.reset();
    callFrame_.reset();
    if (!info_) {
      // What runs first is a list with nothing but the greeting.
      if (Status began = launch({}, 1, server_.setup().seconds); !began) return began;
      while (!info_) {
        if (Status on = pump(0.1); !on) return on;
        if (!info_ && (!run_ || run_->ended)) {
          return Error{"link.hello", fmt::format("'{}' ended without a HELLO", describe())};
        }
        if (systemClock().now() > run_->deadline) {
          run_.reset();
          return Error{"link.timeout", fmt::format("'{}': waited {:.1f} s for a HELLO in what it "
                                                   "prints",
                                                   describe(), server_.setup().seconds)};
        }
      }
      run_.reset();
      // What is wrong with it is the host's to say.
      if (auto parsed = parseHello(*info_)) {
        regions_ = parsed->regions;
        most_ = parsed->largestFrame - DOJO_HEAD_BYTES - DOJO_CRC_BYTES - DOJO_FILL_BYTES;
      }
    }
    answer(hello, DOJO_INFO, *info_);
    return {};
  }

  bool allows(std::uint64_t address, std::uint64_t size, unsigned flags) const {
    return size <= kMostKnown &&
           std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
             return (region.flags & flags) != 0 && (region.flags & DOJO_REGION_STACK) == 0 &&
                    address >= region.base && address - region.base <= region.size &&
                    size <= region.size - (address - region.base);
           });
  }

  Status memory(const Frame& frame) {
    const std::uint64_t address = getAt(frame.body, DOJO_MEMORY_ADDRESS, 8);
    const bool writes = frame.kind == DOJO_WRITE || frame.kind == DOJO_FILL;
    const std::uint64_t size = frame.kind == DOJO_WRITE  ? frame.body.size() - DOJO_WRITE_BYTES
                               : frame.kind == DOJO_FILL ? getAt(frame.body, DOJO_MEMORY_SIZE, 8)
                                                         : getAt(frame.body, DOJO_MEMORY_SIZE, 4);
    if (frame.body.size() < DOJO_WRITE_BYTES) {
      refuse(frame, DOJO_REFUSED_LENGTH);
    } else if (!allows(address, size, writes ? DOJO_REGION_WRITE : DOJO_REGION_READ)) {
      refuse(frame, DOJO_REFUSED_MEMORY);
    } else if (frame.kind == DOJO_WRITE) {
      known_.write(address, std::span(frame.body).subspan(DOJO_WRITE_BYTES));
      answer(frame, DOJO_OK);
    } else if (frame.kind == DOJO_FILL) {
      known_.fill(address, size, static_cast<std::byte>(getAt(frame.body, DOJO_FILL_BYTE, 1)));
      answer(frame, DOJO_OK);
    } else if (frame.kind == DOJO_READ || frame.kind == DOJO_CRC) {
      std::vector<std::byte> bytes(size);
      // What nobody wrote holds anything, for one in each run.
      (void)known_.read(address, bytes);
      if (frame.kind == DOJO_READ) {
        answer(frame, DOJO_DATA, std::move(bytes));
      } else {
        std::vector<std::byte> body;
        put(body, crc32(0, bytes), 4);
        answer(frame, DOJO_CRC_IS, std::move(body));
      }
    } else {
      refuse(frame, DOJO_REFUSED_KIND);
    }
    return {};
  }

  /// A run of the present CALL.
  Status start(int copies) {
    std::vector<Frame> commands;
    known_.commands(most_, commands);
    commands.push_back(*callFrame_);
    commands.push_back({.kind = DOJO_CHANGES});
    const double limit = static_cast<double>(getAt(callFrame_->body, DOJO_CALL_LIMIT_US, 4)) * 1e-6;
    return launch(std::move(commands), copies,
                  (limit > 0 ? limit : options_.seconds) + server_.setup().seconds);
  }

  Status launch(std::vector<Frame> commands, int copies, double seconds) {
    run_.reset();
    Frame hello{.kind = DOJO_HELLO};
    put(hello.body, DOJO_PROTOCOL_MAGIC, 4);
    put(hello.body, DOJO_PROTOCOL_VERSION, 2);
    put(hello.body, 1, 4);
    commands.insert(commands.begin(), std::move(hello));
    std::uint8_t call = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      commands[i].sequence = static_cast<std::uint8_t>(i);
      if (commands[i].kind == DOJO_CALL) call = commands[i].sequence;
    }
    const std::vector<std::byte> list = encodeList(commands, copies);
    if (list.size() > options_.listBytes) {
      return Error{"load.size", fmt::format("the list of commands has {} bytes and there is room "
                                            "for {}",
                                            list.size(), options_.listBytes)};
    }
    auto image = server_.expand("{dir}/image.elf");
    if (!image) return image.error();
    if (Status made = addSegment(server_.setup().runnerPath, *image, options_.list, list); !made) {
      return made;
    }
    std::string command = server_.setup().command;
    for (std::size_t at = 0; (at = command.find("{image}", at)) != std::string::npos;) {
      command.replace(at, 7, "{dir}/image.elf");
    }
    auto words = server_.expandWords(command);
    if (!words) return words.error();
    auto process = Process::start(*words);
    if (!process) return Error{"link.start", process.error().message};
    run_.emplace(Run{.process = std::move(*process),
                     .records = {},
                     .deadline = systemClock().now() + seconds,
                     .copies = copies,
                     .call = call});
    return {};
  }

  /// Waits until the present run has said all, so that memory is known.
  Status settle() {
    while (run_ && !run_->ended) {
      if (systemClock().now() > run_->deadline) break;
      if (Status on = pump(0.1); !on) {
        run_.reset();
        return {};  // what it did to the CALL was said, or will be when it's asked for
      }
    }
    if (run_ && run_->ended && run_->complete && !run_->changesKnown &&
        run_->copies < kMostCopies) {
      // Some of what changed was lost among other text.
      if (Status began = start(run_->copies * 3); !began) return began;
      return settle();
    }
    run_.reset();
    return {};
  }

  /// The host misses something of the CALL: runs it once more if that is lost for good.
  Status again() {
    if (!run_ || !run_->ended || run_->copies >= kMostCopies) return {};
    return start(run_->copies * 3);
  }

  Status pump(double seconds) {
    std::array<std::byte, 4096> chunk;
    if (run_->ended) {
      systemClock().sleep(seconds);
      return {};
    }
    auto got = run_->process.read(chunk, seconds);
    if (got) run_->records.feed(std::span(chunk).first(*got));
    while (auto record = run_->records.next()) hear(*record);
    if (run_->ended) {
      run_->process.kill();
      return {};
    }
    if (got) return {};
    // It ended before its list did.
    const std::string ending = run_->process.ending(1);
    Error error{run_->started ? "link.ended" : "load.command",
                fmt::format("'{}' ended before its list did: {}", describe(), ending), "",
                run_->process.complaints()};
    run_.reset();
    return error;
  }

  void hear(const Frame& record) {
    Run& run = *run_;
    switch (record.kind) {
      case DOJO_INFO:
        run.started = true;
        if (!info_) info_ = record.body;
        return;
      case DOJO_END:
        run.ended = true;
        return;
      case DOJO_CHANGED:
        if (record.part == nextChange_ && record.body.size() >= DOJO_CHANGED_BYTES) {
          ++nextChange_;
          known_.write(getAt(record.body, 0, 8),
                       std::span(record.body).subspan(DOJO_CHANGED_BYTES));
        }
        return;
      case DOJO_OK:
        if (record.sequence == static_cast<std::uint8_t>(run.call + 1) && run.complete) {
          run.changesKnown = record.part == nextChange_;
        }
        return;
      default:
        break;
    }
    if (!callFrame_ || record.sequence != run.call) return;
    if (record.kind == DOJO_REFUSED && getAt(record.body, 1, 1) != DOJO_CALL) return;
    const bool last = record.kind != DOJO_STARTED && record.kind != DOJO_SAMPLE;
    if (last) {
      run.complete = true;
      nextChange_ = 0;
    }
    Frame frame = record;
    frame.sequence = callFrame_->sequence;
    answer(frame);
  }

  BatchOptions options_;
  Server server_;
  Decoder decoder_;
  std::deque<std::byte> out_;
  std::optional<std::vector<std::byte>> info_;
  std::vector<Region> regions_;
  std::size_t most_ = 64;
  Known known_;
  std::optional<Run> run_;
  std::optional<Frame> callFrame_;
  std::uint32_t nextChange_ = 0;
};

}  // namespace

std::unique_ptr<Transport> makeBatch(BatchOptions options) {
  return std::make_unique<Batch>(std::move(options));
}

}  // namespace dojo::transport
