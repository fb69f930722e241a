// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/link.h"

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/hello.h"

namespace dojo::transport {
namespace {

constexpr double kSendSeconds = 10;

}  // namespace

Status Device::Link::transmit(const Frame& frame, double seconds) {
  ++statistics.framesSent;
  return transport->send(encode(frame), seconds);
}

Frame Device::Link::begin(std::uint8_t kind, const std::vector<std::byte>& body) {
  bytes = 0;
  answers = 0;
  damagedBefore = decoder.damaged();
  return {.kind = kind, .sequence = ++sequence, .part = 0, .body = body};
}

std::optional<Frame> Device::Link::take() {
  while (std::optional<Frame> frame = decoder.next()) {
    statistics.damaged = decoder.damaged();
    if (frame->sequence != sequence || frame->kind < DOJO_INFO) continue;
    ++statistics.framesReceived;
    ++answers;
    return frame;
  }
  statistics.damaged = decoder.damaged();
  return std::nullopt;
}

Result<std::optional<Frame>> Device::Link::await(double seconds) {
  if (std::optional<Frame> frame = take()) return frame;
  const double deadline = clock->now() + seconds;
  std::array<std::byte, 65536> chunk;
  while (true) {
    // At least one look: where this process was stopped meanwhile, the answer is there already.
    const double left = deadline - clock->now();
    const auto got = transport->receive(chunk, std::max(left, 0.0));
    if (!got) return got.error();
    bytes += *got;
    decoder.feed(std::span(chunk).first(*got));
    if (std::optional<Frame> frame = take()) return frame;
    if (left <= 0) return std::optional<Frame>();
  }
}

std::string Device::Link::heard() const {
  if (bytes == 0) return "; nothing came";
  return fmt::format("; {} bytes came, {} answers and {} damaged frames among them", bytes, answers,
                     decoder.damaged() - damagedBefore);
}

Result<Frame> Device::Link::command(std::uint8_t kind, const std::vector<std::byte>& body,
                                    double seconds, const std::string& what) {
  const Frame frame = begin(kind, body);
  const double start = clock->now();
  double wait = options.retrySeconds;
  for (bool again = false;; again = true) {
    if (again) ++statistics.retries;
    if (Status sent = transmit(frame, kSendSeconds); !sent) return sent.error();
    const double left = start + seconds - clock->now();
    auto answer = await(std::min(wait, std::max(left, 0.0)));
    if (!answer) return answer.error();
    if (answer->has_value()) return std::move(**answer);
    if (clock->now() - start >= seconds) {
      return Error{"link.timeout", fmt::format("'{}': waited {:.1f} s for the answer to {}{}",
                                               transport->describe(), seconds, what, heard())};
    }
    wait = longer(wait);
  }
}

Result<Hello> Device::Link::hello() {
  decoder.reset();
  std::vector<std::byte> body;
  put(body, DOJO_PROTOCOL_MAGIC, 4);
  put(body, DOJO_PROTOCOL_VERSION, 2);
  put(body, std::random_device()(), 4);
  auto answer = command(DOJO_HELLO, body, options.helloSeconds, "HELLO");
  if (!answer) return answer.error();
  if (answer->kind != DOJO_INFO) {
    return Error{"link.hello", fmt::format("'{}' answered HELLO with a frame of kind {:#04x}",
                                           transport->describe(), answer->kind)};
  }
  return parseHello(answer->body);
}

Status Device::Link::acknowledge(std::uint32_t next, bool resend) {
  Frame ack{.kind = DOJO_ACK, .sequence = sequence, .part = 0, .body = {}};
  put(ack.body, next, 2);
  put(ack.body, resend ? 1 : 0, 1);
  if (resend) ++statistics.retries;
  return transmit(ack, kSendSeconds);
}

Result<Frame> Device::Link::call(const std::vector<std::byte>& body, const Call& call,
                                 const Device::OnSample& onSample) {
  const Frame request = begin(DOJO_CALL, body);
  const double start = clock->now();
  const double deadline = start + call.limitSeconds + options.graceSeconds;
  double wait = options.retrySeconds;
  std::uint32_t next = 0;   // part that must come now; samples are parts 1, 2, ...
  std::uint32_t acked = 1;  // the device knows that we have all below
  bool stopped = false;
  bool asked = false;  // for what was lost; once a gap
  if (Status sent = transmit(request, kSendSeconds); !sent) return sent.error();
  while (true) {
    auto got = await(std::min(wait, std::max(deadline - clock->now(), 0.0)));
    if (!got) return got.error();
    if (!got->has_value()) {
      if (clock->now() >= deadline) {
        return Error{"run.timeout", fmt::format("the kernel didn't return within {:.3g} s and the "
                                                "device didn't stop it either{}",
                                                call.limitSeconds, heard())};
      }
      wait = longer(wait);
      asked = false;
      Status sent;
      if (next == 0) {
        ++statistics.retries;
        sent = transmit(request, kSendSeconds);
      } else {
        sent = acknowledge(next, true);
      }
      if (sent && stopped) {
        Frame abort{.kind = DOJO_ABORT, .sequence = sequence, .part = 0, .body = {}};
        put(abort.body, call.nonce, 8);
        sent = transmit(abort, kSendSeconds);
      }
      if (!sent) return sent.error();
      continue;
    }
    Frame& frame = **got;
    if (frame.part < next) continue;  // came before
    const bool refused = frame.kind == DOJO_REFUSED;
    if (frame.part > next) {
      if (!asked) {
        if (Status sent = acknowledge(next, true); !sent) return sent.error();
        asked = true;
      }
      continue;
    }
    wait = options.retrySeconds;
    asked = false;
    if (refused) return std::move(frame);
    if (frame.kind == DOJO_STARTED) {
      next = 1;
      continue;
    }
    if (getAt(frame.body, 0, 8) != call.nonce) continue;
    if (frame.kind != DOJO_SAMPLE) return std::move(frame);
    next = frame.part + 1U;
    Sample sample{.index = static_cast<std::uint32_t>(getAt(frame.body, DOJO_SAMPLE_INDEX, 4)),
                  .calls = static_cast<std::uint32_t>(getAt(frame.body, DOJO_SAMPLE_CALLS, 4)),
                  .ticks = getAt(frame.body, DOJO_SAMPLE_TICKS, 8),
                  .chain = getAt(frame.body, DOJO_SAMPLE_CHAIN, 8),
                  .counters = {}};
    std::size_t at = DOJO_SAMPLE_COUNTERS;
    for (int id = 1; id < 8; ++id) {
      if ((call.counters >> id & 1U) == 0) continue;
      sample.counters[id] = getAt(frame.body, at, 8);
      at += 8;
    }
    const bool more = !onSample || onSample(sample) == More::yes;
    Status sent;
    if (!more && !stopped) {
      stopped = true;
      Frame abort{.kind = DOJO_ABORT, .sequence = sequence, .part = 0, .body = {}};
      put(abort.body, call.nonce, 8);
      sent = transmit(abort, kSendSeconds);
    }
    if (sent && next - acked >= static_cast<std::uint32_t>(window) / 2) {
      sent = acknowledge(next, false);
      acked = next;
    }
    if (!sent) return sent.error();
  }
}

}  // namespace dojo::transport
