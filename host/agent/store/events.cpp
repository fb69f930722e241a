// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/store/events.h"

#include <array>
#include <bit>

#include "agent/store/bytes.h"

namespace dojo::agent {
namespace {

/// How a field of a message is written.
enum Wire : std::uint32_t { kVarint = 0, kEight = 1, kText = 2, kFour = 5 };

void putVarint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>((value & 127U) | 128U));
  out.push_back(static_cast<char>(value));
}

void putKey(std::string& out, std::uint32_t field, Wire wire) { putVarint(out, field << 3 | wire); }

void putField(std::string& out, std::uint32_t field, std::string_view text) {
  putKey(out, field, kText);
  putVarint(out, text.size());
  out += text;
}

std::string eventAt(double wallTime) {
  std::string out;
  putKey(out, 1, kEight);
  putReal(out, wallTime);
  return out;
}

std::string record(const std::string& message) {
  std::string out;
  putNumber(out, static_cast<std::uint64_t>(message.size()));
  putNumber(out, maskedCrc32c(out));
  out += message;
  putNumber(out, maskedCrc32c(message));
  return out;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t k = 0; k < out.size(); ++k) {
      std::uint32_t value = k;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1U) != 0 ? value >> 1 ^ 0x82f63b78U : value >> 1;
      }
      out[k] = value;
    }
    return out;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255U] ^ crc >> 8;
  return ~crc;
}

std::uint32_t maskedCrc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

std::string eventsHeader(double wallTime) {
  std::string event = eventAt(wallTime);
  putField(event, 3, "brain.Event:2");
  return record(event);
}

std::string scalarsEvent(double wallTime, std::int64_t step,
                         const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string one;
    putField(one, 1, tag);
    putKey(one, 2, kFour);
    putNumber(one, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    putField(summary, 1, one);
  }
  std::string event = eventAt(wallTime);
  putKey(event, 2, kVarint);
  putVarint(event, static_cast<std::uint64_t>(step));
  putField(event, 5, summary);
  return record(event);
}

}  // namespace dojo::agent
