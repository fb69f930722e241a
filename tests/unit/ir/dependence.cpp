// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/dependence.h"

#include <catch2/catch.hpp>

#include "check_random.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo::ir;
using namespace dojo::test;

namespace {

Program programOf(const std::string& text) {
  auto parsed = parse(text);
  if (!parsed) FAIL(parsed.error().text());
  return parsed->program;
}

bool holds(Relation relation, std::int64_t a, std::int64_t b) {
  switch (relation) {
    case Relation::equal:
      return a == b;
    case Relation::less:
      return a < b;
    case Relation::greater:
      return a > b;
    case Relation::different:
      return a != b;
    case Relation::any:
      return true;
  }
  return true;
}

bool related(const Event& a, const Event& b, const std::vector<Relation>& relations) {
  for (std::size_t k = 0; k < relations.size(); ++k) {
    if (k >= a.variables.size() || k >= b.variables.size()) break;
    if (!holds(relations[k], a.variables[k], b.variables[k])) return false;
  }
  return true;
}

std::vector<Relation> randomRelations(Random& random) {
  std::vector<Relation> out(static_cast<std::size_t>(random(0, 3)));
  for (Relation& relation : out) {
    relation = random.oneIn(2) ? Relation::equal : static_cast<Relation>(random(0, 4));
  }
  return out;
}

struct Counts {
  int yes = 0, no = 0, missed = 0;
};

/// Compares meet() with enumeration on every pair of sites of one program.
void compare(Random& random, const Program& program, bool exact, Counts& counts) {
  const Accesses accesses(program);
  const std::vector<Event> events = execute(accesses, randomContents(random, program));
  for (const Site& a : accesses.all()) {
    for (const Site& b : accesses.all()) {
      if (program.storageOf(a.access.buffer) != program.storageOf(b.access.buffer)) continue;
      const std::vector<Relation> relations = randomRelations(random);
      bool expected = false;
      for (const Event& x : events) {
        if (x.site != &a) continue;
        for (const Event& y : events) {
          if (y.site != &b || expected) continue;
          expected = related(x, y, relations) && touchSame(accesses, x, y);
        }
      }
      const Answer answer = meet(accesses, a, b, relations);
      std::string words;
      for (const Relation relation : relations) {
        words += std::to_string(static_cast<int>(relation));
      }
      INFO(print(program) << "line " << lineOf(program, a.path) << " and line "
                          << lineOf(program, b.path) << ", buffer "
                          << program.buffer(a.access.buffer).name << ", relations " << words);
      if (expected) REQUIRE(answer != Answer::no);
      if (exact) REQUIRE(answer == (expected ? Answer::yes : Answer::no));
      ++(expected ? counts.yes : counts.no);
      if (!expected && answer != Answer::no) ++counts.missed;
    }
  }
}

}  // namespace

TEST_CASE("meet agrees with enumeration on affine programs") {
  Random random(3);
  Counts counts;
  for (int i = 0; i < 3000; ++i) {
    CAPTURE(i);
    compare(random, randomProgram(random, {i % 2 == 0, false, true, false, i % 3 == 0}), true,
            counts);
  }
  CHECK(counts.yes > 10000);
  CHECK(counts.no > 10000);
}

TEST_CASE("meet is sound with data-dependent extents") {
  Random random(5);
  Counts counts;
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    compare(random, randomProgram(random, {i % 2 == 0, true, true, false, i % 3 == 0}), false,
            counts);
  }
  CHECK(counts.yes > 5000);
}

TEST_CASE("rows of a monotone index buffer don't overlap") {
  for (const bool monotone : {true, false}) {
    const Program program = programOf(std::string("kernel rows\n") + "in row i32 [9] " +
                                      (monotone ? "monotone in [0, 40]" : "in [0, 41)") +
                                      "\ninout y f32 [40]\n\n8\n| row[{0}]..row[{0} + 1]\n"
                                      "| | y[{1}] = 0\n");
    const Accesses accesses(program);
    const Site& write = accesses.all().back();
    REQUIRE(write.touch == Touch::write);
    CHECK((meet(accesses, write, write, {Relation::different}) == Answer::no) == monotone);
    CHECK(meet(accesses, write, write, {Relation::equal, Relation::equal}) == Answer::yes);
  }
}

TEST_CASE("private storage is met only within one iteration") {
  const Program program = programOf(R"(kernel private
in  x f32 [4, 8]
out y f32 [4, 8]
tmp a f32 [~8] @register
tmp b f32 [~8]

4
| 8:parallel
| | a[{1}] = x[{0}, {1}]
| | b[{1}] = a[{1}]
| | y[{0}, {1}] = b[{1}]
)");
  const Accesses accesses(program);
  CHECK(accesses.privateDepths(*program.find("a")) == std::vector<int>{1});
  CHECK(accesses.privateDepths(*program.find("b")).empty());
  const Site& a = *accesses.of(*program.find("a")).front();
  const Site& b = *accesses.of(*program.find("b")).front();
  CHECK(meet(accesses, a, a, {Relation::equal, Relation::different}) == Answer::no);
  CHECK(meet(accesses, a, a, {Relation::different}) == Answer::no);
  CHECK(meet(accesses, a, a, {}) == Answer::yes);
  CHECK(meet(accesses, b, b, {Relation::equal, Relation::different}) == Answer::yes);
}

TEST_CASE("boxes") {
  const Program program = programOf(R"(kernel box
in  x f32 [64, 66]
out y f32 [64, 64]

4
| 16
| | 64
| | | y[{0}*16 + {1}, {2}] = x[{0}*16 + {1}, {2}]
| | | y[{0}*16 + {1}, {2}] += x[{0}*16 + {1}, {2} + 2]
)");
  const Accesses accesses(program);
  const auto x = boundingBox(program, accesses.of(*program.find("x")), 1);
  REQUIRE(x);
  CHECK((*x)[0] == BoxDim{Affine::variable(0, 16), 16});
  CHECK((*x)[1] == BoxDim{Affine(0), 66});
  const auto y = boundingBox(program, accesses.of(*program.find("y")), 3);
  REQUIRE(y);
  CHECK((*y)[0] == BoxDim{Affine::variable(0, 16) + Affine::variable(1), 1});
  CHECK((*y)[1] == BoxDim{Affine::variable(2), 1});
}

TEST_CASE("a guard on the index itself clips the box") {
  const Program program = programOf(R"(kernel clipped
in  x f32 [8]
out y f32 [8]

8
| y[{0}] = 0
| 3
| | y[{0}] += x[{0} + {1} - 1] if {0} + {1} - 1 in [0, 8)
)");
  const Accesses accesses(program);
  const auto x = boundingBox(program, accesses.of(*program.find("x")), 0);
  REQUIRE(x);
  CHECK((*x)[0] == BoxDim{Affine(0), 8});
}
