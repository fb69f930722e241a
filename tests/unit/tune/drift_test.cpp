// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/drift.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace dojo;
using tune::Drift;
using tune::DriftWatch;

namespace {

/// A device of some pace: the cycles of a candidate stand in its text.
class FakeDevice final : public search::Evaluator {
 public:
  double pace = 1;
  std::function<void(Outcome&)> twist;
  std::vector<std::string> submitted;

  void submit(const search::Candidate& candidate) override {
    submitted.push_back(candidate.text);
    waiting_.push_back(candidate.text);
  }
  std::optional<Outcome> next() override {
    Outcome out;
    Measurement m;
    m.cycles = m.score = std::stod(waiting_.front()) * pace;
    m.spread = 0.005;
    out.result = m;
    waiting_.pop_front();
    if (twist) twist(out);
    return out;
  }

 private:
  std::deque<std::string> waiting_;
};

class StillClock final : public Clock {
 public:
  double time = 0;
  double now() override { return time; }
  void sleep(double seconds) override { time += seconds; }
};

struct Watched {
  FakeDevice device;
  StillClock clock;
  std::vector<Drift> drifts;
  DriftWatch watch;
  explicit Watched(DriftWatch::Options options = {})
      : watch(
            device, std::move(options),
            [this](const Drift& drift) {
              drifts.push_back(drift);
              return Status();
            },
            clock) {}
  Measurement measure(double cycles) {
    search::Candidate candidate;
    candidate.text = std::to_string(cycles);
    watch.submit(candidate);
    const std::optional<Outcome> out = watch.next();
    REQUIRE(out);
    return out->measurement();
  }
};

DriftWatch::Options often() {
  DriftWatch::Options out;
  out.everyTrials = 8;
  return out;
}

}  // namespace

TEST_CASE("a device that keeps its pace doesn't drift, and what it says stays") {
  Watched at(often());
  for (int i = 0; i < 100; ++i) {
    at.device.pace = i % 2 == 0 ? 1.01 : 0.99;
    CHECK(at.measure(200 - i).score == Approx((200 - i) * at.device.pace));
  }
  CHECK(at.drifts.empty());
  // Each better one is measured at that moment: there is nothing to look at again.
  CHECK(at.watch.looks() == 0);
  for (int i = 0; i < 80; ++i) static_cast<void>(at.measure(500));
  CHECK(at.watch.looks() == 9);
  CHECK(at.drifts.empty());
}

TEST_CASE("time passes, too") {
  Watched at(often());
  static_cast<void>(at.measure(100));
  static_cast<void>(at.measure(101));
  CHECK(at.watch.looks() == 0);
  at.clock.time += 11;
  static_cast<void>(at.measure(101));
  CHECK(at.watch.looks() == 1);
}

TEST_CASE("a slower device is noticed, and scores are as before") {
  Watched at(often());
  for (int i = 0; i < 20; ++i) static_cast<void>(at.measure(100 + i));
  at.device.pace = 1.25;
  CHECK(at.measure(150).score == Approx(187.5));  // Nobody knows yet.
  for (int i = 0; i < 16; ++i) static_cast<void>(at.measure(150));
  REQUIRE(at.drifts.size() == 1);
  CHECK(at.drifts[0].factor == Approx(1.25));
  CHECK(at.drifts[0].from <= 20);
  CHECK(at.drifts[0].to > 20);
  const Measurement m = at.measure(90);
  CHECK(m.score == Approx(90));
  CHECK(m.cycles == Approx(90 * 1.25));
  // The best of now is the reference, at the pace of now.
  at.device.pace = 1;
  for (int i = 0; i < 24; ++i) static_cast<void>(at.measure(150));
  REQUIRE(at.drifts.size() == 2);
  CHECK(at.drifts[1].factor == Approx(0.8));
  CHECK(at.device.submitted.back() == std::to_string(150.0));
  CHECK(at.measure(150).score == Approx(150));
  CHECK(tune::describe(at.drifts[1]).find("0.8 times as long") != std::string::npos);
}

TEST_CASE("a slow creep is a drift once it is beyond the noise") {
  Watched at(often());
  for (int i = 0; i < 400; ++i) {
    at.device.pace *= 1.0005;
    static_cast<void>(at.measure(100 + i));
  }
  REQUIRE(at.drifts.size() >= 2);
  double all = 1;
  for (const Drift& drift : at.drifts) all *= drift.factor;
  CHECK(all == Approx(at.device.pace).epsilon(0.05));
}

TEST_CASE("what disturbs once is no drift, nor is a look that fails") {
  Watched at(often());
  static_cast<void>(at.measure(100));
  int looks = 0;
  at.device.twist = [&](Outcome& outcome) {
    if (std::abs(outcome.measurement().cycles - 100) > 1) return;
    ++looks;
    if (looks == 1) outcome.measurement().score *= 1.5;
    if (looks == 2) outcome.result = Failure{Stage::run, "run.timeout", ""};
    if (looks == 3) outcome.measurement().censored = true;
  };
  for (int i = 0; i < 80; ++i) static_cast<void>(at.measure(150));
  CHECK(looks > 3);
  CHECK(at.drifts.empty());
}

TEST_CASE("another session is compared with what the log has of the best") {
  DriftWatch::Options options = often();
  options.firstTrial = 40;
  options.pace = 1.1;
  search::Candidate best;
  best.text = "100.0";
  options.reference = best;
  options.referenceScore = 100;
  Watched at(options);
  at.device.pace = 2.2;
  static_cast<void>(at.measure(150));
  static_cast<void>(at.measure(150));
  REQUIRE(at.drifts.size() == 1);
  CHECK(at.drifts[0].factor == Approx(2));
  CHECK(at.drifts[0].from == 40);
  CHECK(at.measure(150).score == Approx(150));
}

TEST_CASE("a run keeps its drifts, in order") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("drift" + std::to_string(::getpid()))).string();
  {
    auto log = log::Log::open(path, log::Log::Mode::write);
    REQUIRE(log.ok());
    log::RunSettings settings;
    settings.kernel = "softmax";
    const auto run = log->resume(settings);
    REQUIRE(run.ok());
    CHECK(tune::keptDrifts(*log, *run)->empty());
    const Drift first{3, 70, 1.0 / 3, 0.034}, second{70, 140, 1.5, 0.03};
    REQUIRE(tune::keepDrift(*log, *run, first).ok());
    REQUIRE(tune::keepDrift(*log, *run, second).ok());
    const auto kept = tune::keptDrifts(*log, *run);
    REQUIRE(kept.ok());
    CHECK(*kept == std::vector<Drift>{first, second});
    REQUIRE(log->keep(*run, "drift 2", {"1", "2", "-", ""}).ok());
    CHECK(tune::keptDrifts(*log, *run).error().code == "log.damaged");
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
}
