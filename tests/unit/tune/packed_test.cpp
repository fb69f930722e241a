// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed arguments whose layout moves have changed, through the runner.
#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "moves/move.h"
#include "tune/bench.h"
#include "tune/execute.h"

using namespace dojo;

namespace {

struct Machine {
  target::Target target = target::load("host").value();
  std::unique_ptr<transport::Device> device;
  Machine() {
    target.harts = 1;
    device = tune::reach(target, "").value();
  }
};

/// b is read in columns, so that a layout taken for another is a wrong result; c is restored before
/// every sample; y is written in a layout of its own.
constexpr const char* kText = R"(kernel k
in a f32 [24, 40]
in b f32 [40, 30] packed
out y f32 [24, 30] packed
inout c f32 [24, 30] packed

24
| 30
| | 40
| | | c[{0}, {1}] fma+= a[{0}, {2}] * b[{2}, {1}]
24
| 30
| | y[{0}, {1}] = c[{0}, {1}] * 2
)";

ir::Program plain() { return ir::parse(kText)->program; }

ir::Program after(const Machine& machine, const std::string& trace) {
  auto moved = moves::replay(plain(), machine.target, moves::parseTrace(trace, "trace").value());
  REQUIRE((moved.ok() ? "" : moved.error().text()) == std::string());
  return *moved;
}

constexpr const char* kBlocked = "split_scope @0.0 6\nsplit_dim b 1 6\nreorder_dims b 1 0\n";
constexpr const char* kAll =
    "reorder_dims b 0 1\npad_dim b 1 3\nreorder_dims y 0 1\nsplit_scope @0 4\n"
    "split_scope @1 4\nsplit_dim c 0 4\npad_dim c 2 2\n";

std::string verdict(tune::Bench& bench, const ir::Program& program) {
  bench.submit(search::candidate(program, {}));
  const Outcome outcome = bench.next().value();
  if (!outcome.ok()) return outcome.failure().code + ": " + outcome.failure().detail;
  CHECK(outcome.measurement().comparedElements >= 2 * 2 * 720);
  CHECK(outcome.measurement().cycles > 0);
  return "";
}

}  // namespace

TEST_CASE("inputs are packed anew for whoever wants them otherwise, outputs unpacked") {
  Machine machine;
  const bool cold = GENERATE(false, true);
  tune::BenchOptions options;
  options.coldCache = cold;
  auto bench = tune::Bench::open(plain(), machine.target, *machine.device, options);
  REQUIRE((bench.ok() ? "" : bench.error().text()) == std::string());
  const ir::Program blocked = after(machine, kBlocked);
  const ir::Program all = after(machine, kAll);
  CHECK(ir::printDeclaration(blocked.buffers[1]) == "in b f32 [5, 40, 6] packed [6, 30, 1]");
  for (const ir::Program& program : {plain(), blocked, all, blocked, plain(), all}) {
    INFO(ir::print(program));
    CHECK(verdict(**bench, program).empty());
  }
  auto pair = (*bench)->compare(blocked, all, 6);
  REQUIRE((pair.ok() ? "" : pair.error().text()) == std::string());
  CHECK(pair->a.size() == 6);
  CHECK(verdict(**bench, plain()).empty());
}

TEST_CASE("what is wrong in another layout is told by the caller's elements") {
  Machine machine;
  auto bench = tune::Bench::open(plain(), machine.target, *machine.device, {});
  REQUIRE(bench.ok());
  ir::Program wrong = after(machine, kAll);
  // All but one row is right.
  wrong.body[1].guard.push_back({ir::Affine(0), 1, 2});
  CHECK(verdict(**bench, wrong).substr(0, 21) == "verify.mismatch: y[0,");
  ir::Program other = after(machine, "reorder_dims b 0 1\n");
  other.buffers[1].packing = {30, 1};
  other.buffers[1].dims = {{30, 0, 0}, {40, 0, 0}};
  other.buffers[1].packing = {40, 1};
  CHECK(verdict(**bench, other).substr(0, 15) == "verify.mismatch");
  // The next are none the worse for it.
  CHECK(verdict(**bench, after(machine, kAll)).empty());
  CHECK(verdict(**bench, plain()).empty());
}

TEST_CASE("only the layout of packed arguments may differ") {
  Machine machine;
  auto bench = tune::Bench::open(plain(), machine.target, *machine.device, {});
  REQUIRE(bench.ok());
  ir::Program other = plain();
  other.buffers[0].dims[0].pad = 4;
  CHECK(verdict(**bench, other).substr(0, 14) == "load.arguments");
  ir::Program fewer = plain();
  fewer.buffers.pop_back();
  fewer.body.resize(1);
  fewer.body[0].scope().body[0].scope().body.clear();
  CHECK(verdict(**bench, plain()).empty());
}

TEST_CASE("an argument that grows beyond the device is refused, the next candidate runs") {
  Machine machine;
  auto bench = tune::Bench::open(plain(), machine.target, *machine.device, {});
  REQUIRE(bench.ok());
  const ir::Program huge = after(machine, "pad_dim b 1 1000000000\n");
  CHECK(verdict(**bench, huge).substr(0, 9) == "load.size");
  CHECK(verdict(**bench, after(machine, kBlocked)).empty());
}

TEST_CASE("execute takes and gives tensors in the layout that the program declares") {
  Machine machine;
  const ir::Program all = after(machine, kAll);
  const std::vector<ir::Tensor> inputs = ir::makeInputs(all, ir::InputSet::exact, 1);
  auto got = tune::execute(*machine.device, machine.target, all, inputs);
  REQUIRE(got.ok());
  auto wanted = ir::interpret(all, inputs);
  REQUIRE(wanted.ok());
  CHECK((*got)[0] == (*wanted)[0]);
  CHECK(ir::repack((*got)[2], all.buffers[2], plain().buffers[2]) ==
        ir::repack((*wanted)[2], all.buffers[2], plain().buffers[2]));
}
