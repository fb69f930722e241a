// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's memory: shared, through a back door, or by frames.
#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/device.h"
#include "transport/frame.h"
#include "transport/link.h"

namespace dojo::transport {
namespace {

constexpr std::size_t kMostRead = 16384;
/// Shorter pieces cost less to write than to ask for.
constexpr std::size_t kWorthAsking = 64;
/// Longer pieces are asked for and written in parts.
constexpr std::size_t kBlock = 1024;

Request request(std::uint8_t kind, std::uint64_t address, std::uint64_t size, int sizeBytes,
                const char* what) {
  Request out;
  out.kind = kind;
  put(out.body, address, 8);
  put(out.body, size, sizeBytes);
  out.what = fmt::format("{} of {} bytes at {:#x}", what, size, address);
  return out;
}

}  // namespace

std::span<std::byte> Device::view(std::uint64_t at, std::uint64_t size) {
  const SharedMemory shared = link_->transport->shared();
  if (shared.bytes.empty()) return {};
  std::vector<Window> windows;
  if (shared.windows.empty()) {
    for (const Region& region : hello_.regions) {
      if ((region.flags & DOJO_REGION_SHARED) == 0) continue;
      windows.push_back({region.base, region.size, region.offset});
    }
  } else if (allowed(at, size, DOJO_REGION_READ)) {
    windows = shared.windows;
  }
  for (const Window& window : windows) {
    if (at < window.address || at - window.address > window.size ||
        size > window.size - (at - window.address)) {
      continue;
    }
    const std::uint64_t offset = window.offset + (at - window.address);
    if (offset > shared.bytes.size() || size > shared.bytes.size() - offset) return {};
    return shared.bytes.subspan(offset, size);
  }
  return {};
}

Status Device::allowed(std::uint64_t at, std::uint64_t size, unsigned flags) const {
  const bool inside =
      std::any_of(hello_.regions.begin(), hello_.regions.end(), [&](const Region& region) {
        return (region.flags & flags) == flags && (region.flags & DOJO_REGION_STACK) == 0 &&
               at >= region.base && at - region.base <= region.size &&
               size <= region.size - (at - region.base);
      });
  if (inside) return {};
  return Error{"load.memory",
               fmt::format("{} bytes at {:#x} are outside the device's regions", size, at)};
}

Status Device::write(std::uint64_t at, std::span<const std::byte> bytes) {
  const Piece piece{at, bytes};
  return write(std::span(&piece, 1));
}

Status Device::write(std::span<const Piece> pieces) {
  const bool backDoor = link_->transport->hasBackDoor();
  const std::size_t most =
      hello_.largestFrame - DOJO_HEAD_BYTES - DOJO_CRC_BYTES - DOJO_WRITE_BYTES;
  std::vector<Request> requests;
  for (const Piece& piece : pieces) {
    if (piece.bytes.empty()) continue;
    if (const std::span<std::byte> direct = view(piece.address, piece.bytes.size());
        !direct.empty()) {
      std::memcpy(direct.data(), piece.bytes.data(), piece.bytes.size());
      continue;
    }
    if (backDoor) {
      if (Status alive = up(); !alive) return alive;
      Status done = allowed(piece.address, piece.bytes.size(), DOJO_REGION_WRITE);
      if (!done) return done;
      done = link_->transport->poke(piece.address, piece.bytes);
      if (!done) return rescued(done.error());
      continue;
    }
    for (std::size_t from = 0; from < piece.bytes.size(); from += most) {
      const auto part = piece.bytes.subspan(from, std::min(most, piece.bytes.size() - from));
      Request one;
      one.kind = DOJO_WRITE;
      put(one.body, piece.address + from, 8);
      one.body.insert(one.body.end(), part.begin(), part.end());
      one.what = fmt::format("WRITE of {} bytes at {:#x}", part.size(), piece.address + from);
      requests.push_back(std::move(one));
    }
  }
  if (requests.empty()) return {};
  auto answers = ask(requests, DOJO_OK);
  return answers ? Status() : answers.error();
}

Status Device::read(std::uint64_t at, std::span<std::byte> into) {
  if (into.empty()) return {};
  if (const std::span<std::byte> direct = view(at, into.size()); !direct.empty()) {
    std::memcpy(into.data(), direct.data(), into.size());
    return {};
  }
  if (link_->transport->hasBackDoor()) {
    if (Status alive = up(); !alive) return alive;
    Status done = allowed(at, into.size(), DOJO_REGION_READ);
    if (!done) return done;
    done = link_->transport->peek(at, into);
    return done ? done : rescued(done.error());
  }
  const std::size_t most = std::min<std::size_t>(hello_.largestFrame, kMostRead + 64) - 64;
  std::vector<Request> requests;
  for (std::size_t from = 0; from < into.size(); from += most) {
    const std::size_t take = std::min(most, into.size() - from);
    requests.push_back(request(DOJO_READ, at + from, take, 4, "READ"));
    requests.back().answerBytes = take;
  }
  auto answers = ask(requests, DOJO_DATA);
  if (!answers) return answers.error();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::vector<std::byte>& bytes = (*answers)[i].body;
    if (bytes.size() != requests[i].answerBytes) {
      return Error{"link.answer", fmt::format("{} gave {} bytes", requests[i].what, bytes.size())};
    }
    std::memcpy(into.data() + i * most, bytes.data(), bytes.size());
  }
  return {};
}

Status Device::fill(std::uint64_t at, std::uint64_t size, std::byte value) {
  const Filling filling{at, size, value};
  return fill(std::span(&filling, 1));
}

Status Device::fill(std::span<const Filling> fillings) {
  std::vector<Request> requests;
  for (const Filling& one : fillings) {
    if (one.size == 0) continue;
    if (const std::span<std::byte> direct = view(one.address, one.size); !direct.empty()) {
      std::memset(direct.data(), std::to_integer<int>(one.value), one.size);
      continue;
    }
    requests.push_back(request(DOJO_FILL, one.address, one.size, 8, "FILL"));
    requests.back().body.push_back(one.value);
  }
  if (requests.empty()) return {};
  auto answers = ask(requests, DOJO_OK);
  return answers ? Status() : answers.error();
}

Result<std::uint32_t> Device::crc(std::uint64_t at, std::uint64_t size) {
  const Range range{at, size};
  auto all = crcs(std::span(&range, 1));
  if (!all) return all.error();
  return all->front();
}

Result<std::vector<std::uint32_t>> Device::crcs(std::span<const Range> ranges) {
  std::vector<Request> requests;
  std::vector<std::size_t> asked;
  std::vector<std::uint32_t> out(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (range.size > std::numeric_limits<std::uint32_t>::max()) {
      return Error{"load.memory", "CRC of more than 4 GiB at once"};
    }
    if (const std::span<std::byte> direct = view(range.address, range.size); !direct.empty()) {
      out[i] = crc32(0, direct);
      continue;
    }
    asked.push_back(i);
    requests.push_back(request(DOJO_CRC, range.address, range.size, 4, "CRC"));
  }
  if (requests.empty()) return out;
  auto answers = ask(requests, DOJO_CRC_IS);
  if (!answers) return answers.error();
  for (std::size_t k = 0; k < asked.size(); ++k) {
    out[asked[k]] = static_cast<std::uint32_t>(getAt((*answers)[k].body, 0, 4));
  }
  return out;
}

Result<std::vector<bool>> Device::holds(std::span<const Piece> pieces) {
  std::vector<bool> out(pieces.size(), true);
  std::vector<std::size_t> asked;
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::span<const std::byte> bytes = pieces[i].bytes;
    if (bytes.empty()) continue;
    if (const std::span<std::byte> direct = view(pieces[i].address, bytes.size());
        !direct.empty()) {
      out[i] = std::memcmp(direct.data(), bytes.data(), bytes.size()) == 0;
      continue;
    }
    // Neighbours are asked for together.
    const bool joins = !ranges.empty() && asked.back() + 1 == i &&
                       ranges.back().address + ranges.back().size == pieces[i].address;
    if (joins) {
      ranges.back().size += bytes.size();
    } else {
      ranges.push_back({pieces[i].address, bytes.size()});
    }
    asked.push_back(i);
  }
  auto there = crcs(ranges);
  if (!there) return there.error();
  std::size_t next = 0;
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    const std::size_t first = next;
    std::uint32_t crc = 0;
    for (std::uint64_t size = 0; size < ranges[k].size; ++next) {
      crc = crc32(crc, pieces[asked[next]].bytes);
      size += pieces[asked[next]].bytes.size();
    }
    if (crc == (*there)[k]) continue;
    if (next == first + 1) {
      out[asked[first]] = false;
      continue;
    }
    // One by one, to tell which.
    for (std::size_t i = first; i < next; ++i) {
      const Piece& piece = pieces[asked[i]];
      auto one = Device::crc(piece.address, piece.bytes.size());
      if (!one) return one.error();
      out[asked[i]] = *one == crc32(0, piece.bytes);
    }
  }
  return out;
}

Status Device::update(std::span<const Piece> pieces) {
  std::vector<Piece> wanted, asked;
  std::vector<Range> ranges;
  for (const Piece& piece : pieces) {
    const bool direct = !view(piece.address, piece.bytes.size()).empty();
    if (direct || piece.bytes.size() < kWorthAsking) {
      wanted.push_back(piece);
      continue;
    }
    for (std::size_t from = 0; from < piece.bytes.size(); from += kBlock) {
      const std::size_t take = std::min(kBlock, piece.bytes.size() - from);
      asked.push_back({piece.address + from, piece.bytes.subspan(from, take)});
      ranges.push_back({piece.address + from, take});
    }
  }
  auto there = crcs(ranges);
  if (!there) return there.error();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if ((*there)[i] == crc32(0, asked[i].bytes)) continue;
    // Neighbours go together.
    const bool joins =
        !wanted.empty() && wanted.back().address + wanted.back().bytes.size() == asked[i].address &&
        wanted.back().bytes.data() + wanted.back().bytes.size() == asked[i].bytes.data();
    if (joins) {
      wanted.back().bytes = {wanted.back().bytes.data(),
                             wanted.back().bytes.size() + asked[i].bytes.size()};
    } else {
      wanted.push_back(asked[i]);
    }
  }
  return write(wanted);
}

}  // namespace dojo::transport
