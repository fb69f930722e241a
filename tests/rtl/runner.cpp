// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole way: the runner's firmware on the model, loaded, reset and fed by OpenOCD.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.h"
#include "target/target.h"
#include "transport/device.h"

namespace {

using namespace dojo;
using transport::Call;
using transport::Device;
using transport::Sample;

using Words = std::vector<std::uint32_t>;

/// Stores `count` where its first argument points and counts down from it.
Words counter(std::uint32_t count) {
  return {0x00052283,           // lw t0, 0(a0)
          count << 20 | 0x313,  // li t1, count
          0x0062a023,           // sw t1, 0(t0)
          0xfff30313,           // addi t1, t1, -1
          0xfe031ee3,           // bnez t1, -4
          0x00008067};          // ret
}
const Words kHang = {0x0000006f};  // j .
const Words kDeaf = {0x30047073,   // csrci mstatus, 8: no interrupt ends it
                     0x0000006f};  // j .
const Words kIllegal = {0};

std::unique_ptr<Device> start() {
  const auto target = target::load("rv32-jtag");
  REQUIRE(target.ok());
  auto way = transport::make(*target);
  REQUIRE(way.ok());
  transport::LinkOptions options;
  options.helloSeconds = target->runner.helloSeconds;
  options.answerSeconds = target->runner.answerSeconds;
  options.retrySeconds = 2;
  options.graceSeconds = 5;
  auto device = Device::open(std::move(*way), options);
  INFO((device ? std::string() : device.error().text()));
  REQUIRE(device.ok());
  return std::move(*device);
}

std::uint64_t base(const Device& device, const char* region) {
  const transport::Region* found = device.hello().region(region);
  REQUIRE(found != nullptr);
  return found->base;
}

struct Ran {
  std::string code;  ///< Of the error; empty: none.
  std::string text;  ///< What it says.
  std::vector<std::uint64_t> cycles;
  std::uint32_t stored = 0;
};

/// Places the words, calls them twice with room for a result, and reads it.
Ran call(Device& device, const Words& words, std::uint64_t nonce) {
  const std::uint64_t data = base(device, "data");
  const std::uint64_t code = base(device, "code");
  const std::array<std::uint32_t, 2> table = {static_cast<std::uint32_t>(data + 64), 0};
  const std::array<std::uint32_t, 1> nothing = {0};
  const std::array<transport::Piece, 3> pieces = {{
      {code, std::as_bytes(std::span(words))},
      {data, std::as_bytes(std::span(table))},
      {data + 64, std::as_bytes(std::span(nothing))},
  }};
  const Status written = device.write(pieces);
  INFO((written ? std::string() : written.error().text()));
  REQUIRE(written.ok());
  Call what;
  what.nonce = nonce;
  what.entry = code;
  what.tables = data;
  what.warmup = 1;
  what.samples = 2;
  what.counters = 0;  // The ticks of this port are cycles.
  what.limitSeconds = 0.05;
  Ran out;
  const auto done = device.call(what, [&out](const Sample& sample) {
    out.cycles.push_back(sample.ticks);
    return Device::More::yes;
  });
  if (!done) {
    out.code = done.error().code;
    out.text = done.error().text();
    return out;
  }
  std::array<std::uint32_t, 1> stored{};
  REQUIRE(device.read(data + 64, std::as_writable_bytes(std::span(stored))).ok());
  out.stored = stored[0];
  return out;
}

/// Both samples took so many cycles. Each access of the debugger may cost the core one.
bool took(const Ran& ran, std::uint64_t cycles) {
  constexpr std::uint64_t kAccesses = 16;
  return ran.cycles.size() == 2 &&
         std::all_of(ran.cycles.begin(), ran.cycles.end(), [&](std::uint64_t one) {
           return one + kAccesses >= cycles && one <= cycles + kAccesses;
         });
}

}  // namespace

TEST_CASE("the runner on the model is loaded by OpenOCD and measures in cycles") {
  if (!rtl::have("openocd")) return;
  const std::unique_ptr<Device> device = start();
  CHECK(device->hello().port.find("riscv") != std::string::npos);
  CHECK(device->hello().pointerBytes == 4);
  const Ran first = call(*device, counter(10), 1);
  INFO(first.text);
  REQUIRE(first.code.empty());
  CHECK(first.stored == 10);
  REQUIRE(first.cycles.size() == 2);
  CHECK(took(first, first.cycles[0]));
  const Ran second = call(*device, counter(1000), 2);
  REQUIRE(second.cycles.size() == 2);
  CHECK(second.stored == 1000);
  CHECK(took(second, first.cycles[0] + 2 * (1000 - 10)));
}

TEST_CASE("kernels that hang or trap on the model cost none of the others") {
  if (!rtl::have("openocd")) return;
  const std::unique_ptr<Device> device = start();
  const Ran first = call(*device, counter(7), 1);
  INFO(first.text);
  REQUIRE(first.cycles.size() == 2);
  CHECK(call(*device, kHang, 2).code == "run.timeout");
  CHECK(took(call(*device, counter(7), 3), first.cycles[0]));
  CHECK(call(*device, kIllegal, 4).code == "run.fault");
  CHECK(call(*device, counter(8), 5).stored == 8);
  const int before = device->generation();
  REQUIRE(device->recover().ok());
  CHECK(device->generation() > before);
  CHECK(took(call(*device, counter(7), 6), first.cycles[0]));
}

TEST_CASE("two hundred candidates through OpenOCD: each ends once, in its own way") {
  if (!rtl::have("openocd")) return;
  const std::unique_ptr<Device> device = start();
  constexpr int kCandidates = 200;
  const std::map<int, const Words*> bad = {
      {20, &kHang}, {60, &kIllegal}, {90, &kDeaf}, {91, &kHang}, {150, &kIllegal}};
  std::map<std::string, int> ended;
  std::uint64_t none = 0;  // Cycles of a loop that never turns.
  for (int i = 0; i < kCandidates; ++i) {
    INFO("candidate " << i);
    const int before = device->generation();
    const auto found = bad.find(i);
    if (found != bad.end()) {
      const Ran ran = call(*device, *found->second, static_cast<std::uint64_t>(i) + 1);
      INFO(ran.text);
      ++ended[ran.code];
      CHECK(ran.code == (found->second == &kIllegal ? "run.fault" : "run.timeout"));
      CHECK(ran.cycles.empty());
      // The timer ends what lets it; only a reset ends what doesn't.
      if (found->second == &kDeaf) CHECK(device->generation() > before);
      if (found->second == &kIllegal) CHECK(device->generation() == before);
      continue;
    }
    // No two neighbours take the same time or leave the same word.
    const auto count = static_cast<std::uint32_t>(1 + i * 37 % 1999);
    const Ran ran = call(*device, counter(count), static_cast<std::uint64_t>(i) + 1);
    INFO(ran.text);
    ++ended[ran.code];
    REQUIRE(ran.cycles.size() == 2);
    if (none == 0) none = ran.cycles[0] - 2 * count;
    CHECK(ran.stored == count);
    CHECK(took(ran, none + 2 * count));
  }
  CHECK(ended == std::map<std::string, int>{{"", 195}, {"run.fault", 2}, {"run.timeout", 3}});
}
