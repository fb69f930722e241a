// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What comes over the link, on both sides. The first byte says what the rest is:
//   even: the bytes of a wire: both decoders take the same frames from it;
//   odd:  frames as [bytes of the body][kind][sequence][body]..., sent whole to the runner's core,
//         whose answers are whole frames of its own, and to the reader of HELLO's answer.
#include "core/frame.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <sys/mman.h>

#include "core/core.h"
#include "transport/frame.h"
#include "transport/hello.h"

extern "C" void core_restart(void);

namespace {

using namespace dojo;

using Bytes = std::vector<std::byte>;

/// The device's memory, at the same place in every process, with nothing around it.
constexpr std::uintptr_t kBase = 0x10000000;
constexpr std::size_t kMemory = 4096;
/// A CALL is stopped after so many batches of one input.
constexpr int kMostBatches = 100;

Bytes incoming, outgoing;
std::size_t taken = 0;
int batches = 0;
std::uint32_t micros = 0;
std::jmp_buf linkClosed;

void prepare() {
  static void* const at = mmap(reinterpret_cast<void*>(kBase), kMemory, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  std::memset(at, 0, kMemory);
  core_restart();
  outgoing.clear();
  taken = 0;
  batches = 0;
  micros = 0;
}

Bytes headAndBody(const transport::Frame& frame) {
  Bytes out;
  transport::put(out, frame.kind, 1);
  transport::put(out, frame.sequence, 1);
  transport::put(out, frame.part, 2);
  out.insert(out.end(), frame.body.begin(), frame.body.end());
  return out;
}

void compareDecoders(std::span<const std::byte> wire) {
  std::vector<Bytes> core, host;
  for (const std::byte byte : wire) {
    const std::size_t length = dojo_frame_take(std::to_integer<std::uint8_t>(byte));
    if (length == 0) continue;
    const auto* at = reinterpret_cast<const std::byte*>(dojo_frame);
    core.emplace_back(at, at + length);
  }
  transport::Decoder decoder;
  decoder.feed(wire);
  while (const auto frame = decoder.next()) {
    // What is too long for this device it drops.
    if (frame->body.size() + DOJO_HEAD_BYTES + DOJO_CRC_BYTES > DOJO_FRAME_MAX) continue;
    host.push_back(headAndBody(*frame));
    transport::Decoder again;
    again.feed(transport::encode(*frame));
    const auto same = again.next();
    DOJO_CHECK(same && headAndBody(*same) == host.back(), "a frame doesn't read back");
  }
  DOJO_CHECK(core == host, "the two decoders take different frames");
}

void serve(std::span<const std::byte> input) {
  incoming.clear();
  while (input.size() >= 3) {
    transport::Frame frame;
    const auto length =
        std::min<std::size_t>(std::to_integer<std::size_t>(input[0]), input.size() - 3);
    frame.kind = std::to_integer<std::uint8_t>(input[1]);
    frame.sequence = std::to_integer<std::uint8_t>(input[2]);
    frame.body.assign(input.begin() + 3, input.begin() + 3 + static_cast<std::ptrdiff_t>(length));
    (void)transport::parseHello(frame.body);
    const Bytes wire = transport::encode(frame);
    incoming.insert(incoming.end(), wire.begin(), wire.end());
    input = input.subspan(3 + length);
  }
  // Only frames of the core, which is C, lie between here and there.
  if (setjmp(linkClosed) == 0) dojo_run();
  transport::Decoder decoder;
  decoder.feed(outgoing);
  while (const auto frame = decoder.next()) {
    if (frame->kind != DOJO_INFO) continue;
    const Result<transport::Hello> hello = transport::parseHello(frame->body);
    DOJO_CHECK(hello.ok(), hello.ok() ? "" : hello.error().text());
  }
  DOJO_CHECK(decoder.damaged() == 0, "the core sent what is no frame");
}

}  // namespace

size_t dojo_port_receive(uint8_t* into, size_t most, int wait) {
  const std::size_t count = std::min(most, incoming.size() - taken);
  if (count == 0 && wait != 0) std::longjmp(linkClosed, 1);
  for (std::size_t k = 0; k < count; ++k) into[k] = std::to_integer<uint8_t>(incoming[taken + k]);
  taken += count;
  return count;
}
void dojo_port_send(const uint8_t* bytes, size_t count) {
  const auto* at = reinterpret_cast<const std::byte*>(bytes);
  outgoing.insert(outgoing.end(), at, at + count);
}
void dojo_port_flush(int) {}
void dojo_port_facts(dojo_info* info) { info->timer_hz = 1000000; }
void dojo_port_items() { dojo_item(DOJO_ITEM_PORT, "fuzz", 4, nullptr, 0); }
int dojo_port_allows(uintptr_t address, uintptr_t size, uint32_t flags) {
  return address >= kBase && address - kBase <= kMemory && size <= kMemory - (address - kBase) &&
         (flags & DOJO_REGION_EXECUTE) == 0;
}
uint8_t dojo_port_counters() { return 3; }
uint32_t dojo_port_harts() { return 2; }
uint32_t dojo_port_micros() { return micros += 7; }
void dojo_port_limit(uint32_t) {}
int dojo_port_batch(const dojo_batch* batch, dojo_counts* counts, dojo_fault* fault) {
  *counts = {};
  counts->ticks = batch->calls;
  if (++batches <= kMostBatches && batch->entry % 2 == 0) return 0;
  *fault = {};
  fault->cause =
      static_cast<uint8_t>(batches > kMostBatches ? DOJO_CAUSE_TIMEOUT : DOJO_CAUSE_ILLEGAL);
  return -1;
}
void dojo_port_evict(uintptr_t address, uintptr_t size) {
  DOJO_CHECK(dojo_port_allows(address, size, DOJO_REGION_READ), "evicts what isn't there");
}
void dojo_port_sync() {}
uint32_t dojo_port_image_crc() { return 0x1234; }
uint8_t dojo_port_canary() { return 0; }
void dojo_port_reset() {}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  prepare();
  const std::span input(reinterpret_cast<const std::byte*>(data), size);
  if (data[0] % 2 == 0) {
    compareDecoders(input.subspan(1));
  } else {
    serve(input.subspan(1));
  }
  return 0;
}
