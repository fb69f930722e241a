// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/environment.h"

#include <catch2/catch.hpp>

#include "ir/print.h"
#include "support/some_target.h"
#include "unit/search/fake.h"

using namespace dojo;

TEST_CASE("steps, undo, redo and restart") {
  const target::Target target = test::someTarget();
  search::Environment env(test::matmul(), target, nullptr);
  const std::string start = env.state();
  CHECK(env.undo().error().code == "environment.start");
  CHECK(env.redo().error().code == "environment.end");
  REQUIRE(env.step("split_scope @0 8").ok());
  const std::string split = env.state();
  REQUIRE(env.step("vectorize_loop @0.0.0 1").ok());
  CHECK(env.trace().size() > 1);
  CHECK(ir::print(moves::replay(test::matmul(), target, env.trace()).value()) == env.state());
  REQUIRE(env.undo().ok());
  CHECK(env.state() == split);
  REQUIRE(env.redo().ok());
  CHECK(env.state() != split);
  REQUIRE(env.undo().ok());
  REQUIRE(env.step("unroll @0.0").ok());
  CHECK(env.redo().error().code == "environment.end");
  env.restart();
  CHECK(env.state() == start);
  CHECK(env.trace().empty());
}

TEST_CASE("a step that is refused changes nothing") {
  const target::Target target = test::someTarget();
  search::Environment env(test::matmul(), target, nullptr);
  const std::string start = env.state();
  CHECK(env.step("split_scope @0 7").error().code == "move.extent");
  CHECK(env.step("split_scop @0 8").error().code == "move.unknown");
  CHECK(env.step("").error().code == "move.syntax");
  CHECK(env.step("split_scope @0 @0").error().code == "move.arguments");
  const moves::Trace bad = {*moves::parseMove("split_scope @0 8"),
                            *moves::parseMove("split_scope @0 7")};
  const Status status = env.steps(bad);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().where.find("move 2") == 0);
  CHECK(env.state() == start);
  CHECK(env.undo().error().code == "environment.start");
}

TEST_CASE("all moves that are listed can be made") {
  const target::Target target = test::someTarget();
  search::Environment env(test::matmul(), target, nullptr);
  const std::vector<moves::Move> all = env.moves();
  REQUIRE(all.size() > 20);
  for (const moves::Move& move : all) {
    INFO(moves::toString(move));
    REQUIRE(env.step(move).ok());
    REQUIRE(env.undo().ok());
  }
  CHECK(env.movesAt({0}).size() < all.size());
}

TEST_CASE("measuring is a choice, and nothing is measured twice") {
  const target::Target target = test::someTarget();
  test::FakeEvaluator evaluator;
  search::Environment env(test::matmul(), target, &evaluator);
  REQUIRE(env.step("vectorize_loop @0.0 1").ok());
  CHECK(evaluator.submitted.empty());
  auto reward = env.measure();
  REQUIRE(reward.ok());
  CHECK(evaluator.submitted.size() == 2);  // the plain program too
  CHECK(reward->reward ==
        Approx(test::simpleCycles(test::matmul()) / test::simpleCycles(env.program())));
  CHECK(reward->reward > 1);
  REQUIRE(env.measure().ok());
  CHECK(evaluator.submitted.size() == 2);
  REQUIRE(env.undo().ok());
  CHECK(env.measure()->reward == 1);
  CHECK(evaluator.submitted.size() == 2);
}

TEST_CASE("a failure earns nothing, and without a device measuring says so") {
  const target::Target target = test::someTarget();
  test::FakeEvaluator evaluator;
  evaluator.twist = [](std::size_t index, Outcome& outcome) {
    if (index == 1) outcome.result = Failure{Stage::run, "run.fault", "it failed"};
  };
  search::Environment env(test::matmul(), target, &evaluator);
  REQUIRE(env.step("split_scope @0 8").ok());
  auto reward = env.measure();
  REQUIRE(reward.ok());
  CHECK(reward->reward == 0);
  CHECK(reward->baselineCycles > 0);
  CHECK(reward->outcome.failure().code == "run.fault");
  search::Environment alone(test::matmul(), target, nullptr);
  CHECK(alone.measure().error().code == "environment.no-device");
}
