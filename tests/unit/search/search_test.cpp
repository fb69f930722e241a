// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/search.h"

#include <set>

#include <catch2/catch.hpp>

#include "ir/print.h"
#include "moves/lowerable.h"
#include "support/some_target.h"
#include "unit/search/fake.h"

using namespace dojo;
using test::FakeClock;
using test::FakeEvaluator;

namespace {

struct Setup {
  target::Target target = test::someTarget();
  search::Problem problem;
  FakeEvaluator evaluator;
  std::unique_ptr<search::Strategy> strategy;

  explicit Setup(const std::string& name, std::uint64_t seed = 1, std::int64_t trials = 60) {
    target.harts = 1;
    std::erase(target.mappings, "parallel");
    problem = {test::matmul(), test::matmul(), {}, &target, seed, trials};
    strategy = search::makeStrategy(name, problem).value();
  }
  search::Search search(std::vector<search::Recorded> recorded = {}) {
    return {problem, *strategy, std::move(recorded)};
  }
  /// To the end of a budget.
  Result<search::End> run(search::Search& search, const search::Budget& budget,
                          const search::Search::Hooks& hooks = {}) {
    auto end = search.run(evaluator, budget, hooks);
    search.settle();
    return end;
  }
};

std::vector<std::string> allStrategies() {
  std::vector<std::string> out;
  for (const search::StrategyInfo& info : search::strategies()) out.emplace_back(info.name);
  return out;
}

}  // namespace

TEST_CASE("every strategy: the plain program first, none twice, all lowerable, budget kept") {
  for (const std::string& name : allStrategies()) {
    Setup setup(name);
    search::Search search = setup.search();
    auto end = setup.run(search, {60});
    REQUIRE(end.ok());
    INFO(name);
    CHECK((*end == search::End::trials || *end == search::End::exhausted));
    CHECK(setup.evaluator.submitted.size() <= 60);
    CHECK(setup.evaluator.submitted.size() >= 30);
    CHECK(setup.evaluator.submitted[0] == ir::print(test::matmul()));
    const std::set<std::string> distinct(setup.evaluator.submitted.begin(),
                                         setup.evaluator.submitted.end());
    CHECK(distinct.size() == setup.evaluator.submitted.size());
    for (const search::Tried& tried : search.history().all()) {
      CHECK(moves::lowerable(tried.candidate.program, setup.target).ok());
      auto replayed = moves::replay(test::matmul(), setup.target, tried.candidate.trace);
      REQUIRE(replayed.ok());
      CHECK(ir::print(*replayed) == tried.candidate.text);
    }
    CHECK(search.progress().best <= search.progress().baseline);
  }
}

TEST_CASE("one seed, one path") {
  for (const std::string& name : allStrategies()) {
    Setup one(name, 5), same(name, 5), other(name, 6);
    for (Setup* setup : {&one, &same, &other}) {
      search::Search search = setup->search();
      REQUIRE(setup->run(search, {40}).ok());
    }
    CHECK(one.evaluator.submitted == same.evaluator.submitted);
    CHECK(one.evaluator.submitted != other.evaluator.submitted);
  }
}

TEST_CASE("a search that was cut anywhere goes on as if it hadn't been") {
  for (const std::string& name : allStrategies()) {
    Setup whole(name, 3);
    // Failures among the outcomes are part of the path.
    auto twist = [](std::size_t index, Outcome& outcome) {
      if (index % 7 == 3) outcome.result = Failure{Stage::run, "run.fault", "it failed"};
    };
    whole.evaluator.twist = twist;
    search::Search search = whole.search();
    REQUIRE(whole.run(search, {40}).ok());
    const std::vector<std::string>& path = whole.evaluator.submitted;
    for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, path.size() - 1, path.size()}) {
      std::vector<search::Recorded> recorded;
      for (std::size_t k = 0; k < cut; ++k) {
        const search::Tried& tried = search.history().all()[k];
        recorded.push_back({tried.candidate.text, *tried.outcome});
      }
      Setup rest(name, 3);
      rest.evaluator.twist = [&](std::size_t index, Outcome& outcome) {
        twist(index + cut, outcome);
      };
      search::Search again = rest.search(recorded);
      REQUIRE(rest.run(again, {40}).ok());
      INFO(name << " cut at " << cut);
      CHECK(rest.evaluator.submitted ==
            std::vector<std::string>(path.begin() + static_cast<std::ptrdiff_t>(cut), path.end()));
      CHECK(again.history().best() == search.history().best());
      CHECK(again.history().failures() == search.history().failures());
    }
  }
}

TEST_CASE("a search that pauses takes the path of one that doesn't, and tells what it knows") {
  for (const std::string& name : allStrategies()) {
    Setup whole(name, 3), parts(name, 3);
    search::Search atOnce = whole.search();
    REQUIRE(whole.run(atOnce, {40}).ok());
    search::Search search = parts.search();
    for (const std::int64_t pause : {1, 2, 3, 9, 10, 17, 33, 40}) {
      const auto end = search.run(parts.evaluator, {pause}, {});
      REQUIRE(end.ok());
      const auto trials = static_cast<std::int64_t>(parts.evaluator.submitted.size());
      CHECK(search.progress().trials == trials);
      CHECK(trials <= pause);
      CHECK(search.progress().baseline == atOnce.progress().baseline);
    }
    search.settle();
    INFO(name);
    CHECK(parts.evaluator.submitted == whole.evaluator.submitted);
    CHECK(search.history().best() == atOnce.history().best());
    CHECK(search.progress().best == atOnce.progress().best);
  }
}

TEST_CASE("the log of another search is refused") {
  Setup setup("annealing");
  search::Search search = setup.search({{"kernel other\n", {}}});
  auto end = setup.run(search, {10});
  REQUIRE_FALSE(end.ok());
  CHECK(end.error().code == "search.recorded");
  CHECK(setup.evaluator.submitted.empty());
}

TEST_CASE("budgets: one trial, and seconds") {
  Setup one("annealing");
  search::Search search = one.search();
  REQUIRE(*one.run(search, {1}) == search::End::trials);
  CHECK(one.evaluator.submitted.size() == 1);

  Setup timed("annealing", 1, 1000);
  FakeClock clock;
  clock.step = 0.1;
  search::Search bySeconds(timed.problem, *timed.strategy, {}, clock);
  auto end = timed.run(bySeconds, {1000, 3.0});
  REQUIRE(end.ok());
  CHECK(*end == search::End::seconds);
  CHECK(timed.evaluator.submitted.size() >= 1);
  CHECK(timed.evaluator.submitted.size() < 40);
  CHECK(bySeconds.progress().trials == static_cast<std::int64_t>(timed.evaluator.submitted.size()));
}

TEST_CASE("stopping keeps what there is") {
  Setup setup("annealing");
  setup.evaluator.stopAfter = 12;
  search::Search search = setup.search();
  int outcomes = 0;
  search::Search::Hooks hooks;
  hooks.onOutcome = [&](std::int64_t index, const search::Candidate&, Outcome&) -> Status {
    CHECK(index == outcomes++);
    return {};
  };
  auto end = setup.run(search, {60}, hooks);
  REQUIRE(end.ok());
  CHECK(*end == search::End::stopped);
  CHECK(outcomes == 12);
  CHECK(search.progress().trials == 12);
  CHECK(search.progress().best > 0);
}

TEST_CASE("an outcome that can't be logged ends the search") {
  Setup setup("random");
  search::Search::Hooks hooks;
  hooks.onOutcome = [](std::int64_t, const search::Candidate&, Outcome&) -> Status {
    return Error{"log.full", "no space", "", ""};
  };
  search::Search search = setup.search();
  auto end = setup.run(search, {60}, hooks);
  REQUIRE_FALSE(end.ok());
  CHECK(end.error().code == "log.full");
}

TEST_CASE("failures and what was cut never win, all failing is survived") {
  for (const std::string& name : allStrategies()) {
    Setup setup(name);
    setup.evaluator.twist = [](std::size_t index, Outcome& outcome) {
      if (index == 0) return;
      if (index % 2 == 0) {
        outcome.result = Failure{Stage::verify, "verify.mismatch", "wrong"};
      } else {
        outcome.measurement().cycles = outcome.measurement().score = 1;
        outcome.measurement().censored = true;
      }
    };
    search::Search search = setup.search();
    REQUIRE(setup.run(search, {40}).ok());
    CHECK(search.history().best() == 0);

    Setup dead(name);
    dead.evaluator.twist = [](std::size_t, Outcome& outcome) {
      outcome.result = Failure{Stage::run, "run.crash", "dead"};
    };
    search::Search none = dead.search();
    REQUIRE(dead.run(none, {40}).ok());
    CHECK(none.history().best() == -1);
    CHECK(none.progress().best == 0);
  }
}

TEST_CASE("annealing and greedy find what a simple machine likes") {
  for (const std::string name : {"annealing", "greedy"}) {
    Setup setup(name, 1, 200);
    search::Search search = setup.search();
    REQUIRE(setup.run(search, {200}).ok());
    INFO(name << " " << search.progress().baseline << " -> " << search.progress().best);
    CHECK(search.progress().best * 8 < search.progress().baseline);
  }
}

TEST_CASE("what is certainly slow is left out while there is something better") {
  // Rates as on a machine where operations are all that counts.
  Setup setup("random", 3, 150);
  setup.problem.expert = true;
  setup.strategy = search::makeStrategy("random", setup.problem).value();
  search::Search search = setup.search();
  REQUIRE(setup.run(search, {150}).ok());
  CHECK(setup.strategy->pruned() > 20);
  const double best = search.progress().best;
  int slow = 0;
  for (const search::Tried& tried : search.history().all()) {
    if (tried.outcome->measurement().cycles > 8 * best) ++slow;
  }
  // The plain program itself, and a few that are tried for want of others.
  CHECK(slow >= 1);
  CHECK(slow < 30);
}

TEST_CASE("a start that isn't the plain program is the second trial") {
  Setup setup("annealing");
  moves::Trace trace = {*moves::parseMove("split_scope @0 8")};
  setup.problem.start = moves::replay(setup.problem.plain, setup.target, trace).value();
  setup.problem.startTrace = trace;
  setup.strategy = search::makeStrategy("annealing", setup.problem).value();
  search::Search search = setup.search();
  REQUIRE(setup.run(search, {20}).ok());
  CHECK(setup.evaluator.submitted[0] == ir::print(setup.problem.plain));
  CHECK(setup.evaluator.submitted[1] == ir::print(setup.problem.start));
  for (const search::Tried& tried : search.history().all()) {
    auto replayed = moves::replay(setup.problem.plain, setup.target, tried.candidate.trace);
    REQUIRE(replayed.ok());
    CHECK(ir::print(*replayed) == tried.candidate.text);
  }
}

TEST_CASE("an unknown strategy is told with the nearest") {
  Setup setup("random");
  auto made = search::makeStrategy("anealing", setup.problem);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == "search.strategy");
  CHECK(made.error().message.find("did you mean 'annealing'") != std::string::npos);
}
