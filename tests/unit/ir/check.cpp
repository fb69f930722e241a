// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check.h"

#include <map>

#include <catch2/catch.hpp>

#include "check_brute.h"
#include "check_random.h"
#include "ir/check_internal.h"
#include "ir/print.h"

using namespace dojo::ir;
using namespace dojo::test;

namespace {

std::string codeOf(const dojo::Status& status) { return status.ok() ? "" : status.error().code; }

}  // namespace

TEST_CASE("check agrees with enumeration on affine programs") {
  Random random(17);
  std::map<std::string, int> verdicts;
  for (int i = 0; i < 12000; ++i) {
    const Shape shape{i % 3 == 0, false, i % 5 != 0, i % 2 == 0};
    const Program program = randomProgram(random, shape);
    const std::string expected = bruteForceCheck(program, {});
    const std::string answer = codeOf(check(program));
    INFO("program " << i << "\n" << print(program));
    // A program may break both rules about writing; either is a right answer.
    REQUIRE(answer.substr(0, 15) == expected.substr(0, 15));
    ++verdicts[answer];
  }
  for (const auto& [verdict, count] : verdicts) {
    WARN("verdict '" << verdict << "': " << count << " programs");
  }
  CHECK(verdicts[""] > 500);
  CHECK(verdicts["check.bounds"] > 500);
  CHECK(verdicts["check.mapping"] > 500);
  CHECK(verdicts["check.unwritten-read"] > 500);
  CHECK(verdicts["check.unwritten-out"] > 500);
}
