// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/solver.h"

#include <random>

#include <catch2/catch.hpp>

#include "ir/solver_isl.h"
#include "ir/solver_reduce.h"

using dojo::ir::Answer;
using dojo::ir::System;

namespace {

/// The constraints as they were asked for, before the system simplifies any.
struct Row {
  std::vector<System::Coef> terms;
  std::int64_t lo, hi;
};

bool bruteForce(const System& system, const std::vector<Row>& rows) {
  const auto& variables = system.variables();
  std::vector<std::int64_t> values;
  for (const auto& var : variables) values.push_back(var.lo);
  while (true) {
    bool holds = true;
    for (const Row& row : rows) {
      std::int64_t sum = 0;
      for (const auto& term : row.terms) {
        sum += term.coef * values[static_cast<std::size_t>(term.var)];
      }
      holds = holds && sum >= row.lo && sum <= row.hi;
    }
    if (holds) return true;
    std::size_t v = 0;
    while (v < values.size() && values[v] == variables[v].hi) {
      values[v] = variables[v].lo;
      ++v;
    }
    if (v == values.size()) return false;
    ++values[v];
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t operator()(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(engine_);
  }

 private:
  std::mt19937_64 engine_;
};

/// A system as dependence questions make them, or (wild) any.
std::vector<Row> build(System& system, Random& random, bool wild) {
  system.clear();
  const auto count = static_cast<int>(random(1, wild ? 5 : 6));
  for (int v = 0; v < count; ++v) {
    const std::int64_t lo = random(-2, 1);
    system.variable(lo, lo + random(0, wild ? 6 : 4));
  }
  std::vector<Row> rows(static_cast<std::size_t>(random(1, 4)));
  for (Row& row : rows) {
    for (int v = 0; v < count; ++v) {
      if (random(0, 2) == 0) continue;
      const std::int64_t repeat = random(0, 5) == 0 ? 2 : 1;
      for (std::int64_t i = 0; i < repeat; ++i) {
        row.terms.push_back(
            {v, wild ? random(-7, 7) : random(-1, 1) * (random(0, 2) == 0 ? 4 : 1)});
      }
    }
    row.lo = random(-8, 8);
    row.hi = row.lo + random(0, 1) * random(0, 3);
    if (random(0, 3) == 0) row.lo = -System::kInfinity;
    if (random(0, 3) == 0) row.hi = System::kInfinity;
    system.constrain(row.terms, row.lo, row.hi);
  }
  return rows;
}

}  // namespace

TEST_CASE("the solver agrees with enumeration") {
  Random random(7);
  System system;
  int yes = 0;
  for (int i = 0; i < 60000; ++i) {
    const std::vector<Row> rows = build(system, random, i % 2 == 0);
    const bool expected = bruteForce(system, rows);
    yes += expected ? 1 : 0;
    CAPTURE(i);
    REQUIRE(system.feasible() == (expected ? Answer::yes : Answer::no));
  }
  CHECK(yes > 10000);
  CHECK(yes < 50000);
}

TEST_CASE("isl and the solver's own search agree") {
  Random random(11);
  System system;
  for (int i = 0; i < 2000; ++i) {
    build(system, random, true);
    if (system.refuted()) continue;
    dojo::ir::Reducer reducer;
    CAPTURE(i);
    REQUIRE(dojo::ir::feasibleByIsl(system) == reducer.solve(system, 100000));
  }
}

TEST_CASE("a spent budget falls back on isl") {
  // 29 is the largest number that 6, 10 and 15 don't make.
  System system;
  const int x = system.variable(0, 1 << 20);
  const int y = system.variable(0, 1 << 20);
  const int z = system.variable(0, 1 << 20);
  system.constrain({{x, 6}, {y, 10}, {z, 15}}, 29, 29);
  CHECK(system.feasible(0) == Answer::no);
  system.clear();
  CHECK(system.feasible() == Answer::yes);
}

TEST_CASE("large blocked indices are answered without a search") {
  // i*64 + j*8 + k = i'*64 + j'*8 + k' with i < i'.
  System system;
  std::vector<System::Coef> same;
  for (const std::int64_t sign : {1, -1}) {
    same.push_back({system.variable(0, (1 << 20) - 1), sign * 64});
    same.push_back({system.variable(0, 7), sign * 8});
    same.push_back({system.variable(0, 7), sign});
  }
  system.constrain(same, 0, 0);
  CHECK(system.feasible(1) == Answer::yes);
  system.constrain({{0, 1}, {3, -1}}, -System::kInfinity, -1);
  dojo::ir::Reducer reducer;
  CHECK(reducer.solve(system, 0) == Answer::no);
}

TEST_CASE("sums beyond int64 are unknown, and counted") {
  System system;
  const int x = system.variable(0, std::int64_t{1} << 40);
  system.constrain({{x, std::int64_t{1} << 40}}, 1, 1);
  const auto before = dojo::ir::undecidedCount();
  CHECK(system.feasible() == Answer::unknown);
  CHECK(dojo::ir::undecidedCount() == before + 1);
}

TEST_CASE("a rewound system is the former one") {
  System system;
  const int x = system.variable(0, 9);
  const int y = system.variable(0, 9);
  system.constrain({{x, 1}, {y, -1}}, 1, System::kInfinity);
  const System::Mark mark = system.mark();
  system.constrain({{x, 1}, {y, -1}}, -System::kInfinity, 0);
  CHECK(system.feasible() == Answer::no);
  system.rewind(mark);
  CHECK(system.feasible() == Answer::yes);
  system.constrain({{x, 1}, {y, 1}}, 100, 200);
  CHECK(system.refuted());
  system.rewind(mark);
  CHECK_FALSE(system.refuted());
}
