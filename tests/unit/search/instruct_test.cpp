// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products done by instructions that only a target's description knows.
#include <algorithm>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "search/composite.h"
#include "search/expert.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

/// Rows of sixteen results, of unsigned and signed bytes.
target::Target withVectors() {
  target::Target target = test::someTarget();
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  target.instructions = {
      test::vendorInstruction("kernel dots\n"
                              "inout c i32 [16]\nin a u8 [16, 4]\nin b i8 [16, 4]\n"
                              "16\n| 4\n| | c[{0}] += a[{0}, {1}] * b[{0}, {1}]\n",
                              "dots {c}, {a}, {b}", {"v", "v", "v"})};
  return target;
}

/// One result at a time, on a core without vectors.
target::Target withWords() {
  target::Target target = test::someTarget();
  target.harts = 1;
  target.triple = "riscv32-unknown-elf";
  target.features = "+m";
  target.vector = {};
  target.mappings = {"unroll"};
  std::erase_if(target.instructions,
                [](const target::VendorInstruction& each) { return each.name != "dot4"; });
  return target;
}

ir::Program qmatmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  ir::ParseOptions options;
  options.params = {{"M", m}, {"N", n}, {"K", k}};
  return kernels::load("qmatmul", options)->program;
}

search::StatePtr stateOf(const ir::Program& program, const target::Target& target) {
  return std::make_shared<const moves::State>(program, target);
}

void computesTheSame(const ir::Program& plain, const ir::Program& after) {
  CHECK(ir::check(after).ok());
  const auto a = ir::interpretExact(plain, 3, {1, 1 << 22});
  const auto b = ir::interpretExact(after, 3, {1, 1 << 22});
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(*a == *b);
}

bool holds(const ir::Program& program, const std::string& part) {
  return ir::print(program).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a block of results by an instruction on words") {
  const target::Target target = withWords();
  const ir::Program plain = qmatmul(8, 8, 16);
  const auto made = search::expand(
      stateOf(plain, target),
      {"instruct",
       {ir::Path{0}, std::int64_t{0}, std::int64_t{2}, std::int64_t{4}, std::int64_t{1}}});
  INFO((made ? ir::print(made->state->program()) : made.error().text()));
  REQUIRE(made.ok());
  CHECK(holds(made->state->program(), "!dot4("));
  CHECK(moves::lowerable(made->state->program(), target).ok());
  computesTheSame(plain, made->state->program());
}

TEST_CASE("a block of results by an instruction on vectors that wants one operand unsigned") {
  const target::Target target = withVectors();
  const ir::Program plain = qmatmul(8, 32, 16);
  const auto made = search::expand(
      stateOf(plain, target),
      {"instruct",
       {ir::Path{0}, std::int64_t{0}, std::int64_t{4}, std::int64_t{2}, std::int64_t{2}}});
  INFO((made ? ir::print(made->state->program()) : made.error().text()));
  REQUIRE(made.ok());
  CHECK(holds(made->state->program(), "!dots("));
  CHECK(moves::lowerable(made->state->program(), target).ok());
  computesTheSame(plain, made->state->program());
}

TEST_CASE("the recipe uses instructions where they fit, and none where they don't") {
  for (const target::Target& target : {withWords(), withVectors()}) {
    const std::string use = "!" + target.instructions.front().name + "(";
    for (const std::int64_t size : {16, 32}) {
      const ir::Program plain = qmatmul(size, 32, size);
      const search::Position best = search::expert({stateOf(plain, target), {}});
      const ir::Program& after = best.state()->program();
      INFO(ir::print(after));
      CHECK(holds(after, use));
      CHECK(moves::lowerable(after, target).ok());
      computesTheSame(plain, after);
    }
    const ir::Program odd = qmatmul(5, 7, 9);
    const search::Position best = search::expert({stateOf(odd, target), {}});
    CHECK_FALSE(holds(best.state()->program(), "!"));
    computesTheSame(odd, best.state()->program());
  }
}
