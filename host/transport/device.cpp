// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "protocol/protocol.h"
#include "transport/frame.h"
#include "transport/link.h"

namespace dojo::transport {
namespace {

std::uint32_t micros(double seconds) {
  const double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(std::ceil(seconds * 1e6), 0.0, most));
}

std::vector<std::byte> callBody(const Call& call) {
  std::vector<std::byte> body;
  putAt(body, DOJO_CALL_NONCE, call.nonce, 8);
  putAt(body, DOJO_CALL_ENTRY, call.entry, 8);
  putAt(body, DOJO_CALL_TABLES, call.tables, 8);
  putAt(body, DOJO_CALL_RESTORE, call.restore, 8);
  putAt(body, DOJO_CALL_EVICT, call.evict, 8);
  putAt(body, DOJO_CALL_EVICT_BYTES, call.evictBytes, 8);
  putAt(body, DOJO_CALL_SETS, call.sets, 4);
  putAt(body, DOJO_CALL_STRIDE, call.stride, 4);
  putAt(body, DOJO_CALL_WARMUP, call.warmup, 4);
  putAt(body, DOJO_CALL_CALLS, call.calls, 4);
  putAt(body, DOJO_CALL_MIN_TICKS, call.minTicks, 4);
  putAt(body, DOJO_CALL_SAMPLES, call.samples, 4);
  putAt(body, DOJO_CALL_MIN_SAMPLES, call.minSamples, 4);
  putAt(body, DOJO_CALL_BUDGET_US, micros(call.budgetSeconds), 4);
  putAt(body, DOJO_CALL_LIMIT_US, micros(call.limitSeconds), 4);
  putAt(body, DOJO_CALL_HARTS, static_cast<std::uint64_t>(call.harts), 2);
  putAt(body, DOJO_CALL_RESTORES, call.restores, 2);
  putAt(body, DOJO_CALL_COUNTERS, call.counters, 1);
  putAt(body, DOJO_CALL_FLAGS, call.chain ? DOJO_CALL_FLAG_CHAIN : 0, 1);
  return body;
}

const char* causeText(std::uint64_t cause) {
  switch (cause) {
    case DOJO_CAUSE_ILLEGAL:
      return "an illegal instruction";
    case DOJO_CAUSE_ACCESS:
      return "a bad memory access";
    case DOJO_CAUSE_MISALIGNED:
      return "a misaligned access or bus error";
    case DOJO_CAUSE_ARITHMETIC:
      return "an arithmetic trap";
    case DOJO_CAUSE_TIMEOUT:
      return "the time limit";
    case DOJO_CAUSE_STACK:
      return "a return with the stack pointer moved";
    case DOJO_CAUSE_SYSTEM_CALL:
      return "a system call";
    case DOJO_CAUSE_LOST:
      return "a hart that doesn't come back";
    default:
      return "a trap";
  }
}

const char* refusalText(std::uint64_t reason) {
  switch (reason) {
    case DOJO_REFUSED_KIND:
      return "it doesn't know the command";
    case DOJO_REFUSED_LENGTH:
      return "the command has a wrong length";
    case DOJO_REFUSED_MEMORY:
      return "the memory is outside its regions";
    case DOJO_REFUSED_HARTS:
      return "it has fewer harts";
    case DOJO_REFUSED_COUNTERS:
      return "it doesn't have the counters";
    case DOJO_REFUSED_CALL:
      return "sets, samples or sizes of the call are out of range";
    default:
      return "no reason known";
  }
}

std::string address(std::uint64_t value) { return fmt::format("{:#x}", value); }

}  // namespace

Result<std::vector<Frame>> Device::ask(std::span<const Request> requests, std::uint8_t expected) {
  if (Status alive = up(); !alive) return alive.error();
  auto answers = link_->commands(requests, link_->options.answerSeconds);
  if (!answers) return rescued(answers.error());
  for (std::size_t i = 0; i < answers->size(); ++i) {
    const Frame& answer = (*answers)[i];
    if (answer.kind == DOJO_REFUSED) {
      return Error{"load.memory", fmt::format("the device refuses {}: {}", requests[i].what,
                                              refusalText(getAt(answer.body, 0, 1)))};
    }
    if (answer.kind != expected) {
      return Error{"link.answer", fmt::format("the device answered {} with a frame of kind {:#04x}",
                                              requests[i].what, answer.kind)};
    }
  }
  return answers;
}

Result<Frame> Device::ask(const Request& request, std::uint8_t expected) {
  auto answers = ask(std::span(&request, 1), expected);
  if (!answers) return answers.error();
  return std::move(answers->front());
}

Status Device::ping() {
  auto answer = ask({.kind = DOJO_PING, .body = {}, .what = "PING"}, DOJO_OK);
  return answer ? Status() : answer.error();
}

Result<CallDone> Device::call(const Call& call, const OnSample& onSample) {
  if (Status alive = up(); !alive) return alive.error();
  std::uint32_t samples = 0;
  auto last = link_->call(callBody(call), call, [&](const Sample& sample) {
    ++samples;
    return onSample ? onSample(sample) : More::yes;
  });
  if (!last) {
    Error error = last.error();
    if (error.code == "link.ended") {
      error.code = "run.crash";
      error.message += fmt::format(" during a call, after {} samples", samples);
    }
    const std::uint32_t boot = hello_.boot;
    const bool silent = error.code == "run.timeout";
    error = rescued(std::move(error));
    if (silent && hello_.boot != boot && rescuedBy_ == kItself) {
      error.code = "run.crash";
      error.message = "the device restarted during the call: " + error.message;
    }
    return error;
  }
  const std::vector<std::byte>& body = last->body;
  if (last->kind == DOJO_REFUSED) {
    return Error{"run.refused",
                 fmt::format("the device refuses the call: {}", refusalText(getAt(body, 0, 1)))};
  }
  const bool done = last->kind == DOJO_DONE;
  if (!done && last->kind != DOJO_FAULT) {
    return Error{"link.answer",
                 fmt::format("the device answered CALL with a frame of kind {:#04x}", last->kind)};
  }
  const std::uint64_t canary =
      getAt(body, done ? int{DOJO_DONE_CANARY} : int{DOJO_FAULT_CANARY}, 1);
  const std::uint64_t image =
      getAt(body, done ? int{DOJO_DONE_IMAGE_CRC} : int{DOJO_FAULT_IMAGE_CRC}, 4);
  // Of runners before there were bits in it.
  const bool restart = canary == DOJO_CANARY_RESTART;
  const bool broken = canary != 0 && !restart;
  if (broken || image != hello_.imageCrc) {
    return rescued(Error{"run.crash", broken ? "the kernel wrote beyond its stack: a canary is gone"
                                             : "the kernel changed the runner's code or constants"},
                   Need::restart);
  }
  if (done) {
    return CallDone{
        .samples = static_cast<std::uint32_t>(getAt(body, DOJO_DONE_SAMPLES, 4)),
        .calls = static_cast<std::uint32_t>(getAt(body, DOJO_DONE_CALLS, 4)),
        .end = static_cast<CallEnd>(std::min<std::uint64_t>(getAt(body, DOJO_DONE_REASON, 1), 2))};
  }
  const std::uint64_t cause = getAt(body, DOJO_FAULT_CAUSE, 1);
  const std::string where =
      fmt::format("hart {}, sample {}, call {}", getAt(body, DOJO_FAULT_HART, 2),
                  getAt(body, DOJO_FAULT_SAMPLE, 4), getAt(body, DOJO_FAULT_REPEAT, 4));
  const std::string pc = address(getAt(body, DOJO_FAULT_PC, 8));
  if (cause == DOJO_CAUSE_TIMEOUT || cause == DOJO_CAUSE_LOST) {
    Error late{"run.timeout", fmt::format("the kernel didn't return within {:.3g} s (pc {}, {})",
                                          call.limitSeconds, pc, where)};
    if (restart) return rescued(std::move(late), Need::reset);
    return cause == DOJO_CAUSE_LOST ? rescued(std::move(late), Need::restart) : late;
  }
  if (cause == DOJO_CAUSE_COUNTER) {
    return Error{
        "measure.overflow",
        fmt::format("the counter went round more than once: the count isn't known ({})", where)};
  }
  Error fault{"run.fault",
              fmt::format("the kernel ended in {} (pc {}, address {}, {}, number {})",
                          causeText(cause), pc, address(getAt(body, DOJO_FAULT_ADDRESS, 8)), where,
                          getAt(body, DOJO_FAULT_NATIVE, 4))};
  return restart ? rescued(std::move(fault), Need::reset) : fault;
}

}  // namespace dojo::transport
