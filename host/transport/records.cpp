// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of commands and records of text, see runner/protocol/PROTOCOL.md, "Batch".
#include <string_view>

#include "protocol/protocol.h"
#include "transport/batch.h"

namespace dojo::transport {
namespace {

constexpr std::string_view kOpen = DOJO_RECORD_OPEN;
/// Longer records are none.
constexpr std::size_t kMostDigits = std::size_t{1} << 20;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::vector<std::byte> encodeList(std::span<const Frame> commands, int copies) {
  std::vector<std::byte> entries;
  for (const Frame& command : commands) {
    put(entries, DOJO_HEAD_BYTES + command.body.size(), 4);
    put(entries, command.kind, 1);
    put(entries, command.sequence, 1);
    put(entries, command.part, 2);
    entries.insert(entries.end(), command.body.begin(), command.body.end());
    entries.resize((entries.size() + 3) / 4 * 4);
  }
  std::vector<std::byte> list;
  putAt(list, DOJO_LIST_AT_MAGIC, DOJO_LIST_MAGIC, 4);
  putAt(list, DOJO_LIST_AT_VERSION, DOJO_LIST_VERSION, 2);
  putAt(list, DOJO_LIST_COPIES, static_cast<std::uint64_t>(copies), 2);
  putAt(list, DOJO_LIST_SIZE, entries.size(), 4);
  putAt(list, DOJO_LIST_CRC, crc32(0, entries), 4);
  list.insert(list.end(), entries.begin(), entries.end());
  return list;
}

void RecordReader::feed(std::span<const std::byte> text) {
  for (const std::byte byte : text) {
    const char c = static_cast<char>(byte);
    if (c == kOpen.front()) {
      // Also within a record: that one was cut.
      if (inside_) ++damaged_;
      inside_ = false;
      open_ = c;
    } else if (inside_) {
      if (c == '}') {
        finish();
      } else if (c != '\r' && c != '\n' && open_.size() < kMostDigits) {
        open_ += c;
      }
    } else if (!open_.empty()) {
      open_ += c;
      if (!kOpen.starts_with(open_)) open_.clear();
      if (open_ == kOpen) {
        inside_ = true;
        open_.clear();
      }
    }
  }
}

void RecordReader::finish() {
  const std::string digits = std::move(open_);
  open_.clear();
  inside_ = false;
  std::vector<std::byte> bytes;
  bool good = digits.size() % 2 == 0;
  for (std::size_t i = 0; good && i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    good = high >= 0 && low >= 0;
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  good = good && bytes.size() >= DOJO_HEAD_BYTES + DOJO_CRC_BYTES;
  const std::size_t end = good ? bytes.size() - DOJO_CRC_BYTES : 0;
  if (!good || crc32(0, std::span(bytes).first(end)) != getAt(bytes, end, 4)) {
    ++damaged_;
    return;
  }
  if (bytes == last_) return;
  Frame frame{
      .kind = static_cast<std::uint8_t>(getAt(bytes, DOJO_HEAD_KIND, 1)),
      .sequence = static_cast<std::uint8_t>(getAt(bytes, DOJO_HEAD_SEQUENCE, 1)),
      .part = static_cast<std::uint16_t>(getAt(bytes, DOJO_HEAD_PART, 2)),
      .body = {bytes.begin() + DOJO_HEAD_BYTES, bytes.begin() + static_cast<std::ptrdiff_t>(end)}};
  last_ = std::move(bytes);
  frames_.push_back(std::move(frame));
}

std::optional<Frame> RecordReader::next() {
  if (frames_.empty()) return std::nullopt;
  Frame frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

}  // namespace dojo::transport
