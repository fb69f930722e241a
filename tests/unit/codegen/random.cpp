// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs after random moves: what lowering accepts compiles and computes the same.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "ir/print.h"
#include "moves/lowerable.h"
#include "moves/move.h"
#include "proof/generate.h"
#include "unit/codegen/compare.h"

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

TEST_CASE("random programs after random moves") {
  const char* wanted = std::getenv("DOJO_RANDOM_PROGRAMS");
  const int programs = wanted == nullptr ? 150 : std::atoi(wanted);
  const char* seed = std::getenv("DOJO_SEED");
  proof::Random random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  const std::array targets = {&host(), &middling(), &plain()};
  int compiled = 0;
  for (int i = 0; i < programs; ++i) {
    const target::Target& target = *targets[static_cast<std::size_t>(i) % targets.size()];
    const ir::Program program = moved(proof::randomProgram(random), target, random, 10);
    if (!moves::lowerable(program, target)) continue;
    ++compiled;
    agrees(ir::print(program), kCarried, &target);
  }
  CHECK(compiled > programs / 3);
}

}  // namespace dojo::test
