// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The tools of the property test: that they are varied, repeatable, and make failures small.
#include <map>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/tree.h"
#include "moves/rule.h"
#include "proof/generate.h"
#include "proof/generate_traps.h"
#include "proof/prove_moves.h"
#include "proof/shrink.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

bool has(const ir::Program& program, const std::function<bool(const ir::Node&)>& what) {
  bool found = false;
  ir::walk(program, [&](const ir::Visit& visit) {
    found = found || what(*visit.node);
    return true;
  });
  return found;
}

bool isReduction(const ir::Node& node) { return node.isLeaf() && node.leaf().isReduction(); }

bool gathers(const ir::Node& node) {
  bool found = false;
  ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) {
    for (const ir::Index& index : access.indices) found = found || index.isGather();
  });
  return found;
}

}  // namespace

TEST_CASE("traps are valid programs, and name moves that there are") {
  proof::Random random(1);
  for (int trap = 0; trap < proof::trapCount(); ++trap) {
    int valid = 0;
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text = proof::trapText(random, trap);
      const auto parsed = ir::parse(text);
      valid += parsed && ir::check(parsed->program);
    }
    INFO(text);
    CHECK(valid >= 10);
    for (const std::string& move : proof::trapFor(trap)) {
      INFO(move);
      CHECK(moves::findRule(move) != nullptr);
    }
  }
}

TEST_CASE("random programs are valid and varied") {
  proof::Random random(1);
  std::map<std::string, int> seen;
  for (int i = 0; i < 800; ++i) {
    const ir::Program program = proof::randomProgram(random);
    INFO(ir::print(program));
    REQUIRE(ir::check(program).ok());
    seen["leaf guard"] +=
        has(program, [](const auto& n) { return n.isLeaf() && !n.guard.empty(); });
    seen["scope guard"] +=
        has(program, [](const auto& n) { return n.isScope() && !n.guard.empty(); });
    seen["gather"] += has(program, gathers);
    seen["rows"] +=
        has(program, [](const auto& n) { return n.isScope() && !n.scope().extent.isConstant(); });
    for (const ir::Assign assign :
         {ir::Assign::add, ir::Assign::mul, ir::Assign::max, ir::Assign::min, ir::Assign::fma}) {
      seen[std::string(ir::spelling(assign))] +=
          has(program, [&](const auto& n) { return isReduction(n) && n.leaf().assign == assign; });
    }
    for (const ir::Buffer& buffer : program.buffers) {
      ++seen[std::string(ir::name(buffer.dtype))];
      seen["inout"] += buffer.role == ir::Role::inout;
      seen["@" + buffer.location] += buffer.role == ir::Role::tmp;
      for (const ir::Dim& dim : buffer.dims) {
        seen["~"] += dim.fold == 1;
        seen["~2"] += dim.fold == 2;
        seen["pad"] += dim.pad != 0;
        seen["extent 1"] += dim.extent == 1;
      }
    }
  }
  for (const char* feature :
       {"leaf guard", "scope guard", "gather", "rows",      "+=",  "*=",  "max=", "min=",
        "fma+=",      "f64",         "f32",    "f16",       "i64", "i32", "i8",   "bool",
        "inout",      "@heap",       "@stack", "@register", "~",   "~2",  "pad",  "extent 1"}) {
    INFO(feature);
    CHECK(seen[feature] >= 10);
  }
}

TEST_CASE("the same seed gives the same run") {
  const target::Target target = proof::withEverything(test::someTarget());
  proof::ProofOptions options;
  options.moves = 150;
  options.seed = 42;
  const auto counts = [&] {
    std::vector<std::int64_t> out;
    const proof::ProofReport report = proof::proveMoves(target, options);
    CHECK(report.moves == 150);
    for (const proof::MoveCount& count : report.counts) out.push_back(count.applied);
    return out;
  };
  const auto first = counts();
  CHECK(first == counts());
  options.seed = 43;
  CHECK(first != counts());
}

TEST_CASE("progress is told and can stop a run") {
  const target::Target target = proof::withEverything(test::someTarget());
  int calls = 0;
  const proof::ProofReport report =
      proof::proveMoves(target, {}, [&](const proof::ProofReport& now) {
        ++calls;
        CHECK(now.programs == calls);
        return calls < 3;
      });
  CHECK(report.programs == 3);
  CHECK(report.moves > 0);
}

TEST_CASE("shrinking keeps the property and little else") {
  proof::Random random(5);
  int shrunk = 0;
  while (shrunk < 10) {
    const ir::Program program = proof::randomProgram(random);
    const auto property = [](const ir::Program& candidate) {
      return has(candidate, [](const ir::Node& node) {
        return isReduction(node) && node.leaf().assign == ir::Assign::add;
      });
    };
    if (!property(program)) continue;
    ++shrunk;
    const ir::Program small = proof::shrink(program, property);
    INFO(ir::print(program) << "became\n" << ir::print(small));
    CHECK(property(small));
    CHECK(ir::check(small).ok());
    // An initialisation and the sum itself, or a sum into an inout.
    CHECK(ir::nodeCount(small) <= 2);
  }
}
