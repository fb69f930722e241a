// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On the machine itself, through the runner.
#include "tune/bench.h"

#include <catch2/catch.hpp>

#include "base/text.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "search/composite.h"
#include "tune/execute.h"
#include "tune/peak.h"

using namespace dojo;

namespace {

struct Machine {
  target::Target target = target::load("host").value();
  std::unique_ptr<transport::Device> device;
  Machine() {
    target.harts = 1;
    auto reached = tune::reach(target, "");
    REQUIRE(reached.ok());
    device = std::move(reached).value();
  }
};

ir::Program program(const std::string& operation) {
  return ir::parse("kernel k\nin x f32 [64]\nout y f32 [64]\n\n64\n| y[{0}] = x[{0}] " + operation +
                   "\n")
      ->program;
}

ir::Program moved(const ir::Program& start, const target::Target& target, const std::string& call) {
  auto state = std::make_shared<const moves::State>(start, target);
  return search::expand(state, moves::parseMove(call).value())->state->program();
}

}  // namespace

TEST_CASE("outcomes come in order: right, wrong, refused and banned candidates") {
  Machine machine;
  const ir::Program plain = program("* 3");
  auto bench = tune::Bench::open(plain, machine.target, *machine.device, {});
  REQUIRE(bench.ok());
  const ir::Program fast = moved(plain, machine.target, "vectorize_loop @0 1");
  const ir::Program other = program("* 4");
  ir::Program refused = plain;
  refused.body[0].scope().mapping.bits = static_cast<unsigned>(ir::MapKind::frep);
  const ir::Program banned = moved(plain, machine.target, "unroll_by @0 4");
  (*bench)->ban(ir::print(banned));
  for (const ir::Program& p : {plain, other, fast, refused, banned, fast}) {
    (*bench)->submit(search::candidate(p, {}));
  }
  std::vector<Outcome> outcomes;
  for (int k = 0; k < 6; ++k) outcomes.push_back((*bench)->next().value());
  REQUIRE(outcomes[0].ok());
  CHECK(outcomes[0].measurement().comparedElements >= 128);
  CHECK(outcomes[0].measurement().samples.size() >= 3);
  REQUIRE_FALSE(outcomes[1].ok());
  CHECK(outcomes[1].failure().code == "verify.mismatch");
  CHECK(outcomes[1].failure().stage == Stage::verify);
  CHECK(outcomes[2].ok());
  REQUIRE_FALSE(outcomes[3].ok());
  CHECK(outcomes[3].failure().stage == Stage::lower);
  REQUIRE_FALSE(outcomes[4].ok());
  CHECK(outcomes[4].failure().code == "run.banned");
  CHECK(outcomes[5].ok());
  auto pair = (*bench)->compare(plain, fast, 10);
  REQUIRE(pair.ok());
  CHECK(pair->a.size() == 10);
}

TEST_CASE("a stop ends the waiting") {
  Machine machine;
  const ir::Program plain = program("* 3");
  std::atomic<bool> flag{false};
  tune::BenchOptions options;
  options.interrupted = &flag;
  auto bench = tune::Bench::open(plain, machine.target, *machine.device, options);
  REQUIRE(bench.ok());
  for (int k = 0; k < 100; ++k) (*bench)->submit(search::candidate(plain, {}));
  REQUIRE((*bench)->next());
  flag = true;
  int more = 0;
  while ((*bench)->next()) ++more;
  CHECK(more < 100);
  CHECK((*bench)->idle(5));
}

TEST_CASE("what can't be held is refused with both numbers, before anything is drawn") {
  Machine machine;
  ir::ParseOptions options;
  options.params = {{"N", 100000}, {"M", 100000}};
  auto bench = tune::Bench::open(kernels::load("add", options)->program, machine.target,
                                 *machine.device, {});
  REQUIRE_FALSE(bench.ok());
  CHECK(bench.error().code == "load.size");
}

TEST_CASE("execute gives what the interpreter gives, the peak is plausible") {
  Machine machine;
  const ir::Program plain = program("* 3");
  const std::vector<ir::Tensor> inputs = ir::makeInputs(plain, ir::InputSet::uniform, 1);
  auto got = tune::execute(*machine.device, machine.target, plain, inputs);
  REQUIRE(got.ok());
  CHECK(*got == ir::interpret(plain, inputs).value());
  if (machine.target.vector.fma) {
    auto peak = tune::measurePeak(*machine.device, machine.target, ir::DType::f32);
    REQUIRE(peak.ok());
    CHECK(*peak > 0.5);
    CHECK(*peak < 1000);
  }
  CHECK(tune::measurePeak(*machine.device, machine.target, ir::DType::i32).error().code ==
        "peak.target");
}

TEST_CASE("the traces of the repository lead to programs that are right") {
  Machine machine;
  for (const auto& [kernel, shape] : std::map<std::string, std::map<std::string, std::int64_t>>{
           {"matmul", {{"M", 64}, {"N", 96}, {"K", 40}}}, {"softmax", {{"N", 24}, {"M", 256}}}}) {
    INFO(kernel);
    ir::ParseOptions options;
    options.params = shape;
    const ir::Program plain = kernels::load(kernel, options)->program;
    const std::string file = DOJO_SOURCE_DIR "/tests/traces/" + kernel + ".trace";
    auto trace = moves::parseTrace(readFile(file).value(), file);
    REQUIRE((trace.ok() ? "" : trace.error().text()) == std::string());
    auto fast = moves::replay(plain, machine.target, *trace);
    REQUIRE((fast.ok() ? "" : fast.error().text()) == std::string());
    auto bench = tune::Bench::open(plain, machine.target, *machine.device, {});
    REQUIRE(bench.ok());
    (*bench)->submit(search::candidate(plain, {}));
    (*bench)->submit(search::candidate(*fast, *trace));
    const Outcome slow = (*bench)->next().value(), quick = (*bench)->next().value();
    REQUIRE(slow.ok());
    REQUIRE((quick.ok() ? "" : quick.failure().detail) == std::string());
    CHECK(quick.measurement().comparedElements > 0);
  }
}
