// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does the counter count, evenly, and at the rate that the runner says?
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/clock.h"
#include "bringup/steps.h"

namespace dojo::bringup {
namespace {

/// Counts down from the first parameter.
Snippet spin(const char* word) {
  Snippet out;
  out.body = fmt::format(R"(
  %n = load {0}, ptr %params
  br label %spin
spin:
  %i = phi {0} [ %n, %entry ], [ %less, %spin ]
  call void asm sideeffect "", ""()
  %less = sub {0} %i, 1
  %more = icmp ne {0} %less, 0
  br i1 %more, label %spin, label %done
done:
)",
                         word);
  return out;
}

const char* const kDead =
    "this is no timing device: a simulator without a cycle model, or a counter that must be "
    "enabled first (mcountinhibit, DWT.CTRL, PMCR)";

/// What the description says that a counter counts; empty: nothing.
std::string eventOf(const target::Target& target, const std::string& name) {
  for (const target::Counter& counter : target.counters) {
    if (counter.name == name) return counter.event;
  }
  return {};
}

}  // namespace

std::string unit(const target::Target& target, const transport::Hello& hello) {
  const transport::CounterInfo* first = hello.counter(0);
  if (target.cyclesAreTime || first == nullptr) return "ticks";
  const std::string event = eventOf(target, first->name);
  return event.empty() ? first->name : fmt::format("{} ({})", first->name, event);
}

bool countsCycles(const target::Target& target, const transport::Hello& hello) {
  if (target.cyclesAreTime) return true;
  const transport::CounterInfo* first = hello.counter(0);
  return first != nullptr && eventOf(target, first->name) == "cycles";
}

void checkCounters(Lab& lab, Step& step) {
  const transport::Hello& hello = lab.device().hello();
  for (const transport::CounterInfo& counter : hello.counters) {
    step.lines.push_back(counter.width == 0
                             ? fmt::format("{}: not there{}{}", counter.name,
                                           counter.remark.empty() ? "" : ", ", counter.remark)
                             : fmt::format("{}: {} bits{}{}", counter.name, counter.width,
                                           counter.remark.empty() ? "" : ", ", counter.remark));
  }
  const transport::CounterInfo* first = hello.counter(0);
  if (first == nullptr || first->width == 0) {
    return fail(step, "the runner reports no counter 0", "the port must name its time counter");
  }
  // Twice the work must be twice the count, for the quickest of some samples.
  double ticks[3];
  const std::int64_t counts[3] = {2000, 4000, 64000};
  for (int i = 0; i < 3; ++i) {
    Result<Ran> ran = lab.run(spin(lab.word()), {.params = {counts[i]}, .samples = 15});
    if (!ran) return fail(step, ran.error().text(), "see the step before");
    for (const double sample : ran->ticks) {
      if (sample > 1e15) {
        return fail(step,
                    fmt::format("a sample of {:.4g} ticks: the counter runs backwards", sample),
                    "is its width right? is it read in two halves without care?");
      }
    }
    ticks[i] = ran->best();
  }
  if (ticks[2] == 0) {
    return fail(step, fmt::format("{} stands still over {} iterations", first->name, counts[2]),
                kDead);
  }
  const double ratio = ticks[2] / std::max(ticks[1], 1.0) / 16;
  step.seen =
      fmt::format("{}, {} bits: {:.4g}, {:.4g}, {:.4g} for {}, {}, {} iterations", first->name,
                  first->width, ticks[0], ticks[1], ticks[2], counts[0], counts[1], counts[2]);
  if (ratio < 0.8 || ratio > 1.25) {
    return fail(step, step.seen,
                "sixteen times the work isn't sixteen times the count: a counter "
                "that steps coarsely, or one of another clock domain");
  }
  for (const target::Counter& claimed : lab.target().counters) {
    const auto found =
        std::find_if(hello.counters.begin(), hello.counters.end(),
                     [&](const transport::CounterInfo& c) { return c.name == claimed.name; });
    if (found == hello.counters.end() || found->width == 0) {
      step.verdict = Verdict::note;
      step.advice =
          fmt::format("the description names a counter '{}' that the runner hasn't", claimed.name);
    } else if (found->width != claimed.width) {
      return fail(step,
                  fmt::format("'{}' has {} bits by the description and {} by the runner",
                              claimed.name, claimed.width, found->width),
                  "a wrong width makes a wrapped count a small number; correct the description");
    }
  }
}

void checkClock(Lab& lab, Step& step) {
  const transport::Hello& hello = lab.device().hello();
  // Long enough that the link's own time doesn't matter; two lengths, so that it cancels.
  std::int64_t count = 1 << 16;
  double seconds[2] = {0, 0}, ticks[2] = {0, 0};
  while (true) {
    Stopwatch watch;
    Result<Ran> ran = lab.run(spin(lab.word()), {.params = {count}, .limitSeconds = 30});
    if (!ran) return fail(step, ran.error().text(), "see the step before");
    seconds[0] = watch.seconds();
    ticks[0] = ran->best();
    if (seconds[0] > 0.3 || count > (std::int64_t{1} << 29)) break;
    count *= 4;
  }
  Stopwatch watch;
  Result<Ran> ran = lab.run(spin(lab.word()), {.params = {3 * count}, .limitSeconds = 90});
  if (!ran) return fail(step, ran.error().text(), "see the step before");
  seconds[1] = watch.seconds();
  ticks[1] = ran->best();
  const double hz = (ticks[1] - ticks[0]) / std::max(seconds[1] - seconds[0], 1e-6);
  if (!lab.target().cyclesAreTime) {
    step.seen = fmt::format(
        "{:.3g} million {} a second of the host's clock; no time of a device, as "
        "the description says",
        hz / 1e6, unit(lab.target(), hello));
    return;
  }
  if (hello.timerHz == 0) {
    step.verdict = Verdict::note;
    step.seen =
        fmt::format("{:.4g} MHz by the host's clock; the runner doesn't know its rate", hz / 1e6);
    step.advice = "say \"timer\": {\"hz\": ...} in the description, so that times can be told";
    return;
  }
  step.seen = fmt::format("{:.4g} MHz by the host's clock, {:.4g} MHz by the runner", hz / 1e6,
                          hello.timerHz / 1e6);
  if (std::abs(hz / hello.timerHz - 1) > 0.1) {
    fail(step, step.seen,
         "the clock of the counter isn't the one described, or it changes while "
         "running (frequency scaling)");
  }
}

}  // namespace dojo::bringup
