// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that took the device down twice, in whatever runs the log holds, is never run again.
#include <filesystem>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "tune/bench.h"
#include "tune/tuner.h"

using namespace dojo;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("dojo-ban-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("what took the device down twice is refused, once isn't enough") {
  Folder folder;
  target::Target target = target::load("host").value();
  target.harts = 1;
  auto device = tune::reach(target, "");
  REQUIRE(device.ok());
  auto log = log::Log::open((folder.path / "a.sqlite").string(), log::Log::Mode::write);
  REQUIRE(log.ok());
  tune::Request request;
  request.kernel = "k";
  request.shape = "";
  request.dtype = "f32";
  request.plain =
      ir::parse("kernel k\nin x f32 [64]\nout y f32 [64]\n\n64\n| y[{0}] = x[{0}] * 3\n")->program;
  request.start = request.plain;
  request.strategy = "random";
  request.budget.trials = 3;
  for (const std::uint64_t times : {1, 2}) {
    log::RunSettings settings = tune::settingsOf(request, target, **device);
    settings.seed = 100 + times;
    auto run = log->start(settings);
    REQUIRE(run.ok());
    log::Trial crash;
    crash.run = run->id;
    crash.program = ir::print(request.plain);
    crash.outcome.result = Failure{Stage::run, "run.crash", "the runner ended"};
    REQUIRE(log->append(crash).ok());
    request.seed = times;
    auto tuned = tune::tune(request, target, **device, *log, {});
    REQUIRE(tuned.ok());
    CHECK(tuned->trials == 3);
    CHECK(tuned->failureCodes["run.banned"] == (times == 2 ? 1 : 0));
    CHECK(tuned->best > 0);
  }
}
