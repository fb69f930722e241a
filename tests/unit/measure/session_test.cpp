// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions on the real runner, with kernels given as machine code.
#include "measure/session.h"

#include <cstring>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/clock.h"
#include "measure/statistics.h"
#include "transport/command.h"

namespace dojo::measure {
namespace {

using transport::Device;

using Code = std::vector<std::byte>;
Code code(std::initializer_list<int> bytes) {
  Code out;
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  return out;
}
Code operator+(Code a, const Code& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::string kShared = "{runner} {memory}";
const std::string kPrivate = "{runner} --code-bytes 1048576 --data-bytes 4194304";

constexpr int kElements = 1001;
constexpr int kBytes = kElements * 4;

/// mov rsi, [rdi]; mov rdi, [rdi+8]; mov ecx, bytes; rep movsb
Code copyBytes(int bytes) {
  return code({0x48, 0x8b, 0x37, 0x48, 0x8b, 0x7f, 0x08, 0xb9, bytes & 255, bytes >> 8 & 255,
               bytes >> 16, 0, 0xf3, 0xa4});
}
const Code kReturn = code({0xc3});

/// y = x, on the real runner, with two input sets.
class Fixture {
 public:
  explicit Fixture(ir::Role second = ir::Role::out, const Options& options = {},
                   const std::string& command = kShared, const target::Target& on = {})
      : target(on) {
    auto opened =
        Device::open(transport::makeCommand({.command = command,
                                             .runnerPath = DOJO_BINARY_DIR "/bin/dojo-runner-linux",
                                             .codeBytes = 1 << 20,
                                             .dataBytes = 1 << 22}));
    INFO((opened ? "" : opened.error().text()));
    REQUIRE(opened);
    device = std::move(*opened);
    program.name = "copy";
    program.buffers.resize(2);
    for (ir::Buffer& buffer : program.buffers) buffer.dims = {{kElements}};
    program.buffers[0].name = "x";
    program.buffers[0].role = ir::Role::in;
    program.buffers[1].name = "y";
    program.buffers[1].role = second;
    for (int set = 0; set < 2; ++set) {
      std::vector<ir::Tensor> tensors;
      for (const ir::Buffer& buffer : program.buffers) {
        ir::Tensor tensor{.dtype = buffer.dtype, .bytes = std::vector<std::byte>(kBytes)};
        for (std::size_t i = 0; i < kBytes; ++i) {
          tensor.bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(set) * 7 + 1);
        }
        tensors.push_back(std::move(tensor));
      }
      sets.push_back(std::move(tensors));
    }
    auto made = Session::open(
        *device, target, program, sets,
        [this](int set, const std::vector<std::span<const std::byte>>& outputs) {
          return compare(set, outputs);
        },
        options);
    INFO((made ? "" : made.error().text()));
    REQUIRE(made);
    session = std::move(*made);
  }

  Result<Compared> compare(int set, const std::vector<std::span<const std::byte>>& outputs) {
    CHECK(outputs.size() == 2);
    CHECK(outputs[0].empty());
    const std::vector<std::byte>& expected = sets[static_cast<std::size_t>(set)][0].bytes;
    ++compared;
    for (std::size_t i = 0; i < kBytes; ++i) {
      if (outputs[1][i] != expected[i]) {
        return Error{"verify.mismatch", fmt::format("byte {} of set {} differs", i, set)};
      }
    }
    return Compared{.worstError = 0.5, .elements = kElements, .skipped = 0};
  }

  Outcome evaluate(const Code& kernel, std::vector<std::int64_t> scratch = {},
                   const Race& race = {}) {
    return session->evaluate({.slot = 1,
                              .bytes = kernel,
                              .entry = session->slot(1).base,
                              .scratchBytes = std::move(scratch),
                              .arguments = {}},
                             race);
  }
  std::string verdict(const Code& kernel, std::vector<std::int64_t> scratch = {}) {
    const Outcome outcome = evaluate(kernel, std::move(scratch));
    message = outcome.ok() ? "" : outcome.failure().detail;
    return outcome.ok() ? "ok" : outcome.failure().code;
  }

  target::Target target;
  ir::Program program;
  std::vector<std::vector<ir::Tensor>> sets;
  std::unique_ptr<Device> device;
  std::unique_ptr<Session> session;
  int compared = 0;
  std::string message;
};

}  // namespace

TEST_CASE("A right kernel is measured") {
  Fixture f(ir::Role::out, {}, GENERATE(kShared, kPrivate));
  const Outcome outcome = f.evaluate(copyBytes(kBytes) + kReturn);
  INFO((outcome.ok() ? "" : outcome.failure().detail));
  REQUIRE(outcome.ok());
  const Measurement& m = outcome.measurement();
  CHECK(f.compared == 3);  // each set, and the last one again after the timing
  CHECK(m.comparedElements == 3 * kElements);
  CHECK(m.worstError == 0.5);
  CHECK(m.samples.size() >= 12);
  CHECK(m.ratios.size() == m.samples.size());
  CHECK(m.counter == "tsc");
  CHECK(m.cache == "warm");
  CHECK_FALSE(m.censored);
  CHECK(m.cycles > 10);
  CHECK(m.cycles < 1e6);
  CHECK(m.cycles == median(m.samples));
  CHECK(m.score == median(m.ratios));
  const double sample =
      m.cycles * static_cast<double>(m.callsPerSample) / f.device->hello().timerHz;
  CHECK(sample > 10e-6);
  CHECK(f.session->emptyCycles() > 0);
  CHECK(f.session->emptyCycles() < 200);
}

namespace {
/// As though what the runner counts were no time but what a model did.
target::Target model() {
  target::Target out;
  out.cyclesAreTime = false;
  out.counters = {{.name = "tsc", .width = 64, .event = "cycles"}};
  return out;
}
}  // namespace

TEST_CASE("Where the same call always counts the same, each input set is run once") {
  const ir::Role role = GENERATE(ir::Role::out, ir::Role::inout);
  Fixture f(role, {}, GENERATE(kShared, kPrivate), model());
  const Outcome outcome = f.evaluate(copyBytes(kBytes) + kReturn);
  INFO((outcome.ok() ? "" : outcome.failure().detail));
  REQUIRE(outcome.ok());
  const Measurement& m = outcome.measurement();
  CHECK(f.compared == 2);
  CHECK(m.comparedElements == 2 * kElements);
  CHECK(m.samples.size() == 1);
  CHECK(m.ratios.empty());
  CHECK(m.callsPerSample == 1);
  CHECK(m.cycles == m.samples.front());
  CHECK(m.score == m.cycles);
  CHECK_FALSE(m.censored);
  if (role == ir::Role::out) {
    CHECK(f.verdict(copyBytes(kBytes - 1) + kReturn) == "verify.mismatch");
    // The last set warms, so it's looked at first, and told by the number that it was given.
    CHECK_THAT(f.message, Catch::Contains("of set 1"));
  }
  CHECK(f.verdict(code({0x48, 0x8b, 0x07, 0xc6, 0x00, 0x77}) + copyBytes(kBytes) + kReturn) ==
        "verify.input-changed");
  CHECK(f.verdict(code({0x0f, 0x0b})) == "run.fault");

  // Far beyond the best it's cut at once.
  const Outcome cut = f.evaluate(copyBytes(kBytes) + kReturn, {}, Race{.score = 1e-3});
  REQUIRE(cut.ok());
  CHECK(cut.measurement().censored);
  CHECK(cut.measurement().samples.size() == 1);
  CHECK(f.verdict(copyBytes(kBytes) + kReturn) == "ok");

  const Code kernel = copyBytes(kBytes) + kReturn;
  REQUIRE(f.device->write(f.session->slot(0).base, kernel));
  const auto paired = f.session->compareAB({.slot = 0,
                                            .bytes = kernel,
                                            .entry = f.session->slot(0).base,
                                            .scratchBytes = {},
                                            .arguments = {}},
                                           {.slot = 1,
                                            .bytes = kernel,
                                            .entry = f.session->slot(1).base,
                                            .scratchBytes = {},
                                            .arguments = {}});
  REQUIRE(paired);
  CHECK(paired->a.size() == 1);
  CHECK(paired->b.size() == 1);
}

TEST_CASE("A counter that shows an emulator's clock is sampled") {
  target::Target target = model();
  target.counters.front().event = "the emulator's clock";
  Fixture f(ir::Role::out, {}, kShared, target);
  const Outcome outcome = f.evaluate(copyBytes(kBytes) + kReturn);
  REQUIRE(outcome.ok());
  CHECK(outcome.measurement().samples.size() >= 12);
}

TEST_CASE("Wrong kernels end in their class, and the next one is measured") {
  // Each then goes on as the right kernel would.
  const Code good = copyBytes(kBytes) + kReturn;
  const auto at = [](int opcode, int disp) {  // mov byte [rax + disp], 0x77
    return code(
        {opcode, 0x80, disp & 255, disp >> 8 & 255, disp >> 16 & 255, disp >> 24 & 255, 0x77});
  };
  const Code input = code({0x48, 0x8b, 0x07});         // mov rax, [rdi]
  const Code output = code({0x48, 0x8b, 0x47, 0x08});  // mov rax, [rdi+8]
  const Code scratch = code({0x48, 0x8b, 0x47, 0x10});
  struct Case {
    const char* name;
    Code kernel;
    std::string code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"one byte short", copyBytes(kBytes - 1) + kReturn, "verify.mismatch", "byte 4003 of set 0"},
      {"nothing", kReturn, "verify.mismatch", "byte 0 of set 0"},
      {"input changed", input + at(0xc6, 0) + good, "verify.input-changed", "input 'x'"},
      {"input changed after", copyBytes(kBytes) + code({0xc6, 0x46, 0xff, 0x77}) + kReturn,
       "verify.input-changed", "input 'x'"},
      {"after the output", output + at(0xc6, kBytes) + good, "verify.guard", "after buffer 'y'"},
      {"before the output", output + at(0xc6, -1) + good, "verify.guard", "before buffer 'y'"},
      {"before the input", input + at(0xc6, -300) + good, "verify.guard", "before buffer 'x'"},
      {"after the scratch", scratch + at(0xc6, 10) + good, "verify.guard",
       "after buffer 'scratch 0'"},
      {"illegal", code({0x0f, 0x0b}), "run.fault", "illegal"},
      {"far away", output + at(0xc6, 1 << 30) + good, "run.fault", "bad memory access"},
  };
  Fixture f(ir::Role::out, {}, GENERATE(kShared, kPrivate));
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(f.verdict(c.kernel, {10}) == c.code);
    INFO(f.message);
    CHECK(f.message.find(c.says) != std::string::npos);
    CHECK(f.verdict(good) == "ok");
  }
  CHECK(f.verdict(good, {1 << 30}) == "load.size");
  INFO(f.message);
  CHECK(f.message.find("4194304") != std::string::npos);
  CHECK(f.verdict(good) == "ok");
  CHECK(f.verdict(Code(1 << 18, std::byte{0x90}) + good) == "load.size");
}

TEST_CASE("A kernel that is right on the first inputs alone is caught") {
  // The first set's bytes are kept in the code: copy them from there.
  Fixture f;
  Code kernel = code({0x48, 0x8b, 0x7f, 0x08,                 // mov rdi, [rdi+8]
                      0x48, 0x8d, 0x35, 0x08, 0, 0, 0,        // lea rsi, [rip+8]
                      0xb9, kBytes & 255, kBytes >> 8, 0, 0,  // mov ecx, bytes
                      0xf3, 0xa4, 0xc3});
  kernel.insert(kernel.end(), f.sets[0][0].bytes.begin(), f.sets[0][0].bytes.end());
  CHECK(f.verdict(kernel) == "verify.mismatch");
  CHECK(f.message.find("set 1") != std::string::npos);
}

TEST_CASE("inout buffers are what they were before every sample") {
  Fixture f(ir::Role::inout);
  // y starts equal to x: complement it twice, then check by the comparison; once is wrong.
  const Code twice = code({0x48, 0x8b, 0x47, 0x08, 0xf6, 0x10, 0xf6, 0x10, 0xc3});
  const Code once = code({0x48, 0x8b, 0x47, 0x08, 0xf6, 0x10, 0xc3});
  CHECK(f.verdict(twice) == "ok");
  CHECK(f.verdict(once) == "verify.mismatch");
  CHECK(f.verdict(code({0xc3})) == "ok");
}

TEST_CASE("Faults while timing are failures of the run, and endless kernels cost their limit") {
  Fixture f(ir::Role::out, {.limitSeconds = 0.1});
  Stopwatch watch;
  CHECK(f.verdict(code({0xeb, 0xfe})) == "run.timeout");
  CHECK(watch.seconds() < 1);
  CHECK(f.verdict(copyBytes(kBytes) + kReturn) == "ok");
}

TEST_CASE("Cold caches are slower and say so") {
  const Code good = copyBytes(kBytes) + kReturn;
  Fixture warm, cold(ir::Role::out, {.coldCache = true});
  const Outcome a = warm.evaluate(good), b = cold.evaluate(good);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(b.measurement().cache == "cold");
  CHECK(b.measurement().callsPerSample == 1);
  CHECK(b.measurement().cycles > 2 * a.measurement().cycles);
}

TEST_CASE("Racing cuts what is certainly worse and calls it censored") {
  const Code good = copyBytes(kBytes) + kReturn;
  // The same after a wait of 20,000,000 rounds: mov ecx, n; dec ecx; jnz
  const Code slow = code({0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc}) + good;
  Fixture f;
  const Outcome best = f.evaluate(good);
  REQUIRE(best.ok());
  Stopwatch watch;
  const Outcome cut = f.evaluate(slow, {}, {.score = best.measurement().score});
  const double seconds = watch.seconds();
  REQUIRE(cut.ok());
  CHECK(cut.measurement().censored);
  watch.restart();
  const Outcome whole = f.evaluate(slow);
  REQUIRE(whole.ok());
  CHECK_FALSE(whole.measurement().censored);
  CHECK(whole.measurement().samples.size() >= 3);
  CHECK(watch.seconds() > 1.5 * seconds);
  const Outcome again = f.evaluate(good, {}, {.score = best.measurement().score * 1.5});
  REQUIRE(again.ok());
  CHECK_FALSE(again.measurement().censored);
}

TEST_CASE("What can't be told from an empty call still takes a tick") {
  Fixture f(ir::Role::inout);
  for (int i = 0; i < 5; ++i) {
    const Outcome outcome = f.evaluate(kReturn);
    REQUIRE(outcome.ok());
    CHECK(outcome.measurement().cycles >= 1);
  }
}

TEST_CASE("A time below what the target can do is no record") {
  Fixture f;
  f.session->setLeastCycles(1e9);
  CHECK(f.verdict(copyBytes(kBytes) + kReturn) == "measure.impossible");
}

TEST_CASE("A/B ranks by raw time and calls equal kernels a tie") {
  const Code good = copyBytes(kBytes) + kReturn;
  const Code slower =
      copyBytes(kBytes) + code({0xb9, 0x00, 0x02, 0, 0, 0xff, 0xc9, 0x75, 0xfc}) + kReturn;
  Fixture f;
  const auto kernel = [&](int slot, const Code& bytes) {
    return Kernel{.slot = slot,
                  .bytes = bytes,
                  .entry = f.session->slot(slot).base,
                  .scratchBytes = {},
                  .arguments = {}};
  };
  auto different = f.session->compareAB(kernel(0, good), kernel(1, slower));
  INFO((different ? "" : different.error().text()));
  REQUIRE(different);
  CHECK(different->a.size() == 30);
  CHECK(different->b.size() == 30);
  CHECK(different->ratio > 1.5);
  CHECK_FALSE(different->tie);
  auto same = f.session->compareAB(kernel(0, good), kernel(1, good), 60);
  REQUIRE(same);
  CHECK(same->ratio == Approx(1).epsilon(0.05));
}

TEST_CASE("A trial of a 10 microsecond kernel costs little", "[time]") {
  Fixture f;
  // dec ecx; jnz: about 10 microseconds
  const Code kernel =
      copyBytes(kBytes) + code({0xb9, 0x00, 0x80, 0, 0, 0xff, 0xc9, 0x75, 0xfc}) + kReturn;
  REQUIRE(f.evaluate(kernel).ok());
  TimeSplit split;
  Stopwatch watch;
  constexpr int kTrials = 100;
  std::vector<double> scores;
  for (int i = 0; i < kTrials; ++i) {
    const Outcome outcome = f.evaluate(kernel);
    REQUIRE(outcome.ok());
    split.transfer += outcome.time.transfer;
    split.verify += outcome.time.verify;
    split.run += outcome.time.run;
    scores.push_back(outcome.measurement().score);
  }
  const double each = watch.seconds() / kTrials;
  const Outcome last = f.evaluate(kernel);
  fmt::print(
      "a trial: {:.2f} ms (transfer {:.2f}, verify {:.2f}, run {:.2f}); kernel {:.1f} us, "
      "{} samples, spread {:.2f}%, spread of {} trials {:.2f}%\n",
      each * 1e3, split.transfer / kTrials * 1e3, split.verify / kTrials * 1e3,
      split.run / kTrials * 1e3, last.measurement().cycles / f.device->hello().timerHz * 1e6,
      last.measurement().samples.size(), last.measurement().spread * 100, kTrials,
      summarize(scores).spread * 100);
  CHECK(each < 0.01);
}

}  // namespace dojo::measure
