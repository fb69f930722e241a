// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runner's framing against the host's.
#include "core/frame.h"

#include <random>

#include <catch2/catch.hpp>

#include "board.h"
#include "core/core.h"
#include "transport/frame.h"

namespace dojo::transport {
namespace {

/// What the core takes of these bytes: head and body of each whole frame.
std::vector<std::vector<std::byte>> coreTakes(std::span<const std::byte> wire) {
  std::vector<std::vector<std::byte>> out;
  for (const std::byte byte : wire) {
    const std::size_t length = dojo_frame_take(std::to_integer<std::uint8_t>(byte));
    if (length == 0) continue;
    const auto* at = reinterpret_cast<const std::byte*>(dojo_frame);
    out.emplace_back(at, at + length);
  }
  return out;
}

std::vector<std::byte> coreSends(const Frame& frame) {
  (void)Board::get().fromBoard(0);
  dojo_frame_begin(frame.kind, frame.sequence, frame.part);
  const std::size_t half = frame.body.size() / 2;
  dojo_frame_put(frame.body.data(), half);
  dojo_frame_put(frame.body.data() + half, frame.body.size() - half);
  dojo_frame_end();
  return Board::get().fromBoard(0);
}

Frame randomFrame(std::mt19937& random, std::size_t most) {
  Frame frame{.kind = static_cast<std::uint8_t>(random()),
              .sequence = static_cast<std::uint8_t>(random()),
              .part = static_cast<std::uint16_t>(random()),
              .body = {}};
  frame.body.resize(random() % (most + 1));
  const unsigned zeros = random() % 4;  // none, some, many, all
  for (std::byte& byte : frame.body) {
    byte = random() % 4 < zeros + (zeros == 3) ? std::byte{0} : static_cast<std::byte>(random());
  }
  return frame;
}

std::vector<std::byte> headAndBody(const Frame& frame) {
  std::vector<std::byte> bytes;
  put(bytes, frame.kind, 1);
  put(bytes, frame.sequence, 1);
  put(bytes, frame.part, 2);
  bytes.insert(bytes.end(), frame.body.begin(), frame.body.end());
  return bytes;
}

}  // namespace

TEST_CASE("CRC-32 gives the check value of the standard on both sides") {
  const char text[] = "123456789";
  CHECK(dojo_crc32(0, text, 9) == 0xcbf43926);
  CHECK(dojo_crc32(dojo_crc32(0, text, 4), text + 4, 5) == 0xcbf43926);
  CHECK(crc32(0, std::as_bytes(std::span(text, 9))) == 0xcbf43926);
  CHECK(crc32(crc32(0, std::as_bytes(std::span(text, 4))), std::as_bytes(std::span(text + 4, 5))) ==
        0xcbf43926);
}

TEST_CASE("Both sides write the same bytes and read each other") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Frame frame = randomFrame(random, round % 2 == 0 ? 16 : 700);
    const std::vector<std::byte> wire = encode(frame);
    REQUIRE(coreSends(frame) == wire);
    Decoder decoder;
    decoder.feed(wire);
    const auto back = decoder.next();
    REQUIRE(back);
    CHECK(headAndBody(*back) == headAndBody(frame));
    const auto taken = coreTakes(wire);
    if (frame.body.size() + DOJO_HEAD_BYTES + DOJO_CRC_BYTES <= DOJO_FRAME_MAX) {
      REQUIRE(taken.size() == 1);
      CHECK(taken[0] == headAndBody(frame));
    } else {
      CHECK(taken.empty());
    }
  }
}

TEST_CASE("A frame cut after every byte is dropped and the next one is taken") {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    const std::vector<std::byte> first = encode(randomFrame(random, 60));
    const Frame second = randomFrame(random, 60);
    for (std::size_t cut = 0; cut < first.size(); ++cut) {
      std::vector<std::byte> wire(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cut));
      const std::vector<std::byte> rest = encode(second);
      wire.insert(wire.end(), rest.begin(), rest.end());
      const auto taken = coreTakes(wire);
      // All but the last delimiter is a whole frame too: the next one's first closes it.
      const std::size_t whole = cut + 1 == first.size() ? 2 : 1;
      REQUIRE(taken.size() == whole);
      CHECK(taken.back() == headAndBody(second));
      Decoder decoder;
      decoder.feed(wire);
      for (std::size_t i = 0; i < whole; ++i) REQUIRE(decoder.next());
      CHECK_FALSE(decoder.next());
    }
  }
}

TEST_CASE("No flipped bit gets through") {
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    const std::vector<std::byte> wire = encode(randomFrame(random, 100));
    for (std::size_t at = 0; at < wire.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::vector<std::byte> bad = wire;
        bad[at] ^= static_cast<std::byte>(1 << bit);
        const std::byte zero{0};
        const bool delimiter = at == 0 || at + 1 == wire.size();
        if (delimiter) bad.push_back(zero);  // its loss joins the frame to its neighbour
        const auto taken = coreTakes(bad);
        if (!delimiter) CHECK(taken.empty());
        Decoder decoder;
        decoder.feed(bad);
        const auto got = decoder.next();
        CHECK(got.has_value() == !taken.empty());
        if (got) CHECK(encode(*got) == wire);
      }
    }
  }
}

TEST_CASE("Garbage is never taken for a frame") {
  std::mt19937 random(4);
  Decoder decoder;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> noise(1 + random() % 2000);
    for (std::byte& byte : noise) {
      byte = random() % 20 == 0 ? std::byte{0} : static_cast<std::byte>(random());
    }
    const Frame frame = randomFrame(random, 60);
    const std::vector<std::byte> wire = encode(frame);
    noise.insert(noise.end(), wire.begin(), wire.end());
    const auto taken = coreTakes(noise);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0] == headAndBody(frame));
    decoder.feed(noise);
    const auto got = decoder.next();
    REQUIRE(got);
    CHECK(headAndBody(*got) == headAndBody(frame));
    CHECK_FALSE(decoder.next());
  }
  CHECK(decoder.damaged() > 0);
}

}  // namespace dojo::transport
