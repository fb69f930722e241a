// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What single candidates of a tuning do to it: nothing but to their own trial.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "faults/saboteur.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "search/composite.h"
#include "tune/bench.h"
#include "tune/tuner.h"

using namespace dojo;
using test::Deed;
using test::Saboteur;

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dojo-faults-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

template <class T>
T taken(Result<T> result) {
  INFO((result ? "" : result.error().text()));
  REQUIRE(result);
  return std::move(result).value();
}

target::Target host() {
  target::Target target = taken(target::load("host"));
  target.harts = 1;
  target.runner.callSeconds = 0.3;
  return target;
}

/// 60 x 60 elements: `operation` is what is done with each.
ir::Program program(const std::string& operation) {
  return taken(ir::parse("kernel k\nin x f32 [60, 60]\nout y f32 [60, 60]\n\n60\n| 60\n| | "
                         "y[{0}, {1}] = x[{0}, {1}] " +
                         operation + "\n"))
      .program;
}

ir::Program moved(const ir::Program& start, const target::Target& target, const std::string& call) {
  auto state = std::make_shared<const moves::State>(start, target);
  return taken(search::expand(state, taken(moves::parseMove(call)))).state->program();
}

/// A device with a saboteur before it, and a log.
struct Scene {
  target::Target target = host();
  Folder folder;
  Saboteur* saboteur = nullptr;
  std::unique_ptr<transport::Device> device;
  log::Log log = taken(log::Log::open((folder.path / "log").string(), log::Log::Mode::write));

  Scene() {
    auto owned = std::make_unique<Saboteur>();
    saboteur = owned.get();
    device = taken(
        transport::Device::open(std::move(owned), {.graceSeconds = 0.2, .abortSeconds = 0.2}));
    const transport::Region* code = device->hello().region("code");
    saboteur->watch(code->base, code->size);
  }

  static tune::Request request(std::int64_t trials, const ir::Program& plain = program("* 3")) {
    tune::Request out;
    out.kernel = plain.name;
    out.shape = "";
    out.dtype = "f32";
    out.plain = out.start = plain;
    out.strategy = "random";
    out.budget.trials = trials;
    return out;
  }
  tune::Tuned tune(const tune::Request& request) {
    return taken(tune::tune(request, target, *device, log, {}));
  }
  std::vector<log::Trial> trials(const tune::Tuned& tuned) const {
    return taken(log.trials(tuned.run, log::Kind::search));
  }
};

}  // namespace

TEST_CASE("Candidate 7 of 20 restarts the device: 19 are measured, and after a second time never") {
  Scene scene;
  scene.saboteur->deed = [](int load) { return load == 7 ? Deed::reboot : Deed::none; };
  std::string culprit;
  for (const int round : {1, 2, 3}) {
    INFO("round " << round);
    scene.saboteur->loads = 0;
    // Another number of trials is another run of the same search.
    const tune::Tuned tuned = scene.tune(Scene::request(19 + round));
    const std::vector<log::Trial> trials = scene.trials(tuned);
    REQUIRE(trials.size() == static_cast<std::size_t>(19 + round));
    if (round == 1) culprit = trials[7].program;
    CHECK(trials[7].program == culprit);
    for (const log::Trial& trial : trials) {
      INFO("trial " << trial.index << (trial.outcome.ok() ? "" : trial.outcome.failure().detail));
      CHECK(trial.outcome.ok() == (trial.index != 7));
    }
    const Failure& failure = trials[7].outcome.failure();
    CHECK(failure.code == (round < 3 ? "run.crash" : "run.banned"));
    CHECK(failure.stage == Stage::run);
    if (round < 3) CHECK(failure.detail.find("restarted during the call") != std::string::npos);
    CHECK(tuned.failures == 1);
    CHECK(tuned.best > 0);
    if (round == 2) scene.saboteur->deed = [](int) { return Deed::none; };
  }
  CHECK(scene.saboteur->starts == 3);
}

TEST_CASE("Endless, trapping, not compiling, link closed: four classes in log and summary") {
  Scene scene;
  scene.saboteur->deed = [](int load) {
    // What a link that closed voids is tried again once: both times.
    return std::array{Deed::none, Deed::none, Deed::endless, Deed::none,
                      Deed::trap, Deed::none, Deed::cut,     Deed::cut}
        .at(static_cast<std::size_t>(std::min(load, 8) % 8));
  };
  const tune::Tuned tuned = scene.tune(Scene::request(12));
  CHECK(tuned.failureCodes == std::map<std::string, std::int64_t>{
                                  {"link.closed", 1}, {"run.fault", 1}, {"run.timeout", 1}});
  CHECK(tuned.best > 0);
  // No mapping of this target.
  ir::Program warps = program("* 5");
  warps.body[0].scope().mapping.bits = static_cast<unsigned>(ir::MapKind::warp);
  const tune::Tuned refused = scene.tune(Scene::request(1, warps));
  CHECK(refused.failureCodes == std::map<std::string, std::int64_t>{{"lower.mapping", 1}});

  std::map<std::string, Stage> stages;
  std::vector<log::Trial> all = scene.trials(tuned);
  CHECK(all.size() == 12);
  for (log::Trial& trial : scene.trials(refused)) all.push_back(std::move(trial));
  for (const log::Trial& trial : all) {
    if (!trial.outcome.ok()) {
      stages[trial.outcome.failure().code] = trial.outcome.failure().stage;
    }
  }
  CHECK(stages == std::map<std::string, Stage>{{"link.closed", Stage::link},
                                               {"lower.mapping", Stage::lower},
                                               {"run.fault", Stage::run},
                                               {"run.timeout", Stage::run}});
}

TEST_CASE("A board is flashed once for 20 candidates, and the time of each is told in full") {
  Folder folder;
  target::Target target = host();
  const std::string starts = (folder.path / "starts").string();
  target.runner.command = fmt::format(
      "sh -c 'sleep 2; echo flashed >> {}; exec \"$0\" \"$@\"' {{runner}} --harts 1 --code-bytes "
      "1048576 --data-bytes 4194304",
      starts);
  Stopwatch reaching;
  const std::unique_ptr<transport::Device> device = taken(tune::reach(target, ""));
  CHECK(reaching.seconds() >= 2);
  // About a millisecond.
  const ir::Program plain =
      taken(ir::parse("kernel k\nin x f32 [60, 60]\ninout y f32 [60, 60]\n\n60\n| 60\n| | 200\n"
                      "| | | y[{0}, {1}] += x[{0}, {1}] * 3\n"))
          .program;
  const std::unique_ptr<tune::Bench> bench = taken(tune::Bench::open(plain, target, *device, {}));
  int candidates = 0;
  double told = 0, waited = 0;
  for (const char* scope : {"@0", "@0.0"}) {
    for (const int size : {2, 3, 4, 5, 6, 10, 12, 15, 20, 30}) {
      const ir::Program candidate =
          moved(plain, target, fmt::format("split_scope {} {}", scope, size));
      Stopwatch watch;
      bench->submit(search::candidate(candidate, {}));
      const std::optional<Outcome> outcome = bench->next();
      waited += watch.seconds();
      REQUIRE(outcome);
      CHECK(outcome->ok());
      const TimeSplit& time = outcome->time;
      CHECK(time.transfer < 1);
      told += time.compile + time.transfer + time.verify + time.run + time.queue;
      ++candidates;
    }
  }
  CHECK(candidates == 20);
  CHECK(told == Approx(waited).epsilon(0.05));
  std::ifstream file(starts);
  CHECK(std::count(std::istreambuf_iterator<char>(file), {}, '\n') == 1);
}

TEST_CASE("Waiting in a queue never counts against running") {
  Scene scene;
  const ir::Program plain = program("* 3");
  const std::unique_ptr<tune::Bench> bench =
      taken(tune::Bench::open(plain, scene.target, *scene.device, {}));
  // Four calls each: all of them together take several times as long as one may.
  scene.saboteur->busySeconds = 0.1;
  for (const int size : {2, 3, 4, 5}) {
    bench->submit(
        search::candidate(moved(plain, scene.target, fmt::format("split_scope @0 {}", size)), {}));
  }
  double longest = 0;
  for (int k = 0; k < 4; ++k) {
    const std::optional<Outcome> outcome = bench->next();
    REQUIRE(outcome);
    INFO((outcome->ok() ? "" : outcome->failure().detail));
    CHECK(outcome->ok());
    CHECK(outcome->time.run < scene.target.runner.callSeconds + 1);
    longest = std::max(longest, outcome->time.queue);
  }
  CHECK(longest > 2 * scene.target.runner.callSeconds);
}

TEST_CASE("Where every move makes it slower, the winner is the untouched program") {
  Scene scene;
  Saboteur& saboteur = *scene.saboteur;
  // In the search they may even look faster.
  const bool lures = GENERATE(false, true);
  saboteur.ticks = [&](std::uint64_t ticks) {
    const bool untouched = saboteur.loads == 0 || saboteur.code == saboteur.first;
    if (untouched) return 20 * ticks;
    return lures && saboteur.loads <= 16 ? 10 * ticks : 400 * ticks;
  };
  const tune::Tuned tuned = scene.tune(Scene::request(16));
  CHECK(tuned.failures == 0);
  REQUIRE_FALSE(tuned.finals.empty());
  CHECK(tuned.finals[0].plain);
  CHECK(tuned.winner.program == ir::print(program("* 3")));
  CHECK(tuned.speedup() == 1);
}
