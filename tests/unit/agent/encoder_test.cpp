// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/encoder/encoder.h"

#include <catch2/catch.hpp>

#include "agent/encoder/embedder.h"
#include "gradients.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "proof/generate.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

const EncoderConfig kSmall = {
    .width = 16, .heads = 2, .lineLayers = 1, .programLayers = 2, .hidden = 24};

std::vector<std::string> programs(int count) {
  proof::Random random(4);
  std::vector<std::string> out;
  for (int k = 0; k < count; ++k) out.push_back(ir::print(proof::randomProgram(random)));
  return out;
}

}  // namespace

TEST_CASE("agent: gradients through the whole encoder") {
  search::Random random(2);
  Encoder encoder(kSmall, random);
  std::vector<TokenText> texts;
  std::vector<Layout> layouts;
  std::vector<const std::vector<Token>*> lines;
  std::vector<std::vector<std::size_t>> rows;
  for (const char* text : {"kernel k\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = exp(x[{0}])\n",
                           "kernel k\nin x f32 [24]\nout y f32 [24]\ntmp t f32 [24]\n\n24:vector\n"
                           "| t[{0}] = x[{0}] * 0.5\n| y[{0}] = tanh(t[{0}])\n"}) {
    texts.push_back(*tokenize(text));
  }
  for (const TokenText& text : texts) {
    layouts.push_back(layoutOf(text));
    rows.emplace_back();
    for (const TextLine& line : text.lines) {
      rows.back().push_back(lines.size());
      lines.push_back(&line.tokens);
    }
  }
  Matrix target(2, kSmall.width, 0.3F), weights(2, kSmall.width, 30);
  test::checkGradients(
      encoder.parameters(),
      [&](Tape& tape) {
        const Encoder::Lines read = encoder.lines(tape, lines);
        const auto made = encoder.programs(tape, read.lines, {&layouts[0], &layouts[1]}, rows);
        return huber(tape, made.programs, target, weights, 100);
      },
      0.03);
}

TEST_CASE("agent: the embedding of a program doesn't depend on what it's asked with or when") {
  search::Random random(2);
  const Encoder encoder(kSmall, random);
  const std::vector<std::string> texts = programs(12);
  OwnEmbedder together(encoder), alone(encoder);
  const Matrix all = *together.embed(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Matrix one = *alone.embed({texts[i]});
    for (std::size_t j = 0; j < kSmall.width; ++j) {
      CHECK(one(0, j) == Approx(all(i, j)).margin(1e-4));
    }
  }
  CHECK(*together.embed(texts) == all);
  CHECK(together.counts().programs == 12);
  CHECK(together.counts().asked == 24);
}

TEST_CASE("agent: of a program with one other line, only that is read") {
  search::Random random(2);
  const Encoder encoder(kSmall, random);
  OwnEmbedder embedder(encoder);
  const std::string before = "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = exp(x[{0}])\n";
  const std::string after =
      "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8:vector\n| y[{0}] = exp(x[{0}])\n";
  const Matrix first = *embedder.embed({before, before});
  CHECK(embedder.counts().lines == 5);
  const Matrix second = *embedder.embed({after, before});
  CHECK(embedder.counts().lines == 6);
  bool same = true;
  for (std::size_t j = 0; j < kSmall.width; ++j) same = same && first(0, j) == second(0, j);
  CHECK_FALSE(same);
}

TEST_CASE("agent: where a program can't be read, its embedding is refused") {
  search::Random random(2);
  const Encoder encoder(kSmall, random);
  OwnEmbedder embedder(encoder);
  const Result<Matrix> made = embedder.embed({"kernel $"});
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == "parse.character");
}
