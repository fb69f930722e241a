// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/hello.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/frame.h"

namespace dojo::transport {
namespace {

using Bytes = std::span<const std::byte>;

std::string text(Bytes bytes) {
  std::string out;
  for (const std::byte byte : bytes) out += static_cast<char>(byte);
  return out;
}

Bytes tail(Bytes bytes, std::size_t from) { return bytes.subspan(std::min(from, bytes.size())); }

void readItem(std::uint64_t tag, Bytes item, Hello& hello) {
  switch (tag) {
    case DOJO_ITEM_PORT:
      hello.port = text(item);
      break;
    case DOJO_ITEM_ISA:
      hello.isa = text(item);
      break;
    case DOJO_ITEM_REGION:
      hello.regions.push_back({.name = text(tail(item, 28)),
                               .base = getAt(item, 0, 8),
                               .size = getAt(item, 8, 8),
                               .offset = getAt(item, 16, 8),
                               .flags = static_cast<unsigned>(getAt(item, 24, 4))});
      break;
    case DOJO_ITEM_COUNTER: {
      const std::string both = text(tail(item, 2));
      const std::size_t zero = std::min(both.find('\0'), both.size());
      hello.counters.push_back(
          {.id = static_cast<int>(getAt(item, 0, 1)),
           .width = static_cast<int>(getAt(item, 1, 1)),
           .name = both.substr(0, zero),
           .remark = zero < both.size() ? both.substr(zero + 1) : std::string()});
      break;
    }
    case DOJO_ITEM_SERVICE:
      hello.services[text(tail(item, 8))] = getAt(item, 0, 8);
      break;
    case DOJO_ITEM_CHAIN:
      hello.chainCycles = static_cast<double>(getAt(item, 0, 4));
      break;
    case DOJO_ITEM_CORES:
      for (std::size_t at = 0; at + 2 <= item.size(); at += 2) {
        hello.cores.push_back(static_cast<int>(getAt(item, at, 2)));
      }
      break;
    default:
      break;  // of a newer runner
  }
}

}  // namespace

Result<Hello> parseHello(Bytes body) {
  if (body.size() < DOJO_INFO_VERSION + 2 ||
      getAt(body, DOJO_INFO_MAGIC, 4) != DOJO_PROTOCOL_MAGIC) {
    return Error{"link.hello", "what answers is not a runner: its HELLO has no magic word"};
  }
  Hello hello;
  hello.version = static_cast<int>(getAt(body, DOJO_INFO_VERSION, 2));
  if (hello.version != static_cast<int>(DOJO_PROTOCOL_VERSION)) {
    return Error{"link.version",
                 fmt::format("the runner speaks protocol version {}, this program version {}; "
                             "install the runner that was built with it",
                             hello.version, DOJO_PROTOCOL_VERSION)};
  }
  if (body.size() < DOJO_INFO_BYTES) {
    return Error{"link.hello", fmt::format("the runner's HELLO has {} bytes, expected at least {}",
                                           body.size(), int{DOJO_INFO_BYTES})};
  }
  hello.pointerBytes = static_cast<int>(getAt(body, DOJO_INFO_POINTER, 1));
  hello.window = static_cast<int>(getAt(body, DOJO_INFO_WINDOW, 1));
  hello.largestFrame = getAt(body, DOJO_INFO_FRAME, 4);
  hello.harts = static_cast<int>(getAt(body, DOJO_INFO_HARTS, 4));
  hello.timerHz = static_cast<double>(getAt(body, DOJO_INFO_TIMER_HZ, 8));
  hello.imageCrc = static_cast<std::uint32_t>(getAt(body, DOJO_INFO_IMAGE_CRC, 4));
  hello.boot = static_cast<std::uint32_t>(getAt(body, DOJO_INFO_BOOT, 4));
  for (std::size_t at = DOJO_INFO_BYTES; at < body.size();) {
    const std::size_t length = getAt(body, at + 1, 2);
    if (at + 3 + length > body.size()) {
      return Error{"link.hello", "the last item of the runner's HELLO is cut"};
    }
    readItem(getAt(body, at, 1), body.subspan(at + 3, length), hello);
    at += 3 + length;
  }
  if (hello.largestFrame < 128 || hello.window < 2 ||
      (hello.pointerBytes != 4 && hello.pointerBytes != 8)) {
    return Error{"link.hello", "the runner's HELLO has impossible limits"};
  }
  return hello;
}

const Region* Hello::region(const std::string& name) const {
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [&](const Region& region) { return region.name == name; });
  return found == regions.end() ? nullptr : &*found;
}

const CounterInfo* Hello::counter(int id) const {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [&](const CounterInfo& counter) { return counter.id == id; });
  return found == counters.end() ? nullptr : &*found;
}

}  // namespace dojo::transport
