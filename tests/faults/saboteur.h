// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The real runner behind a transport that makes chosen candidates misbehave: their machine code is
/// replaced on its way to the device, the device is restarted or the way to it is cut in mid-call,
/// or the ticks of their samples are changed on the way back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "protocol/protocol.h"
#include "transport/command.h"
#include "transport/frame.h"
#include "transport/transport.h"

namespace dojo::test {

/// What becomes of a candidate.
enum class Deed : std::uint8_t {
  none,
  trap,     ///< Its code is an illegal instruction.
  endless,  ///< Its code is a jump to itself.
  reboot,   ///< When it's called, the device starts anew and says nothing.
  cut,      ///< When it's called, the link is closed.
};

class Saboteur : public transport::Transport {
 public:
  /// Of the code that was loaded for the n-th time, from 0; a candidate that is tried again counts
  /// again.
  std::function<Deed(int load)> deed = [](int) { return Deed::none; };
  /// The ticks that a sample says instead.
  std::function<std::uint64_t(std::uint64_t ticks)> ticks;
  /// What each CALL waits for the device to be free.
  double busySeconds = 0;

  int loads = 0;  ///< Of code, so far.
  int starts = 0;
  std::vector<std::byte> code;   ///< Called last, as far as one frame holds it.
  std::vector<std::byte> first;  ///< Loaded first.

  Status open() override {
    ++starts;
    cut_ = false;
    decoder_.reset();
    ready_.clear();
    inner_ = transport::makeCommand(
        {.command = "{runner} --harts 1 --code-bytes 1048576 --data-bytes 4194304",
         .runnerPath = DOJO_BINARY_DIR "/bin/dojo-runner-linux"});
    return inner_->open();
  }
  Status recover() override { return open(); }

  Status send(std::span<const std::byte> bytes, double seconds) override {
    if (cut_) return closed();
    transport::Decoder decoder;
    decoder.feed(bytes);
    while (std::optional<transport::Frame> frame = decoder.next()) {
      if (frame->kind == DOJO_WRITE) spoilCode(*frame);
      if (frame->kind == DOJO_CALL && frame->sequence != lastCall_) {
        lastCall_ = frame->sequence;
        const std::uint64_t entry = transport::getAt(frame->body, DOJO_CALL_ENTRY, 8);
        if (entry >= codeBase_ && entry < codeBase_ + codeSize_) code = codes_[slotOf(entry)];
        if (busySeconds > 0) systemClock().sleep(busySeconds);
        if (doing_ == Deed::cut) cut_ = true;
        if (doing_ == Deed::reboot) return open();
      }
      if (cut_) return {};
      if (Status sent = inner_->send(transport::encode(*frame), seconds); !sent) return sent;
    }
    return {};
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    if (cut_) return closed();
    if (ready_.empty()) {
      std::array<std::byte, 4096> chunk;
      auto got = inner_->receive(chunk, seconds);
      if (!got || !ticks) {
        if (got) ready_.assign(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(*got));
        if (!got) return got;
      } else {
        decoder_.feed(std::span(chunk).first(*got));
        while (std::optional<transport::Frame> frame = decoder_.next()) {
          if (frame->kind == DOJO_SAMPLE) {
            const std::uint64_t was = transport::getAt(frame->body, DOJO_SAMPLE_TICKS, 8);
            transport::putAt(frame->body, DOJO_SAMPLE_TICKS, ticks(was), 8);
          }
          const std::vector<std::byte> wire = transport::encode(*frame);
          ready_.insert(ready_.end(), wire.begin(), wire.end());
        }
      }
    }
    const std::size_t count = std::min(into.size(), ready_.size());
    std::copy_n(ready_.begin(), count, into.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  std::string describe() const override { return "the saboteur"; }

  /// Where code is loaded; to be said once the device is open.
  void watch(std::uint64_t base, std::uint64_t size) {
    codeBase_ = base;
    codeSize_ = size;
  }

 private:
  static Error closed() { return {"link.closed", "the way to the device is gone"}; }

  /// Of the session's eight slots.
  std::uint64_t slotBytes() const { return codeSize_ / 8 / 4096 * 4096; }
  std::uint64_t slotOf(std::uint64_t address) const { return (address - codeBase_) / slotBytes(); }

  void spoilCode(transport::Frame& frame) {
    const std::uint64_t at = transport::getAt(frame.body, DOJO_MEMORY_ADDRESS, 8);
    if (at < codeBase_ || at >= codeBase_ + codeSize_) return;
    const std::span<std::byte> bytes = std::span(frame.body).subspan(DOJO_WRITE_BYTES);
    if ((at - codeBase_) % slotBytes() == 0) {
      doing_ = deed(loads++);
      std::vector<std::byte>& loaded = codes_[slotOf(at)];
      loaded.assign(bytes.begin(), bytes.end());
      if (first.empty()) first = loaded;
    }
    if (doing_ != Deed::trap && doing_ != Deed::endless) return;
    const std::array<std::byte, 2> pair = doing_ == Deed::trap
                                              ? std::array{std::byte{0x0f}, std::byte{0x0b}}
                                              : std::array{std::byte{0xeb}, std::byte{0xfe}};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pair.at((at + i) % 2);
  }

  std::unique_ptr<transport::Transport> inner_;
  transport::Decoder decoder_;
  std::deque<std::byte> ready_;
  std::map<std::uint64_t, std::vector<std::byte>> codes_;  ///< By slot.
  std::uint64_t codeBase_ = 0, codeSize_ = 0;
  int lastCall_ = -1;
  Deed doing_ = Deed::none;
  bool cut_ = false;
};

}  // namespace dojo::test
