// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The host's side of framing; the runner has its own (runner/core/frame.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace dojo::transport {

struct Frame {
  std::uint8_t kind = 0;
  std::uint8_t sequence = 0;
  std::uint16_t part = 0;
  std::vector<std::byte> body = {};
};

/// CRC-32 of IEEE 802.3, continued from `crc`.
[[nodiscard]] std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

/// The bytes of a frame on the wire, delimiters included.
[[nodiscard]] std::vector<std::byte> encode(const Frame& frame);

/// Takes bytes as they come; whole, undamaged frames come out, all else is dropped and counted.
class Decoder {
 public:
  void feed(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<Frame> next();
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  void reset();

 private:
  void finish();

  std::vector<std::byte> stuffed_;
  std::deque<Frame> frames_;
  std::int64_t damaged_ = 0;
};

/// Reading and writing little-endian integers in bodies.
void put(std::vector<std::byte>& body, std::uint64_t value, int bytes);
void putAt(std::vector<std::byte>& body, std::size_t offset, std::uint64_t value, int bytes);
/// 0 where the body is too short.
[[nodiscard]] std::uint64_t getAt(std::span<const std::byte> body, std::size_t offset, int bytes);

}  // namespace dojo::transport
