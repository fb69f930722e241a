// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short form of `dojo selfcheck --faults`: the real runner behind a bad link.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tune/faults.h"

using namespace dojo;

namespace {

/// The runner of this machine without shared memory: everything goes by frames.
target::Target byFrames() {
  target::Target target = target::load("host").value();
  target.harts = 1;
  target.runner.command = "{runner} --harts 1 --code-bytes 1048576 --data-bytes 1048576";
  return target;
}

tune::FaultOptions someTrials(std::int64_t trials) {
  tune::FaultOptions options;
  options.trials = trials;
  options.runnerPath = DOJO_BINARY_DIR "/bin/dojo-runner-linux";
  options.retrySeconds = 0.004;
  return options;
}

tune::FaultReport check(const tune::FaultOptions& options) {
  auto report = tune::checkFaults(byFrames(), options);
  INFO((report ? "" : report.error().text()));
  REQUIRE(report);
  for (const std::string& wrong : report->wrong) UNSCOPED_INFO(wrong);
  CHECK(report->wrongTrials == 0);
  CHECK(report->trials == options.trials);
  return *report;
}

}  // namespace

TEST_CASE("No trial is lost, doubled or credited to another over a link that spoils frames") {
  tune::FaultOptions options = someTrials(500);
  options.seed = GENERATE(1U, 2U);
  options.faults.rate = 1.0 / 50;
  options.hangs = 4;
  options.crashes = 4;
  options.deaths = 3;
  const tune::FaultReport report = check(options);
  CHECK(report.spoiled > 100);
  CHECK(report.ended.at("run.timeout") == 4);
  CHECK(report.ended.at("run.fault") == 4);
  CHECK(report.ended.at("ok") >= 500 - 4 - 4 - 3);
}

TEST_CASE("Each kind of fault alone, one frame in eight") {
  struct Only {
    const char* name;
    double transport::Faults::*weight;
  };
  const std::vector<Only> kinds = {
      {"flip", &transport::Faults::flip},   {"drop", &transport::Faults::drop},
      {"twice", &transport::Faults::twice}, {"late", &transport::Faults::late},
      {"cut", &transport::Faults::cut},     {"text", &transport::Faults::text},
  };
  for (const Only& kind : kinds) {
    INFO(kind.name);
    tune::FaultOptions options = someTrials(60);
    options.faults = {
        .rate = 0.125, .flip = 0, .drop = 0, .twice = 0, .late = 0, .cut = 0, .text = 0};
    options.faults.*kind.weight = 1;
    options.hangs = options.crashes = 1;
    options.deaths = 1;
    const tune::FaultReport report = check(options);
    CHECK(report.spoiled > 20);
  }
}

TEST_CASE("A link at 9600 baud only takes longer") {
  tune::FaultOptions options = someTrials(3);
  options.faults.baud = 9600;
  options.hangs = options.crashes = 1;
  options.deaths = 0;
  options.retrySeconds = 0.2;
  const tune::FaultReport report = check(options);
  CHECK(report.ended.at("ok") == 1);
  CHECK(report.link.retries == 0);
}
