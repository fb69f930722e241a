// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/frame.h"

#include <array>

#include "protocol/protocol.h"

namespace dojo::transport {
namespace {

/// Longer runs between delimiters are garbage (a console that never prints a zero).
constexpr std::size_t kMostStuffed = std::size_t{1} << 26;

using Table = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr Table makeTable() {
  Table table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
    table[0][n] = crc;
  }
  for (std::size_t n = 0; n < 256; ++n) {
    for (std::size_t k = 1; k < 8; ++k) {
      table[k][n] = (table[k - 1][n] >> 8) ^ table[0][table[k - 1][n] & 255U];
    }
  }
  return table;
}
constexpr Table kTable = makeTable();

std::optional<std::vector<std::byte>> unstuff(std::span<const std::byte> stuffed) {
  std::vector<std::byte> plain;
  plain.reserve(stuffed.size());
  std::size_t at = 0;
  while (at < stuffed.size()) {
    const auto code = std::to_integer<std::size_t>(stuffed[at]);
    if (at + code > stuffed.size()) return std::nullopt;
    plain.insert(plain.end(), stuffed.begin() + static_cast<std::ptrdiff_t>(at + 1),
                 stuffed.begin() + static_cast<std::ptrdiff_t>(at + code));
    at += code;
    if (code != 0xff && at < stuffed.size()) plain.push_back(std::byte{0});
  }
  return plain;
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  crc = ~crc;
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return std::to_integer<std::uint32_t>(bytes[i + k]); };
  for (; i + 8 <= bytes.size(); i += 8) {
    crc ^= at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24;
    crc = kTable[7][crc & 255U] ^ kTable[6][crc >> 8 & 255U] ^ kTable[5][crc >> 16 & 255U] ^
          kTable[4][crc >> 24] ^ kTable[3][at(4)] ^ kTable[2][at(5)] ^ kTable[1][at(6)] ^
          kTable[0][at(7)];
  }
  for (; i < bytes.size(); ++i) crc = crc >> 8 ^ kTable[0][(crc ^ at(0)) & 255U];
  return ~crc;
}

void put(std::vector<std::byte>& body, std::uint64_t value, int bytes) {
  for (; bytes > 0; --bytes, value >>= 8) body.push_back(static_cast<std::byte>(value & 255U));
}

void putAt(std::vector<std::byte>& body, std::size_t offset, std::uint64_t value, int bytes) {
  const std::size_t end = offset + static_cast<std::size_t>(bytes);
  if (body.size() < end) body.resize(end);
  for (; bytes > 0; --bytes, value >>= 8) body[offset++] = static_cast<std::byte>(value & 255U);
}

std::uint64_t getAt(std::span<const std::byte> body, std::size_t offset, int bytes) {
  if (offset + static_cast<std::size_t>(bytes) > body.size()) return 0;
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(body[offset + static_cast<std::size_t>(i)]);
  }
  return value;
}

std::vector<std::byte> encode(const Frame& frame) {
  std::vector<std::byte> plain;
  plain.reserve(frame.body.size() + DOJO_HEAD_BYTES + DOJO_CRC_BYTES);
  put(plain, frame.kind, 1);
  put(plain, frame.sequence, 1);
  put(plain, frame.part, 2);
  plain.insert(plain.end(), frame.body.begin(), frame.body.end());
  put(plain, crc32(0, plain), 4);

  std::vector<std::byte> wire;
  wire.reserve(plain.size() + plain.size() / 254 + 4);
  wire.push_back(std::byte{0});
  std::size_t code = wire.size();
  wire.push_back(std::byte{1});
  const auto endBlock = [&] {
    wire[code] = static_cast<std::byte>(wire.size() - code);
    code = wire.size();
    wire.push_back(std::byte{1});
  };
  for (const std::byte byte : plain) {
    if (byte != std::byte{0}) wire.push_back(byte);
    if (byte == std::byte{0} || wire.size() - code == 255) endBlock();
  }
  wire[code] = static_cast<std::byte>(wire.size() - code);
  wire.push_back(std::byte{0});
  return wire;
}

void Decoder::feed(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    if (byte == std::byte{0}) {
      finish();
    } else if (stuffed_.size() < kMostStuffed) {
      stuffed_.push_back(byte);
    }
  }
}

void Decoder::finish() {
  if (stuffed_.empty()) return;
  std::optional<std::vector<std::byte>> plain = unstuff(stuffed_);
  stuffed_.clear();
  if (!plain || plain->size() < DOJO_HEAD_BYTES + DOJO_CRC_BYTES) {
    ++damaged_;
    return;
  }
  const std::size_t end = plain->size() - DOJO_CRC_BYTES;
  if (crc32(0, std::span(*plain).first(end)) != getAt(*plain, end, 4)) {
    ++damaged_;
    return;
  }
  Frame frame;
  frame.kind = static_cast<std::uint8_t>(getAt(*plain, DOJO_HEAD_KIND, 1));
  frame.sequence = static_cast<std::uint8_t>(getAt(*plain, DOJO_HEAD_SEQUENCE, 1));
  frame.part = static_cast<std::uint16_t>(getAt(*plain, DOJO_HEAD_PART, 2));
  frame.body.assign(plain->begin() + DOJO_HEAD_BYTES,
                    plain->begin() + static_cast<std::ptrdiff_t>(end));
  frames_.push_back(std::move(frame));
}

std::optional<Frame> Decoder::next() {
  if (frames_.empty()) return std::nullopt;
  Frame frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

void Decoder::reset() {
  stuffed_.clear();
  frames_.clear();
}

}  // namespace dojo::transport
