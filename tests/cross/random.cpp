// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs after random moves, on other machines. DOJO_CROSS_LONG in the environment: more
// of them; DOJO_SEED: others.
#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "cross/machines.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "moves/move.h"
#include "proof/generate.h"

namespace dojo::test {
namespace {

/// Up to `steps` moves, mappings and locations more often than their share.
ir::Program moved(ir::Program program, const target::Target& target, proof::Random& random,
                  int steps) {
  for (int i = 0; i < steps; ++i) {
    std::vector<moves::Move> choices = moves::applicable(program, target);
    if (choices.empty()) break;
    random.shuffle(choices);
    if (random.oneIn(2)) {
      std::stable_partition(choices.begin(), choices.end(), [](const moves::Move& move) {
        return move.name == "vectorize" || move.name == "unroll" || move.name == "parallelize" ||
               move.name == "set_location";
      });
    }
    Result<ir::Program> next = moves::apply(program, target, choices.front());
    REQUIRE((next.ok() ? "" : next.error().text()) == "");
    program = std::move(next).value();
  }
  return program;
}

}  // namespace

TEST_CASE("random programs after random moves on every machine") {
  const int programs = std::getenv("DOJO_CROSS_LONG") == nullptr ? 12 : 300;
  const char* seed = std::getenv("DOJO_SEED");
  const char* only = std::getenv("DOJO_MACHINE");
  proof::Random random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  for (const Machine& there : machines()) {
    if (only != nullptr && there.target.name != only) continue;
    int ran = 0;
    for (int i = 0; i < programs; ++i) {
      const ir::Program program = moved(proof::randomProgram(random), there.target, random, 10);
      if (!moves::lowerable(program, there.target)) continue;
      const std::string wrong =
          wrongThere(program, there, {ir::InputSet::uniform, ir::InputSet::awkward});
      CHECK(wrong == "");
      if (wrong.empty()) ++ran;
    }
    INFO(there.target.name);
    CHECK(ran >= programs / 4);
  }
}

}  // namespace dojo::test
