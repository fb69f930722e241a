// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's link layer and the runner's core over a bad cable.
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

#include "board.h"
#include "protocol/protocol.h"
#include "transport/device.h"
#include "transport/frame.h"

namespace dojo::transport {
namespace {

/// What a cable does to frames, each with this probability.
struct Cable {
  double drop = 0, flip = 0, twice = 0, swap = 0, cut = 0, text = 0;
  unsigned seed = 1;
};

/// A transport to the board over such a cable.
class BoardTransport : public Transport {
 public:
  explicit BoardTransport(const Cable& cable) : cable_(cable), random_(cable.seed) {}
  ~BoardTransport() override { Board::get().stop(); }
  Status open() override {
    Board::get().start();
    return {};
  }
  Status send(std::span<const std::byte> bytes, double) override {
    Board::get().toBoard(spoil({bytes.begin(), bytes.end()}, heldOut_));
    return {};
  }
  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    if (ready_.empty()) {
      for (const std::byte byte : Board::get().fromBoard(seconds)) {
        partial_.push_back(byte);
        if (byte != std::byte{0} || partial_.size() < 2) continue;
        const std::vector<std::byte> spoiled = spoil(std::move(partial_), heldIn_);
        ready_.insert(ready_.end(), spoiled.begin(), spoiled.end());
        partial_.clear();
      }
    }
    const std::size_t count = std::min(into.size(), ready_.size());
    std::copy_n(ready_.begin(), count, into.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  Status recover() override {
    ready_.clear();
    partial_.clear();
    return open();
  }
  std::string describe() const override { return "board"; }

 private:
  bool happens(double probability) {
    return std::uniform_real_distribution<>()(random_) < probability;
  }
  std::vector<std::byte> spoil(std::vector<std::byte> frame, std::vector<std::byte>& held) {
    if (happens(cable_.flip)) frame[random_() % frame.size()] ^= std::byte{0x10};
    if (happens(cable_.cut)) frame.resize(random_() % frame.size());
    if (frame.empty()) return frame;
    if (happens(cable_.text)) {
      const std::string line = "[  12.345] console message\r\n";
      const auto at = frame.begin() + static_cast<std::ptrdiff_t>(random_() % frame.size());
      const auto* first = reinterpret_cast<const std::byte*>(line.data());
      frame.insert(at, first, first + line.size());
    }
    std::vector<std::byte> out;
    if (happens(cable_.swap) && held.empty()) {
      held = std::move(frame);  // comes after the next one
      return out;
    }
    if (!happens(cable_.drop)) out = frame;
    if (happens(cable_.twice)) out.insert(out.end(), frame.begin(), frame.end());
    out.insert(out.end(), held.begin(), held.end());
    held.clear();
    return out;
  }

  Cable cable_;
  std::mt19937 random_;
  std::vector<std::byte> ready_, partial_, heldIn_, heldOut_;
};

const LinkOptions kQuick{.helloSeconds = 5, .answerSeconds = 5, .retrySeconds = 0.002};

std::unique_ptr<Device> boardDevice(const Cable& cable = {}) {
  auto device = Device::open(std::make_unique<BoardTransport>(cable), kQuick);
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  return std::move(*device);
}

/// Kernel 0 counts its calls and says so; kernel 1 faults in its third batch.
void addKernels() {
  Board& board = Board::get();
  board.batches = 0;
  board.kernels = {[&board](const dojo_batch& batch, dojo_counts& counts) {
                     counts.ticks = 1000U * static_cast<unsigned>(board.batches) + batch.calls;
                     counts.chain = batch.flags;
                     counts.extra[0] = 5;
                     return 0;
                   },
                   [&board](const dojo_batch&, dojo_counts& counts) {
                     counts = {};
                     return board.batches % 3 == 0 ? int{DOJO_CAUSE_ACCESS} : 0;
                   }};
}

Call callOf(std::uint64_t kernel, std::uint64_t nonce, std::uint32_t samples) {
  Call call;
  call.entry = kernel;
  call.nonce = nonce;
  call.tables = Board::get().base();
  call.samples = samples;
  call.calls = 7;
  call.limitSeconds = 5;
  return call;
}

}  // namespace

TEST_CASE("The board says what it is, items of later versions are skipped") {
  auto device = boardDevice();
  CHECK(device->hello().port == "board");
  CHECK(device->hello().largestFrame == 192);
  CHECK(device->hello().window == 4);
  CHECK(device->hello().harts == 2);
  CHECK(device->hello().regions.size() == 1);
}

TEST_CASE("Over any cable every call runs once and every sample comes once, in order") {
  struct Case {
    const char* name;
    Cable cable;
  };
  const std::vector<Case> cases = {
      {"good", {}},
      {"drops", {.drop = 0.2}},
      {"flips", {.flip = 0.2}},
      {"copies", {.twice = 0.3}},
      {"reorders", {.swap = 0.2}},
      {"cuts", {.cut = 0.2}},
      {"console", {.text = 0.2}},
      {"all", {.drop = 0.06, .flip = 0.06, .twice = 0.1, .swap = 0.06, .cut = 0.06, .text = 0.06}},
  };
  Board& board = Board::get();
  for (const Case& c : cases) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      INFO(c.name << ", seed " << seed);
      Cable cable = c.cable;
      cable.seed = seed;
      addKernels();
      auto device = boardDevice(cable);
      std::mt19937 random(seed);
      for (std::uint64_t round = 1; round <= 10; ++round) {
        std::vector<std::byte> data(random() % 900 + 1), back(data.size());
        for (std::byte& byte : data) byte = static_cast<std::byte>(random());
        REQUIRE(device->write(board.base() + 64, data));
        CHECK(std::memcmp(board.memory.data() + 64, data.data(), data.size()) == 0);
        REQUIRE(device->read(board.base() + 64, back));
        CHECK(back == data);

        const int before = board.batches;
        const auto samples = static_cast<std::uint32_t>(random() % 20);
        Call call = callOf(0, round, samples);
        call.counters = 2;
        call.chain = true;
        std::uint32_t next = 0;
        auto done = device->call(call, [&](const Sample& sample) {
          CHECK(sample.index == next);
          CHECK(sample.ticks == 1000U * (static_cast<unsigned>(before) + next + 1) + 7);
          CHECK(sample.chain == 1);
          CHECK(sample.counters.at(1) == 5);
          ++next;
          return Device::More::yes;
        });
        INFO((done ? "" : done.error().text()));
        REQUIRE(done);
        CHECK(done->samples == samples);
        CHECK(next == samples);
        CHECK(board.batches == before + static_cast<int>(samples));
      }
      CHECK(device->statistics().recoveries == 0);
    }
  }
}

TEST_CASE("A fault keeps the samples before it") {
  addKernels();
  auto device = boardDevice({.drop = 0.1, .seed = 5});
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::size_t samples = 0;
    auto done = device->call(callOf(1, round, 10), [&](const Sample&) {
      ++samples;
      return Device::More::yes;
    });
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "run.fault");
    CHECK(done.error().message.find("sample 2, call 1") != std::string::npos);
    CHECK(samples == 2);
  }
}

TEST_CASE("A call after which a canary is broken is thrown away, the next one counts") {
  addKernels();
  auto device = boardDevice();
  Board& board = Board::get();
  board.kernels[0] = [&](const dojo_batch&, dojo_counts& counts) {
    counts = {};
    if (board.batches == 2) board.canaryBroken = true;
    return 0;
  };
  auto done = device->call(callOf(0, 1, 3), {});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == "run.crash");
  CHECK(done.error().message.find("canary") != std::string::npos);
  CHECK(device->call(callOf(0, 2, 3), {}));
}

TEST_CASE("A counter that went round is an error, never a number") {
  addKernels();
  auto device = boardDevice();
  Board::get().kernels[0] = [](const dojo_batch&, dojo_counts&) { return int{DOJO_CAUSE_COUNTER}; };
  auto done = device->call(callOf(0, 1, 3), {});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == "measure.overflow");
}

TEST_CASE("The core refuses what is out of bounds") {
  addKernels();
  auto device = boardDevice();
  const std::uint64_t base = Board::get().base();
  std::vector<std::byte> bytes(16);
  CHECK(device->write(base - 1, bytes).error().code == "load.memory");
  CHECK(device->write(base + Board::kMemory - 15, bytes).error().code == "load.memory");
  CHECK(device->write(base + Board::kMemory - 16, bytes));
  CHECK(device->fill(base, ~std::uint64_t{0}, std::byte{1}).error().code == "load.memory");
  CHECK_FALSE(device->crc(base, Board::kMemory + 1));
  const auto refused = [&](const std::function<void(Call&)>& spoil) {
    Call call = callOf(0, 1, 1);
    spoil(call);
    auto done = device->call(call, {});
    return !done && done.error().code == "run.refused";
  };
  CHECK_FALSE(refused([](Call&) {}));
  CHECK(refused([](Call& call) { call.harts = 3; }));
  CHECK(refused([](Call& call) { call.harts = 0; }));
  CHECK(refused([](Call& call) { call.counters = 4; }));
  CHECK(refused([](Call& call) { call.sets = 0; }));
  CHECK(refused([](Call& call) { call.sets = 2000; }));
  CHECK(refused([](Call& call) { call.samples = 70000; }));
  CHECK(refused([](Call& call) { call.tables = 8; }));
  CHECK(refused([](Call& call) { call.restores = 1; }));
  CHECK(refused([](Call& call) {
    call.evict = 8;
    call.evictBytes = 8;
  }));
  CHECK(Board::get().batches == 1);
}

TEST_CASE("Calls in a sample are doubled until it lasts, budgets and warm-up are kept") {
  Board& board = Board::get();
  addKernels();
  std::vector<std::uint32_t> sizes;
  board.kernels[0] = [&](const dojo_batch& batch, dojo_counts& counts) {
    sizes.push_back(batch.calls);
    counts.ticks = batch.calls * 10;
    return 0;
  };
  auto device = boardDevice();
  Call call = callOf(0, 1, 3);
  call.calls = 0;
  call.minTicks = 1000;
  call.warmup = 9;
  auto done = device->call(call, {});
  REQUIRE(done);
  CHECK(sizes == std::vector<std::uint32_t>{9, 1, 8, 16, 32, 64, 128, 128, 128, 128, 128});
  CHECK(done->calls == 128);

  sizes.clear();
  board.kernels[0] = [&](const dojo_batch& batch, dojo_counts& counts) {
    sizes.push_back(batch.calls);
    counts = {};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
  };
  call = callOf(0, 2, 1000);
  call.budgetSeconds = 0.001;
  call.minSamples = 5;
  done = device->call(call, {});
  REQUIRE(done);
  CHECK(done->end == CallEnd::budget);
  CHECK(done->samples == 5);
  CHECK(sizes.size() == 5);
}

TEST_CASE("A device of another version is refused with both versions") {
  class Other : public Transport {
   public:
    Status open() override { return {}; }
    Status send(std::span<const std::byte> bytes, double) override {
      Decoder decoder;
      decoder.feed(bytes);
      Frame answer{.kind = DOJO_INFO, .sequence = decoder.next()->sequence, .part = 0, .body = {}};
      put(answer.body, DOJO_PROTOCOL_MAGIC, 4);
      put(answer.body, DOJO_PROTOCOL_VERSION + 1, 2);
      wire_ = encode(answer);
      return {};
    }
    Result<std::size_t> receive(std::span<std::byte> into, double) override {
      std::copy(wire_.begin(), wire_.end(), into.begin());
      return std::exchange(wire_, {}).size();
    }
    Status recover() override { return {}; }
    std::string describe() const override { return "other"; }

   private:
    std::vector<std::byte> wire_;
  };
  auto device = Device::open(std::make_unique<Other>(), kQuick);
  REQUIRE_FALSE(device);
  CHECK(device.error().code == "link.version");
  CHECK(device.error().message.find("version 2") != std::string::npos);
  CHECK(device.error().message.find("version 1") != std::string::npos);
}

}  // namespace dojo::transport
