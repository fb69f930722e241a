// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "measure/layout.h"
#include "measure/statistics.h"

namespace dojo::measure {
namespace {

using transport::Call;
using transport::Device;
using transport::Sample;

constexpr int kSlots = 8;
constexpr std::uint64_t kSlotAlign = 4096;
/// Samples that are taken even when the budget is spent; one where a call lasts longer than this.
constexpr std::uint32_t kLeastSamples = 3;
constexpr double kLongCallSeconds = 1;
/// A kernel that takes longer is judged hopeless by its first call where that is this many times
/// beyond the best; a shorter one is too much slowed there by cold caches.
constexpr double kHopelessSeconds = 1e-3;
constexpr double kHopelessFactor = 3;
/// Racing needs this many samples.
constexpr std::size_t kRaceSamples = 5;

/// Each input set runs once, and that is all that a candidate needs; see runEach().
bool countsExactly(const target::Target& target, const transport::Hello& hello) {
  const transport::CounterInfo* used = hello.counter(0);
  if (target.cyclesAreTime || used == nullptr) return false;
  // What an emulator's clock shows is no count of what it did.
  return std::any_of(target.counters.begin(), target.counters.end(), [&](const auto& counter) {
    return counter.name == used->name &&
           (counter.event.starts_with("cycles") || counter.event.starts_with("instructions"));
  });
}

Failure failure(const Error& error) {
  const std::string kind = error.code.substr(0, error.code.find('.'));
  Stage stage = Stage::run;
  if (kind == "verify") stage = Stage::verify;
  if (kind == "link") stage = Stage::link;
  if (kind == "load") stage = Stage::load;
  std::string detail = error.message;
  if (!error.detail.empty()) detail += "\n" + error.detail;
  return {.stage = stage, .code = error.code, .detail = detail};
}

}  // namespace

struct Session::State {
  Device* device = nullptr;
  Options options;
  Compare compare;
  std::unique_ptr<Layout> layout;
  double hz = 0;
  double empty = 0;
  double least = 0;
  std::uint64_t nonce = 0;
  int generation = 0;
  bool dirty = false;  // a kernel may have changed what others find
  /// The same call always counts the same. The layout's first set is then the last of the caller's,
  /// and the caller's first set comes after it.
  bool exact = false;

  std::string counter() const;
  /// Ticks of one call of a sample, the cost of calling subtracted. What can't be told from an
  /// empty call counts one tick; a counter that doesn't count gives 0.
  double perCall(const Sample& sample) const {
    if (sample.ticks == 0) return 0;
    return std::max(1.0, static_cast<double>(sample.ticks) / sample.calls - empty);
  }
  /// Of the shortest of these calls; 0: not known.
  double secondsOf(const std::vector<Sample>& calls) const {
    std::uint64_t ticks = std::numeric_limits<std::uint64_t>::max();
    for (const Sample& call : calls) ticks = std::min(ticks, call.ticks);
    return hz > 0 ? static_cast<double>(ticks) / hz : 0;
  }
  /// Lets the runner choose the calls in a sample, or one call where each needs cold caches.
  void fillSamples(Call& call) const {
    call.calls = options.coldCache ? 1 : 0;
    call.minTicks = static_cast<std::uint32_t>(std::min(options.sampleSeconds * hz, 4e9));
  }
  bool hasChain() const { return !exact && device->hello().chainCycles > 0; }
  CodeSlot slot(int index) const;
  Status prepare();
  Status load(const Kernel& kernel);
  Call newCall(const Kernel& kernel);
  Result<std::vector<Sample>> verify(const Kernel& kernel, int firstSet, int count,
                                     Measurement& into, TimeSplit& time);
  Status time(const Kernel& kernel, double secondsOfCall, const Race& race, Measurement& into);
  Status runEach(const Kernel& kernel, const Race& race, Measurement& into, TimeSplit& time);
  Status verifyAndTime(const Kernel& kernel, const Race& race, Measurement& into, TimeSplit& time);
  Status check(int firstSet, int count, Measurement& into);
  /// The set that is timed, and the caller's number of a set.
  int timed() const { return exact ? 1 : 0; }
  int numberOf(int set) const { return exact ? (set + layout->sets() - 1) % layout->sets() : set; }
  void add(const Sample& sample, Measurement& into) const;
  static void conclude(Measurement& into);
  Status measureEmpty();
  Outcome evaluate(const Kernel& kernel, const Race& race);
  Result<Pairing> compareAB(const Kernel& a, const Kernel& b, int pairs);
};

std::string Session::State::counter() const {
  const transport::CounterInfo* info = device->hello().counter(0);
  return info == nullptr ? "ticks" : info->name;
}

CodeSlot Session::State::slot(int index) const {
  const transport::Region* code = device->hello().region("code");
  const std::uint64_t each = code->size / kSlots / kSlotAlign * kSlotAlign;
  return {.base = code->base + static_cast<std::uint64_t>(index) * each, .capacity = each};
}

/// Brings device memory into the state that kernels expect.
Status Session::State::prepare() {
  const bool restarted = device->generation() != generation;
  if (!restarted && !dirty) return {};
  Status done = layout->upload();
  if (done) {
    generation = device->generation();
    dirty = false;
  }
  return done;
}

Status Session::State::load(const Kernel& kernel) {
  const CodeSlot place = slot(kernel.slot);
  if (kernel.bytes.size() > place.capacity) {
    return Error{"load.size", fmt::format("the kernel's code has {} bytes and there is room for {}",
                                          kernel.bytes.size(), place.capacity)};
  }
  Status done = prepare();
  if (done) done = device->write(place.base, kernel.bytes);
  if (done) done = layout->place(kernel.arguments, kernel.scratchBytes);
  return done;
}

Call Session::State::newCall(const Kernel& kernel) {
  Call call;
  call.nonce = ++nonce;
  call.entry = kernel.entry;
  call.harts = options.harts;
  call.chain = hasChain();
  call.limitSeconds = options.limitSeconds;
  return call;
}

void Session::State::add(const Sample& sample, Measurement& into) const {
  const double ticks = perCall(sample);
  into.callsPerSample = sample.calls;
  into.samples.push_back(ticks);
  if (sample.chain != 0) into.ratios.push_back(ticks / static_cast<double>(sample.chain));
}

void Session::State::conclude(Measurement& into) {
  const bool byRatio = into.ratios.size() == into.samples.size();
  const Summary raw = summarize(into.samples);
  const Summary judged = byRatio ? summarize(into.ratios) : raw;
  into.cycles = raw.median;
  into.score = judged.median;
  into.spread = judged.spread;
}

/// One call on each of the input sets, everything checked. The samples tell roughly how long a call
/// takes.
Result<std::vector<Sample>> Session::State::verify(const Kernel& kernel, int firstSet, int count,
                                                   Measurement& into, TimeSplit& time) {
  Stopwatch watch;
  if (Status poisoned = layout->poison(firstSet, count); !poisoned) return poisoned.error();
  time.transfer += watch.restart();
  Call call = newCall(kernel);
  call.samples = static_cast<std::uint32_t>(count);
  layout->aim(call, firstSet, count, options.coldCache);
  std::vector<Sample> samples;
  auto done = device->call(call, [&](const Sample& sample) {
    samples.push_back(sample);
    return Device::More::yes;
  });
  if (!done) return done.error();
  if (Status right = check(firstSet, count, into); !right) return right.error();
  time.verify += watch.restart();
  return samples;
}

/// What the calls on these sets left.
Status Session::State::check(int firstSet, int count, Measurement& into) {
  if (Status intact = layout->checkIntact(firstSet, count); !intact) return intact;
  for (int set = firstSet; set < firstSet + count; ++set) {
    auto outputs = layout->outputs(set);
    if (!outputs) return outputs.error();
    auto compared = compare(numberOf(set), *outputs);
    if (!compared) return compared.error();
    into.worstError = std::max(into.worstError, compared->worstError);
    into.comparedElements += compared->elements;
    into.skippedElements += compared->skipped;
  }
  return {};
}

/// Where the same call always counts the same: a call on each set, the first of which warms, the
/// second counts, and those after it show that what was timed still computes.
Status Session::State::runEach(const Kernel& kernel, const Race& race, Measurement& into,
                               TimeSplit& time) {
  Stopwatch watch;
  const int sets = layout->sets();
  if (Status poisoned = layout->poison(0, sets); !poisoned) return poisoned;
  time.transfer += watch.restart();
  // The warming call shows that the kernel returns: the others may take so many times as long.
  const bool restored = layout->restore(0, sets);
  Call call = newCall(kernel);
  layout->aim(call, 0, 1, false);
  if (restored) call.restores = 0;
  if (auto warm = device->call(call, {}); !warm) {
    time.run += watch.restart();
    return warm.error();
  }
  // After the one that counts there is one on another set, also where there are but two.
  const bool two = sets == 2;
  call = newCall(kernel);
  layout->aim(call, two ? 0 : 1, two ? sets : sets - 1, false);
  if (restored && !two) call.restores = 0;
  call.samples = static_cast<std::uint32_t>(two ? 3 : sets - 1);
  call.limitSeconds *= call.samples;
  const std::size_t counted = two ? 1 : 0;
  std::size_t done = 0;
  auto ended = device->call(call, [&](const Sample& sample) {
    if (done++ != counted) return into.censored ? Device::More::no : Device::More::yes;
    add(sample, into);
    into.censored = into.samples.front() > race.score;
    return into.censored ? Device::More::no : Device::More::yes;
  });
  time.run += watch.restart();
  if (!ended) return ended.error();
  const int ran = std::min(sets, static_cast<int>(ended->samples) + (two ? 0 : 1));
  Status right = check(0, ran, into);
  time.verify += watch.restart();
  return right;
}

Status Session::State::time(const Kernel& kernel, double secondsOfCall, const Race& race,
                            Measurement& into) {
  Call call = newCall(kernel);
  layout->aim(call, 0, 1, options.coldCache);
  const bool single = options.coldCache || secondsOfCall > 2 * options.sampleSeconds;
  fillSamples(call);
  if (single) call.calls = 1;
  call.warmup = single && secondsOfCall < options.budgetSeconds / 10 ? 1 : 0;
  call.samples = static_cast<std::uint32_t>(options.samples);
  call.minSamples = secondsOfCall > kLongCallSeconds ? 1 : kLeastSamples;
  call.budgetSeconds = options.budgetSeconds;
  Stability stability;
  auto done = device->call(call, [&](const Sample& sample) {
    add(sample, into);
    const std::vector<double>& judged = into.ratios.empty() ? into.samples : into.ratios;
    stability.add(judged.back());
    if (judged.size() >= kRaceSamples) {
      const Summary now = summarize(judged);
      if (now.lower - (now.upper - now.lower) > race.score) {
        into.censored = true;
        return Device::More::no;
      }
    }
    return stability.stable() ? Device::More::no : Device::More::yes;
  });
  if (!done) return done.error();
  // What told how long a call takes was held up itself: a single one is no sample then.
  const auto shortest = std::min_element(into.samples.begin(), into.samples.end());
  if (single && !options.coldCache && hz > 0 && shortest != into.samples.end() &&
      *shortest / hz < options.sampleSeconds / 2) {
    into.samples.clear();
    into.ratios.clear();
    into.censored = false;
    return time(kernel, 0, race, into);
  }
  return {};
}

/// A first call on the first set, one on each of the others, then the samples, then one call more.
Status Session::State::verifyAndTime(const Kernel& kernel, const Race& race, Measurement& into,
                                     TimeSplit& split) {
  auto first = verify(kernel, 0, 1, into, split);
  if (!first) return first.error();
  Measurement rough;
  add(first->front(), rough);
  double seconds = secondsOf(*first);
  const double once = rough.ratios.empty() ? rough.samples[0] : rough.ratios[0];
  if (seconds > kHopelessSeconds && once > kHopelessFactor * race.score) {
    into.censored = true;
    into.samples = rough.samples;
    into.ratios = rough.ratios;
    return {};
  }
  if (layout->sets() > 1) {
    auto others = verify(kernel, 1, layout->sets() - 1, into, split);
    if (!others) return others.error();
    seconds = std::min(seconds, secondsOf(*others));
  }
  Stopwatch watch;
  if (Status timed = time(kernel, seconds, race, into); !timed) return timed;
  split.run += watch.restart();
  // What was timed must still compute: once more on inputs that were not the first ones.
  auto last = verify(kernel, layout->sets() - 1, 1, into, split);
  if (!last) return last.error();
  return layout->checkIntact(0, 1);
}

Outcome Session::State::evaluate(const Kernel& kernel, const Race& race) {
  Outcome outcome;
  TimeSplit& split = outcome.time;
  Measurement measured;
  measured.counter = counter();
  measured.cache = options.coldCache ? "cold" : "warm";
  Stopwatch watch;
  const auto fail = [&](const Error& error) {
    dirty = true;
    outcome.result = failure(error);
    return outcome;
  };
  if (Status loaded = load(kernel); !loaded) return fail(loaded.error());
  split.transfer += watch.restart();

  Status done =
      exact ? runEach(kernel, race, measured, split) : verifyAndTime(kernel, race, measured, split);
  if (!done) return fail(done.error());
  conclude(measured);
  if (measured.cycles < least) {
    return fail(Error{"measure.impossible",
                      fmt::format("{:.6g} {} cycles beat the target's peak, which allows {:.6g} at "
                                  "best: the measurement is wrong",
                                  measured.cycles, measured.counter, least)});
  }
  outcome.result = std::move(measured);
  return outcome;
}

Result<Pairing> Session::State::compareAB(const Kernel& a, const Kernel& b, int pairs) {
  const Kernel* kernels[] = {&a, &b};
  Call calls[2];
  Pairing out;
  if (exact) pairs = 1;
  for (int k = 0; k < 2; ++k) {
    if (Status loaded = load(*kernels[k]); !loaded) return loaded.error();
    Call call = newCall(*kernels[k]);
    layout->aim(call, timed(), 1, options.coldCache);
    calls[k] = call;
    if (!exact) {
      fillSamples(call);
      auto done = device->call(call, {});
      if (!done) return done.error();
      calls[k].calls = done->calls;
    }
    calls[k].warmup = 1;
    calls[k].chain = false;
  }
  for (int pair = 0; pair < pairs; ++pair) {
    for (const int k : {pair % 2, 1 - pair % 2}) {
      const Kernel& kernel = *kernels[k];
      if (Status placed = layout->place(kernel.arguments, kernel.scratchBytes); !placed) {
        return placed.error();
      }
      calls[k].nonce = ++nonce;
      layout->aim(calls[k], timed(), 1, options.coldCache);
      std::vector<double>& into = k == 0 ? out.a : out.b;
      auto done = device->call(calls[k], [&](const Sample& sample) {
        into.push_back(perCall(sample));
        return Device::More::yes;
      });
      if (!done) return done.error();
    }
  }
  std::vector<double> quotients;
  for (std::size_t i = 0; i < out.a.size(); ++i) {
    if (out.a[i] > 0) quotients.push_back(out.b[i] / out.a[i]);
  }
  const Summary summary = summarize(quotients);
  out.ratio = quotients.empty() ? 1 : summary.median;
  out.spread = (summary.upper - summary.lower) / 2;
  out.tie = quotients.empty() || std::abs(out.ratio - 1) <= out.spread;
  return out;
}

Status Session::State::measureEmpty() {
  const auto found = device->hello().services.find("dojo_empty_kernel");
  if (found == device->hello().services.end()) return {};
  Call call = newCall(
      {.slot = 0, .bytes = {}, .entry = found->second, .scratchBytes = {}, .arguments = {}});
  layout->aim(call, 0, 1, false);
  call.restores = 0;
  call.harts = 1;
  if (!exact) fillSamples(call);
  call.warmup = 1;
  call.samples = exact ? 1 : 31;
  std::vector<double> ticks;
  auto done = device->call(call, [&](const Sample& sample) {
    ticks.push_back(static_cast<double>(sample.ticks) / sample.calls);
    return Device::More::yes;
  });
  if (!done) return done.error();
  empty = quantile(ticks, 0.25);
  return {};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(
    transport::Device& device, const target::Target& target, const ir::Program& program,
    const std::vector<std::vector<ir::Tensor>>& inputSets, Compare compare,
    const Options& options) {
  auto state = std::make_unique<State>();
  state->device = &device;
  state->options = options;
  state->compare = std::move(compare);
  state->hz = device.hello().timerHz;
  state->generation = device.generation();
  if (device.hello().region("code") == nullptr) {
    return Error{"load.size", "the device has no memory region named 'code'"};
  }
  if (options.harts > device.hello().harts) {
    return Error{"load.harts", fmt::format("{} harts are asked for and '{}' has {}", options.harts,
                                           target.name, device.hello().harts)};
  }
  state->exact =
      !options.coldCache && inputSets.size() > 1 && countsExactly(target, device.hello());
  std::vector<std::vector<ir::Tensor>> laid = inputSets;
  if (state->exact) std::rotate(laid.begin(), laid.end() - 1, laid.end());
  auto layout = Layout::make(device, program, laid, options.seed);
  if (!layout) return layout.error();
  state->layout = std::move(*layout);
  if (Status measured = state->measureEmpty(); !measured) return measured.error();
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

int Session::slots() const { return kSlots; }
CodeSlot Session::slot(int index) const { return state_->slot(index); }
const std::map<std::string, std::uint64_t>& Session::symbols() const {
  return state_->device->hello().services;
}
double Session::emptyCycles() const { return state_->empty; }
void Session::setLeastCycles(double ticks) { state_->least = ticks; }

Outcome Session::evaluate(const Kernel& kernel, const Race& race) {
  DOJO_CHECK(kernel.slot >= 0 && kernel.slot < kSlots, "no such code slot");
  Outcome outcome = state_->evaluate(kernel, race);
  // A link that failed says nothing of the candidate: once more over the restored one.
  if (!outcome.ok() && outcome.failure().stage == Stage::link) {
    const TimeSplit lost = outcome.time;
    outcome = state_->evaluate(kernel, race);
    outcome.time.transfer += lost.transfer;
    outcome.time.verify += lost.verify;
    outcome.time.run += lost.run;
  }
  return outcome;
}

Result<Pairing> Session::compareAB(const Kernel& a, const Kernel& b, int pairs) {
  DOJO_CHECK(a.slot != b.slot, "two kernels in one code slot");
  auto paired = state_->compareAB(a, b, pairs);
  if (!paired) state_->dirty = true;
  return paired;
}

}  // namespace dojo::measure
