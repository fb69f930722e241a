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
/// What a command and its answer need beside their bodies, generously.
constexpr std::size_t kFrameBytes = 64;
/// Of commands, and of answers, that are under way.
constexpr std::size_t kMostUnderWay = 16384;
constexpr std::size_t kHelloBytes = 1024;

}  // namespace

Status Device::Link::transmit(const Frame& frame) {
  ++statistics.framesSent;
  const std::vector<std::byte> wire = encode(frame);
  statistics.bytesSent += static_cast<std::int64_t>(wire.size());
  return transport->send(wire, kSendSeconds);
}

Frame Device::Link::begin(const Request& request) {
  bytes = 0;
  answers = 0;
  damagedBefore = decoder.damaged();
  under = 1;
  return {.kind = request.kind, .sequence = ++sequence, .part = 0, .body = request.body};
}

std::size_t Device::Link::weight(const Request& request) {
  return request.body.size() + request.answerBytes + kFrameBytes;
}

double Device::Link::onLine(const Request& request) const {
  const std::size_t size = weight(request);
  return std::max(transport->lineSeconds(size), 2 * pace * static_cast<double>(size));
}

void Device::Link::learn(std::size_t bytesGone, double seconds) {
  pace = std::max(0.9 * pace, seconds / static_cast<double>(bytesGone));
}

Error Device::Link::late(double seconds, const std::string& what) const {
  return {"link.timeout", fmt::format("'{}': waited {:.1f} s for the answer to {}{}",
                                      transport->describe(), seconds, what, heard())};
}

std::optional<Frame> Device::Link::take() {
  while (std::optional<Frame> frame = decoder.next()) {
    statistics.damaged = decoder.damaged();
    const auto age = static_cast<std::uint8_t>(sequence - frame->sequence);
    if (age >= under || frame->kind < DOJO_INFO) continue;
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
    statistics.bytesReceived += static_cast<std::int64_t>(*got);
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

Result<Frame> Device::Link::command(const Request& request, double seconds) {
  const Frame frame = begin(request);
  const double line = onLine(request);
  const double start = clock->now();
  double wait = options.retrySeconds;
  seconds += line;
  for (bool again = false;; again = true) {
    if (again) ++statistics.retries;
    if (Status sent = transmit(frame); !sent) return sent.error();
    const double left = start + seconds - clock->now();
    auto answer = await(std::min(wait + line, std::max(left, 0.0)));
    if (!answer) return answer.error();
    if (answer->has_value()) {
      if (!again) learn(weight(request), clock->now() - start);
      return std::move(**answer);
    }
    if (clock->now() - start >= seconds) return late(seconds, request.what);
    wait = longer(wait);
  }
}

Result<std::vector<Frame>> Device::Link::commands(std::span<const Request> requests,
                                                  double seconds) {
  std::vector<Frame> out(requests.size());
  std::vector<bool> answered(requests.size(), false);
  const auto first = static_cast<std::uint8_t>(sequence + 1);
  const auto most = static_cast<std::size_t>(transport->depth());
  std::size_t sent = 0;   // ever
  std::size_t done = 0;   // all below were executed: an answer to the last of them came
  std::size_t going = 0;  // of those from `done` on, sent since the last loss
  std::size_t underWay = 0;
  double wait = options.retrySeconds, since = clock->now(), line = 0;
  if (most > 1 && requests.size() > 1) {
    begin(requests[0]);
    --sequence;
    while (done < requests.size()) {
      while (done + going < requests.size() && going < most &&
             (going == 0 || underWay + weight(requests[done + going]) <= kMostUnderWay)) {
        const std::size_t i = done + going;
        const auto number = static_cast<std::uint8_t>(first + i);
        if (i < sent) ++statistics.retries;
        const Request& request = requests[i];
        if (Status status = transmit({request.kind, number, 0, request.body}); !status) {
          return status.error();
        }
        sent = std::max(sent, i + 1);
        sequence = static_cast<std::uint8_t>(first + sent - 1);
        under = static_cast<int>(sent - done);
        underWay += weight(request);
        line += onLine(request);
        ++going;
      }
      auto answer = await(wait + line);
      if (!answer) return answer.error();
      if (!answer->has_value()) {
        if (clock->now() - since >= seconds + line) return late(seconds, requests[done].what);
        // The device executes them in order: what comes after a lost one is lost too.
        wait = longer(wait);
        going = underWay = 0;
        continue;
      }
      Frame& frame = **answer;
      const std::size_t i = done + static_cast<std::uint8_t>(frame.sequence - first - done);
      if (i >= sent) continue;
      for (; done <= i; ++done) {
        if (going > 0) {
          --going;
          underWay -= weight(requests[done]);
        }
      }
      if (wait <= options.retrySeconds) learn(weight(requests[i]), clock->now() - since);
      answered[i] = true;
      out[i] = std::move(frame);
      under = std::max(1, static_cast<int>(sent - done));
      wait = options.retrySeconds;
      since = clock->now();
      line = 0;
    }
  }
  // What was executed and whose answer was lost: once more, as a command of its own.
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (answered[i]) continue;
    auto answer = command(requests[i], seconds);
    if (!answer) return answer.error();
    out[i] = std::move(*answer);
  }
  return out;
}

Result<Hello> Device::Link::hello(double seconds) {
  decoder.reset();
  Request request{.kind = DOJO_HELLO, .body = {}, .what = "HELLO", .answerBytes = kHelloBytes};
  put(request.body, DOJO_PROTOCOL_MAGIC, 4);
  put(request.body, DOJO_PROTOCOL_VERSION, 2);
  put(request.body, std::random_device()(), 4);
  auto answer = command(request, seconds);
  if (!answer) return answer.error();
  if (answer->kind != DOJO_INFO) {
    return Error{"link.hello", fmt::format("'{}' answered HELLO with a frame of kind {:#04x}",
                                           transport->describe(), answer->kind)};
  }
  return parseHello(answer->body);
}

Status Device::Link::abort() {
  Frame frame{.kind = DOJO_ABORT, .sequence = sequence, .part = 0, .body = {}};
  put(frame.body, nonce, 8);
  return transmit(frame);
}

Status Device::Link::acknowledge(std::uint32_t next, bool resend) {
  Frame ack{.kind = DOJO_ACK, .sequence = sequence, .part = 0, .body = {}};
  put(ack.body, next, 2);
  put(ack.body, resend ? 1 : 0, 1);
  if (resend) ++statistics.retries;
  return transmit(ack);
}

Result<Frame> Device::Link::call(const std::vector<std::byte>& body, const Call& call,
                                 const Device::OnSample& onSample) {
  const Frame request =
      begin({.kind = DOJO_CALL, .body = body, .what = {}, .answerBytes = kFrameBytes});
  const double line = transport->lineSeconds(body.size() + 4 * kFrameBytes);
  nonce = call.nonce;
  const double start = clock->now();
  const double deadline = start + call.limitSeconds + options.graceSeconds + line;
  double wait = options.retrySeconds;
  std::uint32_t next = 0;   // part that must come now; samples are parts 1, 2, ...
  std::uint32_t acked = 1;  // the device knows that we have all below
  bool stopped = false;
  bool asked = false;  // for what was lost; once a gap
  if (Status sent = transmit(request); !sent) return sent.error();
  while (true) {
    auto got = await(std::min(wait + line, std::max(deadline - clock->now(), 0.0)));
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
        sent = transmit(request);
      } else {
        sent = acknowledge(next, true);
      }
      if (sent && stopped) sent = abort();
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
      sent = abort();
    }
    if (sent && next - acked >= static_cast<std::uint32_t>(window) / 2) {
      sent = acknowledge(next, false);
      acked = next;
    }
    if (!sent) return sent.error();
  }
}

}  // namespace dojo::transport
