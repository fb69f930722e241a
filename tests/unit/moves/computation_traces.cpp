// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The traces that a person plays by hand, in tests/traces: KERNEL.trace leads from the plain
/// kernel to KERNEL.dojo, each step valid, equal in what it computes, and with a way back.
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "base/text.h"
#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/move.h"
#include "support/some_target.h"

namespace dojo {

namespace {

const std::string kFolder = std::string(DOJO_SOURCE_DIR) + "/tests/traces/";

moves::Trace traceOf(const std::string& kernel) {
  const auto text = readFile(kFolder + kernel + ".trace");
  REQUIRE(text.ok());
  const auto trace = moves::parseTrace(*text, kernel + ".trace");
  REQUIRE((trace.ok() ? "" : trace.error().text()) == std::string());
  return *trace;
}

ir::Program kernelOf(const std::string& kernel, const std::map<std::string, std::int64_t>& shape) {
  ir::ParseOptions options;
  options.params = shape;
  auto parsed = kernels::load(kernel, options);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
  return parsed->program;
}

std::string problem(const Status& status) { return status.ok() ? "" : status.error().text(); }

/// In the size of the suite: the text that the trace leads to.
void checkText(const std::string& kernel) {
  const target::Target target = test::someTarget();
  const auto result = moves::replay(kernelOf(kernel, {}), target, traceOf(kernel));
  REQUIRE((result.ok() ? "" : result.error().text()) == std::string());
  CHECK(problem(moves::lowerable(*result, target)).empty());
  const std::string path = kFolder + kernel + ".dojo";
  const char* update = std::getenv("DOJO_GOLDEN");
  if (update != nullptr && std::string_view(update) == "update") {
    REQUIRE(writeFile(path, ir::print(*result)).ok());
  }
  const auto expected = readFile(path);
  REQUIRE(expected.ok());
  CHECK(ir::print(*result) == *expected);
}

/// In a small size: every step.
void checkSteps(const std::string& kernel, const std::map<std::string, std::int64_t>& shape) {
  const target::Target target = test::someTarget();
  const ir::Program start = kernelOf(kernel, shape);
  const auto expected = ir::interpretExact(start, 3);
  REQUIRE(expected.ok());
  ir::Program program = start;
  std::vector<moves::Trace> ways;
  for (const moves::Move& move : traceOf(kernel)) {
    INFO(moves::toString(move) << "\n" << ir::print(program));
    auto next = moves::apply(program, target, move);
    REQUIRE((next.ok() ? "" : next.error().text()) == std::string());
    REQUIRE(problem(ir::check(*next)).empty());
    const auto computed = ir::interpretExact(*next, 3);
    REQUIRE(computed.ok());
    REQUIRE(*computed == *expected);
    ways.push_back(moves::undo(program, target, move, *next));
    program = std::move(*next);
  }
  for (auto way = ways.rbegin(); way != ways.rend(); ++way) {
    auto before = moves::replay(program, target, *way);
    REQUIRE((before.ok() ? "" : before.error().text()) == std::string());
    program = std::move(*before);
  }
  CHECK(ir::print(program) == ir::print(start));
}

}  // namespace

TEST_CASE("the matmul trace leads to a register block") {
  checkText("matmul");
  checkSteps("matmul", {{"M", 16}, {"N", 64}, {"K", 5}});
}

TEST_CASE("the softmax trace leads to one vectorised pass") {
  checkText("softmax");
  checkSteps("softmax", {{"N", 3}, {"M", 128}});
}

TEST_CASE("the attention trace leads to one pass over blocks of keys") {
  checkText("attention");
  checkSteps("attention", {{"N", 128}, {"D", 3}});
}

}  // namespace dojo
