// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random moves on random programs. DOJO_MOVES=N sets how many, DOJO_SEED=S with which seed.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "proof/prove_moves.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

}  // namespace

TEST_CASE("random moves on random programs keep their meaning and can be undone") {
  proof::ProofOptions options;
  options.moves = setting("DOJO_MOVES", options.moves);
  options.seed = static_cast<std::uint64_t>(setting("DOJO_SEED", 1));
  const target::Target target = proof::withEverything(test::someTarget());
  const proof::ProofReport report = proof::proveMoves(target, options);
  for (const proof::MoveFailure& failure : report.failures) FAIL_CHECK(failure.text());
  REQUIRE(report.failures.empty());
  CHECK(report.moves == options.moves);
  // Every rule has had its turn.
  for (const proof::MoveCount& count : report.counts) {
    INFO(count.name << " was applied " << count.applied << " times");
    CHECK(count.applied >= proof::leastApplications(options.moves));
  }
}
