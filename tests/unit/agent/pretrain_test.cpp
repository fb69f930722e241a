// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/pretrain/pretrain.h"

#include <cmath>
#include <filesystem>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "agent/pretrain/corpus.h"
#include "agent/pretrain/facts.h"
#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

const target::Target& host() {
  static const target::Target one = *target::load("host");
  return one;
}

/// log2(count) / 16, as facts count.
double counted(double count) { return std::log2(1 + count) / 16; }

const EncoderConfig kSmall = {
    .width = 32, .heads = 2, .lineLayers = 1, .programLayers = 1, .hidden = 32};

}  // namespace

TEST_CASE("agent: facts of a program, by hand") {
  const auto parsed = ir::parse(R"(kernel k
in x f32 [64, 32]
out y f32 [64]
tmp t f32 [~64, 8] @register

64:parallel
| 8:vector
| | t[{0}, {1}] = 0
| 4:unroll
| | 8:vector
| | | t[{0}, {2}] += x[{0}, {1}*8 + {2}]
| y[{0}] = 0
| 8
| | y[{0}] += t[{0}, {1}]
)");
  REQUIRE(parsed.ok());
  const auto text = tokenize(ir::print(parsed->program));
  REQUIRE(text.ok());
  const Facts facts = factsOf(parsed->program, *text);
  const auto line = [&](std::size_t k, LineFact fact) {
    return facts.lines(k, static_cast<std::size_t>(fact));
  };
  // Lines 0 to 3 are declarations; 4 is the outermost scope, 9 the sum over x.
  CHECK(line(4, LineFact::executions) == Approx(counted(64)));
  CHECK(line(4, LineFact::threads) == Approx(counted(64)));
  CHECK(line(9, LineFact::executions) == Approx(counted(64 * 4 * 8)));
  CHECK(line(9, LineFact::vectorWidth) == Approx(counted(8)));
  CHECK(line(9, LineFact::copies) == Approx(counted(4)));
  CHECK(line(9, LineFact::writeStride) == Approx(counted(1)));
  CHECK(line(9, LineFact::readStride) == Approx(counted(1)));
  // Each of the 8 elements that are kept is written 4 times in each of 64 iterations.
  CHECK(line(9, LineFact::writeReuse) == Approx(counted(64 * 4 - 1)));
  CHECK(line(9, LineFact::readReuse) == Approx(counted(0)));
  CHECK(line(9, LineFact::elementBytes) == Approx(counted(4)));
  CHECK(facts.linesWeight(9, static_cast<std::size_t>(LineFact::readStride2)) == 0);
  CHECK(facts.linesWeight(2, static_cast<std::size_t>(LineFact::executions)) == 0);
  CHECK(line(12, LineFact::writeStride) == 0);
  CHECK(line(12, LineFact::readStride) == Approx(counted(1)));
  const auto whole = [&](ProgramFact fact) {
    return facts.program(0, static_cast<std::size_t>(fact));
  };
  CHECK(whole(ProgramFact::executions) == Approx(counted(64 * (8 + 32 + 1 + 8))));
  CHECK(whole(ProgramFact::vectorised) == Approx(40.0 / 49));
  CHECK(whole(ProgramFact::code) == Approx(counted(1 + 4 + 1 + 1)));
  CHECK(whole(ProgramFact::registerNeed) == Approx(counted(8)));
  CHECK(whole(ProgramFact::argumentBytes) == Approx(counted(64 * 33 * 4)));
  CHECK(whole(ProgramFact::temporaryBytes) == 0);
  CHECK(whole(ProgramFact::memoryTraffic) == Approx(counted(64 * 4 * (32 + 1 + 8))));
  CHECK(whole(ProgramFact::depth) == Approx(3.0 / 8));
}

TEST_CASE("agent: chains of random play, and the way back from their first step") {
  const Corpus corpus({}, {&host()});
  search::Random random(5);
  for (int k = 0; k < 30; ++k) {
    const Chain chain = corpus.chain(3, random);
    REQUIRE(chain.states.size() == 3);
    CHECK(ir::print(chain.again) == ir::print(chain.states[0]));
    CHECK(ir::print(chain.states[1]) != ir::print(chain.states[0]));
    for (const ir::Program& state : chain.states) {
      const auto text = tokenize(ir::print(state));
      REQUIRE(text.ok());
      CHECK(factsOf(state, *text).lines.rows() == text->lines.size());
    }
  }
  search::Random a(8), b(8);
  CHECK(corpus.chain(2, a).states == corpus.chain(2, b).states);
}

TEST_CASE("agent: losses of pre-training fall, the same way from the same seed") {
  const Corpus corpus({"axpy", "sum", "relu"}, {&host()});
  PretrainOptions options;
  options.steps = 120;
  options.warmup = 5;
  options.chains = 3;
  options.adam.rate = 3e-3;
  const auto train = [&] {
    Pretraining training(kSmall, options, corpus);
    std::vector<PretrainLosses> losses;
    for (int k = 0; k < options.steps; ++k) {
      const auto step = training.step();
      REQUIRE(step.ok());
      losses.push_back(*step);
    }
    return losses;
  };
  const auto losses = train();
  PretrainLosses early, late;
  for (std::size_t k = 0; k < 5; ++k) {
    for (const auto& [sum, one] :
         {std::pair{&early, &losses[k]}, std::pair{&late, &losses[losses.size() - 1 - k]}}) {
      sum->fill += one->fill / 5;
      sum->lineFacts += one->lineFacts / 5;
      sum->programFacts += one->programFacts / 5;
      sum->contrast += one->contrast / 5;
    }
  }
  INFO("fill " << early.fill << " to " << late.fill << ", lines " << early.lineFacts << " to "
               << late.lineFacts << ", programs " << early.programFacts << " to "
               << late.programFacts << ", contrast " << early.contrast << " to " << late.contrast);
  CHECK(late.fill < 0.6 * early.fill);
  CHECK(late.lineFacts < 0.5 * early.lineFacts);
  CHECK(late.programFacts < 0.5 * early.programFacts);
  CHECK(late.contrast < early.contrast);
  const auto again = train();
  CHECK(again.back().fill == losses.back().fill);
}

TEST_CASE("agent: pre-training goes on from its checkpoint as if nothing had been") {
  const auto path =
      std::filesystem::temp_directory_path() / ("agent-pretraining-" + std::to_string(getpid()));
  const Corpus corpus({"axpy", "sum"}, {&host()});
  PretrainOptions options;
  options.steps = 6;
  options.chains = 2;
  Pretraining through(kSmall, options, corpus);
  for (int k = 0; k < 3; ++k) REQUIRE(through.step().ok());
  REQUIRE(through.save(path.string()).ok());
  Pretraining resumed(kSmall, options, corpus);
  REQUIRE(resumed.load(path.string()).ok());
  CHECK(resumed.steps() == 3);
  for (int k = 0; k < 3; ++k) {
    CHECK(through.step()->fill == resumed.step()->fill);
  }
  EncoderConfig other = kSmall;
  other.hidden = 48;
  Pretraining foreign(other, options, corpus);
  const Status refused = foreign.load(path.string());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == "agent.shape");
  CHECK(refused.error().where == path.string());
  std::filesystem::remove(path);
}
