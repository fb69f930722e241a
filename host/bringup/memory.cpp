// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Echo, march test (C-) and address lines.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/clock.h"
#include "bringup/steps.h"
#include "protocol/protocol.h"
#include "transport/frame.h"

namespace dojo::bringup {
namespace {

constexpr double kMarchSeconds = 2;

std::vector<std::byte> randomBytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// One element of a march: over %n words of %base, upwards or down, reads what is expected, writes.
/// results: errors, address of the first, what was there, what was expected.
constexpr const char* kElement = R"(
define internal void @element(ptr %base, {W} %n, i1 %down, i1 %reads, i32 %expect, i1 %writes,
                              i32 %value, ptr %results) noinline {{
entry:
  %last = sub {W} %n, 1
  br label %loop
loop:
  %i = phi {W} [ 0, %entry ], [ %next, %step ]
  %back = sub {W} %last, %i
  %at = select i1 %down, {W} %back, {W} %i
  %p = getelementptr i32, ptr %base, {W} %at
  br i1 %reads, label %read, label %write
read:
  %found = load volatile i32, ptr %p
  %same = icmp eq i32 %found, %expect
  br i1 %same, label %write, label %bad
bad:
  %errors = load i64, ptr %results
  %more = add i64 %errors, 1
  store i64 %more, ptr %results
  %first = icmp eq i64 %errors, 0
  br i1 %first, label %record, label %write
record:
  %r1 = getelementptr i64, ptr %results, i32 1
  %where = ptrtoint ptr %p to i64
  store i64 %where, ptr %r1
  %r2 = getelementptr i64, ptr %results, i32 2
  %found64 = zext i32 %found to i64
  store i64 %found64, ptr %r2
  %r3 = getelementptr i64, ptr %results, i32 3
  %expect64 = zext i32 %expect to i64
  store i64 %expect64, ptr %r3
  br label %write
write:
  br i1 %writes, label %store, label %step
store:
  store volatile i32 %value, ptr %p
  br label %step
step:
  %next = add {W} %i, 1
  %end = icmp eq {W} %next, %n
  br i1 %end, label %out, label %loop
out:
  ret void
}}
)";

/// March C-: (w0) up(r0 w1) up(r1 w0) down(r0 w1) down(r1 w0) (r0), as A. J. van de Goor, Using
/// March Tests to Test SRAMs (1993), names it; 0 is `background`, 1 its complement.
Snippet march(const char* word, std::uint32_t background) {
  const auto zero = static_cast<std::int32_t>(background);
  const std::int32_t one = ~zero;
  struct Element {
    bool down, reads;
    std::int32_t expect;
    bool writes;
    std::int32_t value;
  };
  const Element elements[] = {{false, false, 0, true, zero},  {false, true, zero, true, one},
                              {false, true, one, true, zero}, {true, true, zero, true, one},
                              {true, true, one, true, zero},  {false, true, zero, false, 0}};
  Snippet out;
  out.body = fmt::format("  %n = load {}, ptr %params\n", word);
  for (int i = 0; i < 4; ++i) {
    out.body += fmt::format("  %z{0} = getelementptr i64, ptr %results, i32 {0}\n", i);
    out.body += fmt::format("  store i64 0, ptr %z{}\n", i);
  }
  for (const Element& e : elements) {
    out.body += fmt::format(
        "  call void @element(ptr %work, {} %n, i1 {}, i1 {}, i32 {}, i1 {}, i32 {}, ptr "
        "%results)\n",
        word, e.down, e.reads, e.expect, e.writes, e.value);
  }
  out.declarations = fmt::format(kElement, fmt::arg("W", word));
  return out;
}

/// False: `step` says what is wrong.
bool marches(Lab& lab, std::uint64_t base, std::uint64_t bytes, double limit, Step& step) {
  for (const std::uint32_t background : {0U, 0x55555555U}) {
    Result<Ran> ran =
        lab.run(march(lab.word(), background), {.params = {static_cast<std::int64_t>(bytes / 4)},
                                                .results = 4,
                                                .work = base,
                                                .limitSeconds = limit});
    if (!ran) {
      fail(step, ran.error().text(),
           "does the memory answer at all these addresses? check origin and length");
      return false;
    }
    if (ran->results[0] != 0) {
      fail(step,
           fmt::format("{} words are wrong; the first at {:#x} holds {:#010x} instead of {:#010x}",
                       ran->results[0], ran->results[1], ran->results[2], ran->results[3]),
           "check the memory's length, its controller's set-up and its data lines; a fault at one "
           "bit is a line, at all of them a hole");
      return false;
    }
  }
  return true;
}

/// Distinct values at all power-of-two distances.
bool lines(Lab& lab, std::uint64_t base, std::uint64_t bytes, Step& step) {
  std::vector<std::uint64_t> offsets = {0};
  for (std::uint64_t bit = 8; bit + 8 <= bytes; bit *= 2) offsets.push_back(bit);
  const auto value = [](std::uint64_t offset) { return offset * 0x9e3779b97f4a7c15U ^ 0xd0d0; };
  for (const std::uint64_t offset : offsets) {
    std::vector<std::byte> bytesOf;
    transport::put(bytesOf, value(offset), 8);
    if (Status written = lab.device().write(base + offset, bytesOf); !written) {
      fail(step, written.error().text(), "check the region in the description");
      return false;
    }
  }
  for (const std::uint64_t offset : offsets) {
    std::vector<std::byte> found(8);
    if (Status read = lab.device().read(base + offset, found); !read) {
      fail(step, read.error().text(), "check the region in the description");
      return false;
    }
    const std::uint64_t got = transport::getAt(found, 0, 8);
    if (got == value(offset)) continue;
    std::string whose = "nothing that was written";
    for (const std::uint64_t other : offsets) {
      if (value(other) == got) whose = fmt::format("what was written at {:#x}", base + other);
    }
    fail(step, fmt::format("{:#x} holds {}", base + offset, whose),
         "an address line is stuck or joined, or the memory is smaller than described and wraps");
    return false;
  }
  return true;
}

}  // namespace

void checkEcho(Lab& lab, Step& step) {
  const std::uint64_t overhead = DOJO_HEAD_BYTES + DOJO_CRC_BYTES + DOJO_WRITE_BYTES;
  const std::uint64_t most =
      std::min<std::uint64_t>(lab.device().hello().largestFrame, lab.workBytes()) - overhead;
  const std::int64_t before = lab.device().statistics().damaged;
  std::uint64_t bytes = 0;
  Stopwatch watch;
  for (unsigned round = 0; round < 8; ++round) {
    std::vector<std::byte> sent = randomBytes(most, round + 1);
    // What framing minds most: delimiters, and their absence.
    if (round == 6) std::fill(sent.begin(), sent.end(), std::byte{0});
    if (round == 7) std::fill(sent.begin(), sent.end(), std::byte{0xff});
    std::vector<std::byte> back(sent.size());
    Status done = lab.writeWork(sent);
    if (done) done = lab.readWork(back);
    if (!done) {
      return fail(
          step, done.error().text(),
          "a smaller frame_bytes; flow control; a receive buffer of the UART that overruns");
    }
    if (back != sent) {
      return fail(step, fmt::format("{} bytes came back changed", most),
                  "two devices on one line? caches between the debug port and the hart?");
    }
    bytes += 2 * sent.size();
  }
  const double seconds = std::max(watch.seconds(), 1e-9);
  const std::int64_t damaged = lab.device().statistics().damaged - before;
  step.seen =
      fmt::format("8 frames of {} bytes came back whole, {:.3g} KB/s, {} damaged on the way", most,
                  static_cast<double>(bytes) / seconds / 1e3, damaged);
  if (damaged > 0) {
    step.verdict = Verdict::note;
    step.advice =
        "the link works because it repeats; a lower baud rate or a better ground may help";
  }
}

void checkMemory(Lab& lab, const transport::Region& region, bool full, Step& step) {
  if ((region.flags & DOJO_REGION_WRITE) == 0) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("kernels can't write to '{}'", region.name);
    return;
  }
  // The test itself lies at the start of code and data; the echo has been through there.
  std::uint64_t base = region.base;
  if (region.name == "code") base += Lab::codeBytes();
  if (region.name == "data") base = lab.workBase();
  const std::uint64_t bytes = (region.base + region.size - base) / 8 * 8;
  if (bytes < 16) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("nothing of '{}' is free of the test itself", region.name);
    return;
  }
  if (!lines(lab, base, bytes, step)) return;
  // A small piece tells how long all of it takes.
  const std::uint64_t piece = std::min<std::uint64_t>(bytes, 64 << 10);
  Stopwatch watch;
  if (!marches(lab, base, piece, 60, step)) return;
  const double each = std::max(watch.seconds(), 1e-6) / static_cast<double>(piece);
  std::uint64_t tested = bytes;
  if (!full && each * static_cast<double>(bytes) > kMarchSeconds) {
    tested =
        std::max<std::uint64_t>(piece, static_cast<std::uint64_t>(kMarchSeconds / each) / 8 * 8);
    tested = std::min(tested, bytes);
  }
  const double limit = 60 + 10 * each * static_cast<double>(tested);
  if (tested > piece && !marches(lab, base, tested, limit, step)) return;
  step.seen = fmt::format("march C- over {} of {} bytes from {:#x}, and every address line", tested,
                          bytes, base);
  if (tested < bytes) {
    step.verdict = Verdict::note;
    step.advice = "--full marches over all of it";
  }
}

}  // namespace dojo::bringup
