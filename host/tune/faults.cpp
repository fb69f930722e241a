// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/faults.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "codegen/codegen.h"
#include "ir/parse.h"
#include "link/link.h"
#include "transport/frame.h"

namespace dojo::tune {
namespace {

using transport::Call;
using transport::Device;
using transport::Faulty;
using transport::Sample;

constexpr const char* kKernel =
    "kernel accumulate\nin x i32 [16]\ninout a i32 [16]\n\n16\n| a[{0}] += x[{0}]\n";
constexpr std::size_t kElements = 16;
constexpr std::uint64_t kBufferBytes = 64;
constexpr std::size_t kMostWrong = 20;
constexpr std::uint32_t kWarmup = 2, kCalls = 3;

using Code = std::vector<std::byte>;

/// Instructions that no kernel of ours holds, by the first words of what a device says it is.
struct Machine {
  std::string_view family;
  std::vector<int> hang;   ///< A jump to itself.
  std::vector<int> crash;  ///< One that isn't there.
};
const std::array kMachines{
    Machine{"x86-64", {0xeb, 0xfe}, {0x0f, 0x0b}},
    Machine{"riscv", {0x6f, 0, 0, 0}, {0, 0, 0, 0}},
    Machine{"rv", {0x6f, 0, 0, 0}, {0, 0, 0, 0}},
    Machine{"aarch64", {0, 0, 0, 0x14}, {0, 0, 0, 0}},
    Machine{"thumb", {0xfe, 0xe7}, {0, 0xde}},
    Machine{"armv7m", {0xfe, 0xe7}, {0, 0xde}},
    Machine{"arm", {0xfe, 0xff, 0xff, 0xea}, {0xf0, 0, 0xf0, 0xe7}},
};

Code codeOf(const std::vector<int>& bytes) {
  Code out;
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  out.resize(kBufferBytes);
  return out;
}

enum class Kind : std::uint8_t { good, hang, crash, death };

class Check {
 public:
  Check(const target::Target& target, const FaultOptions& options)
      : target_(target), options_(options), random_(options.seed) {}

  Result<FaultReport> run() {
    Stopwatch watch;
    if (Status ready = prepare(); !ready) return ready.error();
    const std::vector<Kind> kinds = plan();
    for (const Kind kind : kinds) {
      trial(kind);
      ++report_.trials;
      if (options_.onTrial && !options_.onTrial(report_.trials)) break;
    }
    report_.spoiled = faulty_->spoiled();
    report_.link = device_->statistics();
    report_.seconds = watch.seconds();
    if (nonces_.size() != static_cast<std::size_t>(report_.trials)) {
      wrong(fmt::format("{} trials, and {} were seen", report_.trials, nonces_.size()));
    }
    return std::move(report_);
  }

 private:
  Status prepare() {
    transport::Faults faults = options_.faults;
    faults.seed = static_cast<unsigned>(options_.seed);
    // Made once here, so that what is wrong with the target is said.
    auto first = transport::make(target_, options_.runnerPath);
    if (!first) return first.error();
    auto faulty = std::make_unique<Faulty>(
        [this] { return std::move(transport::make(target_, options_.runnerPath)).value(); },
        faults);
    faulty_ = faulty.get();
    transport::LinkOptions link;
    link.helloSeconds = target_.runner.helloSeconds;
    link.answerSeconds = target_.runner.answerSeconds;
    link.retrySeconds = options_.retrySeconds;
    link.graceSeconds = 0.3;
    link.abortSeconds = 0.3;
    auto device = Device::open(std::move(faulty), link);
    if (!device) return device.error();
    device_ = std::move(*device);
    const transport::Region* code = device_->hello().region("code");
    const transport::Region* data = device_->hello().region("data");
    if (code == nullptr || data == nullptr) return Error{"load.size", "no code or data region"};
    code_ = code->base;
    table_ = data->base;
    x_ = table_ + kBufferBytes;
    a_ = x_ + kBufferBytes;
    const std::string_view isa = device_->hello().isa;
    for (const Machine& machine : kMachines) {
      if (!hang_.empty() || !isa.starts_with(machine.family)) continue;
      hang_ = codeOf(machine.hang);
      crash_ = codeOf(machine.crash);
    }
    if (hang_.empty()) {
      return Error{"target.isa", fmt::format("no instructions are known that hang '{}'", isa)};
    }
    auto program = ir::parse(kKernel);
    if (!program) return program.error();
    auto object = codegen::compile(program->program, target_);
    if (!object) return object.error();
    auto image =
        link::place(object->bytes, codegen::kEntry, code_, code->size, device_->hello().services);
    if (!image) return image.error();
    good_ = image->bytes;
    entry_ = image->entry;
    return {};
  }

  /// The kinds of all trials, those that aren't good spread by the seed.
  std::vector<Kind> plan() {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(options_.trials, 0));
    std::vector<Kind> kinds(count, Kind::good);
    std::size_t at = 0;
    const auto add = [&](int many, Kind kind) {
      for (int i = 0; i < many && at < count; ++i) kinds[at++] = kind;
    };
    add(options_.hangs, Kind::hang);
    add(options_.crashes, Kind::crash);
    add(options_.deaths, Kind::death);
    std::shuffle(kinds.begin(), kinds.end(), random_);
    return kinds;
  }

  void wrong(std::string what) {
    ++report_.wrongTrials;
    if (report_.wrong.size() < kMostWrong) report_.wrong.push_back(std::move(what));
  }

  Status load(Kind kind, std::int32_t seed) {
    const Code& code = kind == Kind::hang ? hang_ : kind == Kind::crash ? crash_ : good_;
    Code table, x, a;
    const int pointer = device_->hello().pointerBytes;
    transport::put(table, x_, pointer);
    transport::put(table, a_, pointer);
    for (std::size_t i = 0; i < kElements; ++i) {
      transport::put(x, static_cast<std::uint32_t>(seed) + i, 4);
      transport::put(a, 7 * static_cast<std::uint32_t>(seed) + i, 4);
    }
    const std::array pieces{transport::Piece{code_, code}, transport::Piece{table_, table},
                            transport::Piece{x_, x}, transport::Piece{a_, a}};
    return device_->write(pieces);
  }

  void trial(Kind kind) {
    const std::uint64_t nonce = ++nonce_;
    const auto seed = static_cast<std::int32_t>(nonce % 1000003 + 1);
    // What a lost link voids is done again, as by who tunes.
    for (int attempt = 0;; ++attempt) {
      if (kind == Kind::death && attempt == 0) {
        faulty_->dieAfter(static_cast<int>(random_() % 9));
      }
      if (Status loaded = load(kind, seed); !loaded) {
        if (attempt < 3 && loaded.error().code.starts_with("link.")) continue;
        end(nonce, kind, loaded.error().code, loaded.error().text());
        return;
      }
      if (call(nonce, kind, seed, attempt)) return;
    }
  }

  void end(std::uint64_t nonce, Kind kind, const std::string& code, const std::string& text) {
    ++report_.ended[code];
    if (!nonces_.insert(nonce).second) wrong(fmt::format("trial {} ended twice", nonce));
    static const std::array<std::set<std::string>, 4> kExpected{
        {{"ok"}, {"run.timeout"}, {"run.fault"}, {"ok", "run.crash"}}};
    if (!kExpected.at(static_cast<std::size_t>(kind)).contains(code)) {
      wrong(fmt::format("trial {} ended in {}: {}", nonce, code, text));
    }
  }

  /// False where the link was lost, and the trial is to be done again.
  bool call(std::uint64_t nonce, Kind kind, std::int32_t seed, int attempt) {
    Call call;
    call.nonce = nonce;
    call.entry = kind == Kind::good || kind == Kind::death ? entry_ : code_ | (entry_ & 1U);
    call.tables = table_;
    call.stride = kBufferBytes;
    call.warmup = kWarmup;
    call.calls = kCalls;
    call.samples = 1 + static_cast<std::uint32_t>(random_() % 20);
    call.limitSeconds = kind == Kind::hang ? options_.limitSeconds : 5;
    std::uint32_t samples = 0;
    bool inOrder = true;
    auto done = device_->call(call, [&](const Sample& sample) {
      inOrder = inOrder && sample.index == samples && sample.calls == kCalls;
      ++samples;
      ++report_.samples;
      return Device::More::yes;
    });
    if (!inOrder) wrong(fmt::format("trial {} had samples out of order", nonce));
    if (!done) {
      if (attempt < 3 && done.error().code.starts_with("link.")) return false;
      end(nonce, kind, done.error().code, done.error().text());
      return true;
    }
    if (done->samples != call.samples || samples != call.samples) {
      wrong(fmt::format("trial {}: {} samples asked for, {} done, {} came", nonce, call.samples,
                        done->samples, samples));
    }
    Code left(kBufferBytes);
    if (Status read = device_->read(a_, left); !read) {
      if (attempt < 3 && read.error().code.starts_with("link.")) return false;
      end(nonce, kind, read.error().code, read.error().text());
      return true;
    }
    const std::uint32_t times = kWarmup + kCalls * call.samples;
    for (std::size_t i = 0; i < kElements; ++i) {
      const std::uint32_t x = static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(i);
      const std::uint32_t start =
          7 * static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(i);
      const auto got = static_cast<std::uint32_t>(transport::getAt(left, 4 * i, 4));
      if (got == start + times * x) continue;
      wrong(fmt::format("trial {}: element {} is {}, {} expected of {} calls", nonce, i, got,
                        start + times * x, times));
      break;
    }
    end(nonce, kind, "ok", "");
    return true;
  }

  const target::Target& target_;
  const FaultOptions& options_;
  std::mt19937_64 random_;
  std::unique_ptr<Device> device_;
  Faulty* faulty_ = nullptr;
  std::uint64_t code_ = 0, entry_ = 0, table_ = 0, x_ = 0, a_ = 0, nonce_ = 0;
  Code good_, hang_, crash_;
  std::set<std::uint64_t> nonces_;
  FaultReport report_;
};

}  // namespace

Result<FaultReport> checkFaults(const target::Target& target, const FaultOptions& options) {
  return Check(target, options).run();
}

}  // namespace dojo::tune
