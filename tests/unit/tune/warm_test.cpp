// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the log has of other shapes comes first; never of other targets; a run keeps what it began
// with.
#include <filesystem>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "tune/bench.h"
#include "tune/elsewhere.h"
#include "tune/tuner.h"

using namespace dojo;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("dojo-warm-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

tune::Request requestAt(int n, std::int64_t trials) {
  tune::Request request;
  const std::string size = std::to_string(n);
  request.kernel = "k";
  request.shape = "N=" + size;
  request.dtype = "f32";
  request.plain = ir::parse("kernel k\nin x f32 [" + size + "]\nout y f32 [" + size + "]\n\n" +
                            size + "\n| y[{0}] = x[{0}] * 3\n")
                      ->program;
  request.start = request.plain;
  request.strategy = "random";
  request.expert = false;
  request.budget.trials = trials;
  return request;
}

/// A good row of `request` in a run with these settings.
void addRow(log::Log& log, const log::RunSettings& settings, const std::string& trace,
            double cycles) {
  const auto run = log.start(settings);
  REQUIRE(run.ok());
  log::Trial trial;
  trial.run = run->id;
  trial.trace = trace;
  Measurement m;
  m.cycles = m.score = cycles;
  trial.outcome.result = m;
  REQUIRE(log.append(trial).ok());
}

}  // namespace

TEST_CASE("how far shapes are apart") {
  CHECK(tune::shapeDistance("M=16,N=8", "N=8,M=16") == 0.0);
  CHECK(*tune::shapeDistance("M=16,N=8", "M=32,N=4") == Approx(2 * std::log(2)));
  for (const char* other : {"M=16", "M=16,K=8", "M=16,N", "M=16,N=x", "M=16,N=0", ""}) {
    CHECK_FALSE(tune::shapeDistance("M=16,N=8", other));
  }
}

TEST_CASE("a search begins with what the log has of the nearest shape, and keeps to it") {
  Folder folder;
  target::Target target = target::load("host").value();
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  auto device = tune::reach(target, "");
  REQUIRE(device.ok());
  auto log = log::Log::open((folder.path / "a.sqlite").string(), log::Log::Mode::write);
  REQUIRE(log.ok());
  tune::Request request = requestAt(96, 4);
  const log::RunSettings here = tune::settingsOf(request, target, **device);
  log::RunSettings near = here, far = here, foreign = here, itself = here;
  near.shape = "N=64";
  far.shape = "N=4096";
  foreign.shape = "N=100";
  foreign.fingerprint.isa += " and more";
  addRow(*log, far, "split_scope @0 4\n", 1);
  addRow(*log, near, "split_scope @0 32\n", 900);
  addRow(*log, near, "split_scope @0 16\n", 1000);
  addRow(*log, near, "split_scope @0 64\n", 1100);
  addRow(*log, foreign, "split_scope @0 12\n", 1);
  itself.seed = 99;
  addRow(*log, itself, "split_scope @0 6\n", 1);
  const auto found = tune::schedulesElsewhere(*log, here);
  REQUIRE(found.ok());
  CHECK(*found == std::vector<std::string>{"split_scope @0 32\n", "split_scope @0 16\n",
                                           "split_scope @0 4\n"});

  auto programs = [&](std::int64_t count) {
    std::vector<std::string> traces;
    const auto run = log->resume(tune::settingsOf(request, target, **device));
    const auto rows = log->trials(run->id, log::Kind::search);
    for (const log::Trial& trial : *rows) {
      traces.push_back(trial.trace);
    }
    CHECK(static_cast<std::int64_t>(traces.size()) == count);
    return traces;
  };
  {
    // Only the beginning, as if killed then.
    auto tuner = tune::Tuner::open(request, target, **device, *log, {});
    REQUIRE(tuner.ok());
    REQUIRE((*tuner)->advance(2, 1e9).ok());
  }
  CHECK(programs(2)[1] == "split_scope @0 32\n");
  // Later finds don't change a run that has begun.
  addRow(*log, near, "split_scope @0 2\n", 1);
  auto tuned = tune::tune(request, target, **device, *log, {});
  REQUIRE(tuned.ok());
  const std::vector<std::string> traces = programs(4);
  CHECK(traces[2] == "split_scope @0 16\n");
  CHECK(traces[3] == "split_scope @0 4\n");

  request.warmStart = false;
  REQUIRE(tune::tune(request, target, **device, *log, {}).ok());
  CHECK(programs(4)[1] != "split_scope @0 32\n");
}
