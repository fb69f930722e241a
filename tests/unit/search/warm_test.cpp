// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule of one shape at another.
#include "search/warm.h"

#include <catch2/catch.hpp>

#include "ir/print.h"
#include "moves/lowerable.h"
#include "search/expert.h"
#include "search/search.h"
#include "support/some_target.h"
#include "unit/search/fake.h"

using namespace dojo;

namespace {

search::Position at(const target::Target& target, int m, int n, int k) {
  return {std::make_shared<const moves::State>(test::matmul(m, n, k), target), {}};
}

moves::Trace traceOf(const search::Position& position) { return position.toCandidate().trace; }

}  // namespace

TEST_CASE("a schedule fits itself, and other shapes by other factors") {
  const target::Target target = test::someTarget();
  const search::Position here = at(target, 32, 64, 16);
  const moves::Trace trace = traceOf(search::expert(here));
  REQUIRE(trace.size() > 5);
  CHECK(traceOf(search::fitted(here, trace)) == trace);

  const auto split = moves::parseTrace("split_scope @0.0 16\nsplit_scope @0 8\n", "here").value();
  const search::Position there = at(target, 36, 40, 7);
  const search::Position fitted = search::fitted(there, split);
  // 16 doesn't divide 40, 8 does not divide 36: 20 and 9 are nearest.
  CHECK(moves::toString(traceOf(fitted)) == "split_scope @0.0 20\nsplit_scope @0 9\n");
  // What can't be is left out, and the rest stays.
  const auto some = moves::parseTrace("split_scope @7 4\nsplit_scope @0.0 10\n", "here").value();
  CHECK(moves::toString(traceOf(search::fitted(there, some))) == "split_scope @0.0 10\n");
}

TEST_CASE("schedules brought over are tried after the expert's, and only once") {
  target::Target target = test::someTarget();
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  const auto split = moves::parseTrace("split_scope @0.0 16\n", "here").value();
  for (const search::StrategyInfo& info : search::strategies()) {
    search::Problem problem{test::matmul(), test::matmul(), {}, &target, 1, 20};
    problem.warm = {split, split, {}};
    auto strategy = info.make(problem);
    test::FakeEvaluator evaluator;
    search::Search search(problem, *strategy);
    REQUIRE(search.run(evaluator, {20}, {}).ok());
    search.settle();
    INFO(info.name);
    REQUIRE(search.history().size() > 3);
    CHECK(search.history().all()[2].candidate.trace == split);
    const auto other = search.history().all()[3].candidate.trace;
    CHECK(other != split);
  }
}
