// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/frame.h"
#include "transport/link.h"

namespace dojo::transport {
namespace {

std::uint32_t micros(double seconds) {
  const double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(std::ceil(seconds * 1e6), 0.0, most));
}

std::vector<std::byte> callBody(const Call& call) {
  std::vector<std::byte> body;
  putAt(body, DOJO_CALL_NONCE, call.nonce, 8);
  putAt(body, DOJO_CALL_ENTRY, call.entry, 8);
  putAt(body, DOJO_CALL_TABLES, call.tables, 8);
  putAt(body, DOJO_CALL_RESTORE, call.restore, 8);
  putAt(body, DOJO_CALL_EVICT, call.evict, 8);
  putAt(body, DOJO_CALL_EVICT_BYTES, call.evictBytes, 8);
  putAt(body, DOJO_CALL_SETS, call.sets, 4);
  putAt(body, DOJO_CALL_STRIDE, call.stride, 4);
  putAt(body, DOJO_CALL_WARMUP, call.warmup, 4);
  putAt(body, DOJO_CALL_CALLS, call.calls, 4);
  putAt(body, DOJO_CALL_MIN_TICKS, call.minTicks, 4);
  putAt(body, DOJO_CALL_SAMPLES, call.samples, 4);
  putAt(body, DOJO_CALL_MIN_SAMPLES, call.minSamples, 4);
  putAt(body, DOJO_CALL_BUDGET_US, micros(call.budgetSeconds), 4);
  putAt(body, DOJO_CALL_LIMIT_US, micros(call.limitSeconds), 4);
  putAt(body, DOJO_CALL_HARTS, static_cast<std::uint64_t>(call.harts), 2);
  putAt(body, DOJO_CALL_RESTORES, call.restores, 2);
  putAt(body, DOJO_CALL_COUNTERS, call.counters, 1);
  putAt(body, DOJO_CALL_FLAGS, call.chain ? DOJO_CALL_FLAG_CHAIN : 0, 1);
  return body;
}

const char* causeText(std::uint64_t cause) {
  switch (cause) {
    case DOJO_CAUSE_ILLEGAL:
      return "an illegal instruction";
    case DOJO_CAUSE_ACCESS:
      return "a bad memory access";
    case DOJO_CAUSE_MISALIGNED:
      return "a misaligned access or bus error";
    case DOJO_CAUSE_ARITHMETIC:
      return "an arithmetic trap";
    case DOJO_CAUSE_TIMEOUT:
      return "the time limit";
    case DOJO_CAUSE_STACK:
      return "a return with the stack pointer moved";
    case DOJO_CAUSE_SYSTEM_CALL:
      return "a system call";
    case DOJO_CAUSE_LOST:
      return "a hart that doesn't come back";
    default:
      return "a trap";
  }
}

const char* refusalText(std::uint64_t reason) {
  switch (reason) {
    case DOJO_REFUSED_KIND:
      return "it doesn't know the command";
    case DOJO_REFUSED_LENGTH:
      return "the command has a wrong length";
    case DOJO_REFUSED_MEMORY:
      return "the memory is outside its regions";
    case DOJO_REFUSED_HARTS:
      return "it has fewer harts";
    case DOJO_REFUSED_COUNTERS:
      return "it doesn't have the counters";
    case DOJO_REFUSED_CALL:
      return "sets, samples or sizes of the call are out of range";
    default:
      return "no reason known";
  }
}

std::string address(std::uint64_t value) { return fmt::format("{:#x}", value); }

}  // namespace

Device::Device(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::open(std::unique_ptr<Transport> transport,
                                             const LinkOptions& options, Clock& clock) {
  auto link = std::make_unique<Link>();
  link->transport = std::move(transport);
  link->options = options;
  link->clock = &clock;
  std::unique_ptr<Device> device(new Device(std::move(link)));
  if (Status opened = device->link_->transport->open(); !opened) return opened.error();
  auto hello = device->link_->hello();
  if (!hello) return hello.error();
  device->hello_ = std::move(*hello);
  device->link_->window = device->hello_.window;
  return device;
}

Status Device::recover() {
  ++link_->statistics.recoveries;
  ++generation_;
  link_->down = link_->transport->recover();
  if (!link_->down) return link_->down;
  auto hello = link_->hello();
  if (!hello) return link_->down = hello.error();
  if (hello->services != hello_.services || hello->regions.size() != hello_.regions.size()) {
    return link_->down = Error{"link.changed", fmt::format("'{}' is another runner than before it "
                                                           "was restarted",
                                                           describe())};
  }
  hello_ = std::move(*hello);
  return {};
}

Result<Frame> Device::ask(std::uint8_t kind, const std::vector<std::byte>& body,
                          std::uint8_t expected, const std::string& what) {
  if (!link_->down) {
    if (Status up = recover(); !up) return up.error();
  }
  auto answer = link_->command(kind, body, link_->options.answerSeconds, what);
  if (!answer) {
    (void)recover();
    return answer.error();
  }
  if (answer->kind == DOJO_REFUSED) {
    return Error{"load.memory", fmt::format("the device refuses {}: {}", what,
                                            refusalText(getAt(answer->body, 0, 1)))};
  }
  if (answer->kind != expected) {
    return Error{"link.answer", fmt::format("the device answered {} with a frame of kind {:#04x}",
                                            what, answer->kind)};
  }
  return answer;
}

std::span<std::byte> Device::view(std::uint64_t at, std::uint64_t size) {
  const SharedMemory shared = link_->transport->shared();
  if (shared.bytes.empty()) return {};
  for (const Region& region : hello_.regions) {
    if ((region.flags & DOJO_REGION_SHARED) == 0) continue;
    if (at < region.base || at - region.base > region.size ||
        size > region.size - (at - region.base)) {
      continue;
    }
    const std::uint64_t offset = region.offset + (at - region.base);
    if (offset > shared.bytes.size() || size > shared.bytes.size() - offset) return {};
    return shared.bytes.subspan(offset, size);
  }
  return {};
}

Status Device::write(std::uint64_t at, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  if (const std::span<std::byte> direct = view(at, bytes.size()); !direct.empty()) {
    std::memcpy(direct.data(), bytes.data(), bytes.size());
    return {};
  }
  const std::size_t most =
      hello_.largestFrame - DOJO_HEAD_BYTES - DOJO_CRC_BYTES - DOJO_WRITE_BYTES;
  while (!bytes.empty()) {
    const std::size_t take = std::min(most, bytes.size());
    std::vector<std::byte> body;
    put(body, at, 8);
    body.insert(body.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    auto answer =
        ask(DOJO_WRITE, body, DOJO_OK, fmt::format("WRITE of {} bytes at {}", take, address(at)));
    if (!answer) return answer.error();
    bytes = bytes.subspan(take);
    at += take;
  }
  return {};
}

Status Device::read(std::uint64_t at, std::span<std::byte> into) {
  if (into.empty()) return {};
  if (const std::span<std::byte> direct = view(at, into.size()); !direct.empty()) {
    std::memcpy(into.data(), direct.data(), into.size());
    return {};
  }
  const std::size_t most = std::min<std::size_t>(hello_.largestFrame, 65536) - 64;
  while (!into.empty()) {
    const std::size_t take = std::min(most, into.size());
    std::vector<std::byte> body;
    put(body, at, 8);
    put(body, take, 4);
    const std::string what = fmt::format("READ of {} bytes at {}", take, address(at));
    auto answer = ask(DOJO_READ, body, DOJO_DATA, what);
    if (!answer) return answer.error();
    if (answer->body.size() != take) {
      return Error{"link.answer", fmt::format("{} gave {} bytes", what, answer->body.size())};
    }
    std::memcpy(into.data(), answer->body.data(), take);
    into = into.subspan(take);
    at += take;
  }
  return {};
}

Status Device::fill(std::uint64_t at, std::uint64_t size, std::byte value) {
  if (size == 0) return {};
  if (const std::span<std::byte> direct = view(at, size); !direct.empty()) {
    std::memset(direct.data(), std::to_integer<int>(value), size);
    return {};
  }
  std::vector<std::byte> body;
  put(body, at, 8);
  put(body, size, 8);
  body.push_back(value);
  auto answer =
      ask(DOJO_FILL, body, DOJO_OK, fmt::format("FILL of {} bytes at {}", size, address(at)));
  return answer ? Status() : answer.error();
}

Result<std::uint32_t> Device::crc(std::uint64_t at, std::uint64_t size) {
  std::uint32_t crc = 0;
  if (size > std::numeric_limits<std::uint32_t>::max()) {
    return Error{"load.memory", "CRC of more than 4 GiB at once"};
  }
  std::vector<std::byte> body;
  put(body, at, 8);
  put(body, size, 4);
  auto answer =
      ask(DOJO_CRC, body, DOJO_CRC_IS, fmt::format("CRC of {} bytes at {}", size, address(at)));
  if (!answer) return answer.error();
  crc = static_cast<std::uint32_t>(getAt(answer->body, 0, 4));
  return crc;
}

Status Device::ping() {
  auto answer = ask(DOJO_PING, {}, DOJO_OK, "PING");
  return answer ? Status() : answer.error();
}

Result<CallDone> Device::call(const Call& call, const OnSample& onSample) {
  if (!link_->down) {
    if (Status up = recover(); !up) return up.error();
  }
  std::uint32_t samples = 0;
  auto last = link_->call(callBody(call), call, [&](const Sample& sample) {
    ++samples;
    return onSample ? onSample(sample) : More::yes;
  });
  if (!last) {
    Error error = last.error();
    if (error.code == "link.closed") {
      error.code = "run.crash";
      error.message += fmt::format(" during a call, after {} samples", samples);
    } else if (error.code == "run.timeout") {
      error.message += fmt::format("; it was restarted after {} samples", samples);
    }
    (void)recover();
    return error;
  }
  const std::vector<std::byte>& body = last->body;
  if (last->kind == DOJO_REFUSED) {
    return Error{"run.refused",
                 fmt::format("the device refuses the call: {}", refusalText(getAt(body, 0, 1)))};
  }
  const bool done = last->kind == DOJO_DONE;
  if (!done && last->kind != DOJO_FAULT) {
    return Error{"link.answer",
                 fmt::format("the device answered CALL with a frame of kind {:#04x}", last->kind)};
  }
  const std::uint64_t canary =
      getAt(body, done ? int{DOJO_DONE_CANARY} : int{DOJO_FAULT_CANARY}, 1);
  const std::uint64_t image =
      getAt(body, done ? int{DOJO_DONE_IMAGE_CRC} : int{DOJO_FAULT_IMAGE_CRC}, 4);
  if (canary != 0 || image != hello_.imageCrc) {
    (void)recover();
    return Error{"run.crash", canary != 0 ? "the kernel wrote beyond its stack: a canary is gone"
                                          : "the kernel changed the runner's code or constants"};
  }
  if (done) {
    return CallDone{
        .samples = static_cast<std::uint32_t>(getAt(body, DOJO_DONE_SAMPLES, 4)),
        .calls = static_cast<std::uint32_t>(getAt(body, DOJO_DONE_CALLS, 4)),
        .end = static_cast<CallEnd>(std::min<std::uint64_t>(getAt(body, DOJO_DONE_REASON, 1), 2))};
  }
  const std::uint64_t cause = getAt(body, DOJO_FAULT_CAUSE, 1);
  const std::string where =
      fmt::format("hart {}, sample {}, call {}", getAt(body, DOJO_FAULT_HART, 2),
                  getAt(body, DOJO_FAULT_SAMPLE, 4), getAt(body, DOJO_FAULT_REPEAT, 4));
  const std::string pc = address(getAt(body, DOJO_FAULT_PC, 8));
  if (cause == DOJO_CAUSE_LOST) (void)recover();
  if (cause == DOJO_CAUSE_TIMEOUT || cause == DOJO_CAUSE_LOST) {
    return Error{"run.timeout", fmt::format("the kernel didn't return within {:.3g} s (pc {}, {})",
                                            call.limitSeconds, pc, where)};
  }
  return Error{"run.fault",
               fmt::format("the kernel ended in {} (pc {}, address {}, {}, number {})",
                           causeText(cause), pc, address(getAt(body, DOJO_FAULT_ADDRESS, 8)), where,
                           getAt(body, DOJO_FAULT_NATIVE, 4))};
}

const LinkStatistics& Device::statistics() const { return link_->statistics; }
std::string Device::describe() const { return link_->transport->describe(); }

}  // namespace dojo::transport
