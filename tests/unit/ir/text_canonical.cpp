// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One spelling for each program.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "check_random.h"
#include "ir/canonical.h"
#include "ir/numeric.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo::ir;

namespace {

Program parsed(const std::string& text) {
  auto result = parse(text);
  INFO((result.ok() ? "" : result.error().text()));
  REQUIRE(result.ok());
  return std::move(result->program);
}

void checkFixedPoint(const Program& program) {
  const std::string text = print(program);
  INFO(text);
  const auto again = parse(text);
  INFO((again.ok() ? "" : again.error().text()));
  REQUIRE(again.ok());
  CHECK(again->program == program);
  CHECK(print(again->program) == text);
  Program twice = program;
  canonicalize(twice);
  CHECK(twice == program);
}

/// Programs of every shape that the language can say, whether they mean anything or not.
class AnyProgram {
 public:
  explicit AnyProgram(unsigned seed) : random_(seed) {}

  Program make() {
    Program program;
    program.name = "any";
    buffers(program);
    for (int i = 0; i < 3; ++i) program.body.push_back(node(program, 0));
    return program;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(random_);
  }

  void buffers(Program& program) {
    Buffer index;
    index.name = "idx";
    index.role = Role::in;
    index.dtype = DType::i32;
    index.dims = {Dim{9, 0, 0}};
    index.values = ValueRange{-1, 9, pick(2) == 0};
    program.buffers.push_back(index);
    for (int i = 0; i < 8; ++i) {
      Buffer buffer;
      buffer.name = "b" + std::to_string(i);
      buffer.role = static_cast<Role>(pick(4));
      buffer.dtype = static_cast<DType>(pick(10));
      for (int rank = pick(4); rank > 0; --rank) {
        buffer.dims.push_back(
            {between(1, 99), pick(3) == 0 ? between(1, 3) : 0, pick(4) == 0 ? between(1, 9) : 0});
      }
      const std::string locations[] = {"heap", "stack", "register", "spm"};
      buffer.location = locations[pick(4)];
      buffer.packed = buffer.isArgument() && pick(5) == 0;
      buffer.finite = (buffer.role == Role::in || buffer.role == Role::inout) &&
                      isFloat(buffer.dtype) && pick(5) == 0;
      program.buffers.push_back(buffer);
    }
  }

  Affine affine(int depth) {
    Affine expr(between(-9, 9));
    for (int k = 0; k < depth; ++k) {
      if (pick(2) == 0) expr += Affine::variable(k, between(-3, 3));
    }
    return expr;
  }

  Access access(const Program& program, int depth, bool gathers) {
    Access access;
    access.buffer = pick(static_cast<int>(program.buffers.size()));
    for (int i = 0; i < program.buffer(access.buffer).rank(); ++i) {
      Index index(affine(depth));
      if (gathers && pick(6) == 0) {
        index.affine = 0;
        index.gather = 0;
        index.gatherIndices = {affine(depth)};
      }
      access.indices.push_back(index);
    }
    return access;
  }

  Constant constant(DType type) {
    if (!isFloat(type)) return between(lowest(type), highest(type));
    if (pick(9) == 0) return -HUGE_VAL;
    return roundTo(type, std::ldexp(static_cast<double>(between(-99999, 99999)), pick(20) - 10));
  }

  Node leafNode(const Program& program, int depth) {
    Leaf leaf;
    leaf.dst = access(program, depth, false);
    leaf.assign = static_cast<Assign>(pick(6));
    leaf.op = leaf.assign == Assign::fma
                  ? Op::mul
                  : allOps()[static_cast<std::size_t>(pick(static_cast<int>(allOps().size())))].op;
    // Index values are i64, and anything narrower must be cast.
    const bool takesIndexValues =
        leaf.assign != Assign::fma &&
        (program.buffer(leaf.dst.buffer).dtype == DType::i64 || leaf.op == Op::cast ||
         leaf.op == Op::satCast || info(leaf.op).comparison);
    for (int i = 0; i < info(leaf.op).arity; ++i) {
      if (takesIndexValues && pick(3) == 0 && !(leaf.op == Op::select && i == 0)) {
        leaf.operands.emplace_back(affine(depth));
      } else {
        leaf.operands.emplace_back(access(program, depth, true));
      }
    }
    if (pick(3) == 0) {
      // The constant last, so that its type is known.
      const auto at = static_cast<std::size_t>(pick(info(leaf.op).arity));
      const bool condition = leaf.op == Op::select && at == 0;
      leaf.operands[at] = Constant(std::int64_t{0});
      leaf.operands[at] =
          condition ? Constant(between(0, 1)) : constant(computeType(program, leaf));
    }
    return leaf;
  }

  Node node(const Program& program, int depth) {
    Node made = depth < 4 && pick(3) != 0 ? scopeNode(program, depth) : leafNode(program, depth);
    for (int terms = pick(4) - 1; terms > 0; --terms) {
      made.guard.push_back({affine(depth), between(-9, 9), between(-9, 9)});
    }
    return made;
  }

  Node scopeNode(const Program& program, int depth) {
    Scope scope;
    scope.extent = between(1, 20);
    if (pick(6) == 0) {
      Extent::Range range;
      range.first = {0, {Index(affine(depth))}};
      range.last = {0, {Index(affine(depth))}};
      scope.extent.count = 0;
      scope.extent.range = range;
    }
    if (pick(2) == 0) scope.mapping.bits = static_cast<std::uint16_t>(pick(512));
    if (scope.mapping.has(MapKind::stream)) {
      for (int i = 1 + pick(3); i > 0; --i) {
        scope.mapping.streams.push_back(pick(static_cast<int>(program.buffers.size())));
      }
    }
    for (int children = 1 + pick(3); children > 0; --children) {
      scope.body.push_back(node(program, depth + 1));
    }
    return scope;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("any program prints to its own fixed point") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Program program = AnyProgram(seed).make();
    canonicalize(program);
    checkFixedPoint(program);
  }
}

TEST_CASE("meaningful programs print to their own fixed point") {
  dojo::test::Random random(9);
  for (int i = 0; i < 300; ++i) {
    dojo::test::Shape shape;
    shape.concurrent = i % 2 == 0;
    shape.dataDependent = i % 3 == 0;
    checkFixedPoint(dojo::test::randomProgram(random, shape));
  }
}

TEST_CASE("names decide nothing") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Program program = AnyProgram(seed).make();
    Program renamed = program;
    for (Buffer& buffer : renamed.buffers) buffer.name = "z" + std::to_string(buffer.name.back());
    canonicalize(program);
    canonicalize(renamed);
    REQUIRE(program.buffers.size() == renamed.buffers.size());
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      renamed.buffers[i].name = program.buffers[i].name;
    }
    CHECK(program == renamed);
  }
}

TEST_CASE("the order of tmp declarations and of commutative operands is no difference") {
  int compared = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Program program = AnyProgram(seed).make();
    canonicalize(program);
    Program shuffled = program;
    std::vector<BufferId> order(program.buffers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<BufferId>(i);
    const auto firstTmp = std::find_if(program.buffers.begin(), program.buffers.end(),
                                       [](const Buffer& b) { return b.role == Role::tmp; });
    std::reverse(order.begin() + (firstTmp - program.buffers.begin()), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      shuffled.buffer(order[i]) = program.buffers[i];
    }
    for (Node& node : shuffled.body) {
      renameBuffers(node, [&](BufferId id) { return order[static_cast<std::size_t>(id)]; });
    }
    const std::function<void(std::vector<Node>&)> swapOperands = [&](std::vector<Node>& body) {
      for (Node& node : body) {
        if (node.isScope()) {
          swapOperands(node.scope().body);
        } else if (info(node.leaf().op).commutative) {
          std::swap(node.leaf().operands[0], node.leaf().operands[1]);
        }
        std::reverse(node.guard.begin(), node.guard.end());
      }
    };
    // Tmps that nothing writes are ordered by mention, and that is what changes here.
    std::vector<bool> written(program.buffers.size());
    walk(program, [&](const Visit& at) {
      if (at.node->isLeaf()) written[static_cast<std::size_t>(at.node->leaf().dst.buffer)] = true;
      return true;
    });
    bool allWritten = true;
    for (std::size_t i = 0; i < written.size(); ++i) {
      allWritten = allWritten && (written[i] || program.buffers[i].isArgument());
    }
    if (!allWritten) continue;
    ++compared;
    swapOperands(shuffled.body);
    canonicalize(shuffled);
    CHECK(print(shuffled) == print(program));
    CHECK(shuffled == program);
  }
  CHECK(compared > 50);
}

TEST_CASE("canonical form of programs that no text made") {
  Program program = parsed(
      "kernel k\nin x f32 [8]\nout y f32 [8]\ntmp a f32 []\ntmp b f32 []\n8\n"
      "| a = x[{0}]\n| b = a\n| y[{0}] = b\n");
  SECTION("unused tmps go, arguments stay") {
    program.body[0].scope().body.erase(program.body[0].scope().body.begin(),
                                       program.body[0].scope().body.begin() + 2);
    program.body[0].scope().body[0].leaf().operands[0] = Constant(1.0);
    canonicalize(program);
    CHECK(print(program) == "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = 1\n");
  }
  SECTION("tmps follow their first write") {
    auto& body = program.body[0].scope().body;
    std::swap(body[0], body[1]);
    canonicalize(program);
    CHECK(program.buffers[2].name == "b");
    CHECK(program.buffers[3].name == "a");
  }
  SECTION("a whole constant of a float leaf becomes a float") {
    program.body[0].scope().body[2].leaf().operands[0] = Constant(std::int64_t{3});
    canonicalize(program);
    CHECK(std::get<Constant>(program.body[0].scope().body[2].leaf().operands[0]) == Constant(3.0));
  }
  SECTION("a guard without a choice is kept") {
    program.body[0].scope().body[0].guard = {{Affine::variable(0), 5, 3}, {Affine(2), 0, 9}};
    canonicalize(program);
    CHECK(print(program).find("| a[] = x[{0}] if 2 in [0, 9) and {0} in [5, 3)") !=
          std::string::npos);
  }
}
