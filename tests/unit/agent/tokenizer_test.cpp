// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/text/tokenizer.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "agent/encoder/layout.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "proof/generate.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

/// The program with its buffers named as textOf(TokenText) names them.
ir::Program renamed(ir::Program program) {
  int arguments = 0, tmps = 0;
  for (ir::Buffer& buffer : program.buffers) {
    buffer.name =
        buffer.isArgument() ? "a" + std::to_string(arguments++) : "t" + std::to_string(tmps++);
  }
  for (ir::Instruction& instruction : program.instructions) {
    int operands = 0;
    for (ir::Buffer& one : instruction.operands) one.name = "a" + std::to_string(operands++);
  }
  return program;
}

void checkRoundTrip(const ir::Program& program) {
  const std::string text = ir::print(program);
  INFO(text);
  const Result<TokenText> tokens = tokenize(text);
  REQUIRE(tokens.ok());
  const auto back = ir::parse(textOf(*tokens));
  if (!back.ok()) FAIL(back.error().text());
  CHECK(ir::print(back->program) == ir::print(renamed(program)));
}

std::vector<std::string> spellings(const TextLine& line) {
  std::vector<std::string> out;
  for (const Token& token : line.tokens) out.push_back(spelling(token.id));
  return out;
}

const char* const kSoftmax = R"(kernel softmax
in x f32 [64, 512]
out y f32 [64, 512]
tmp m f32 [~64] @register

64:parallel
| m[{0}] = -inf
| 512
| | m[{0}] max= x[{0}, {1}]
| 512
| | y[{0}, {1}] = x[{0}, {1}] * 0.25
)";

}  // namespace

TEST_CASE("agent: random programs come back from their tokens") {
  proof::Random random(1);
  for (int k = 0; k < 300; ++k) checkRoundTrip(proof::randomProgram(random));
}

TEST_CASE("agent: every kernel of the suite comes back from its tokens") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    checkRoundTrip(kernels::load(kernel.name)->program);
  }
}

TEST_CASE("agent: names of buffers leave no trace, even those that are words of the language") {
  const auto plain = ir::parse(
      "kernel k\nin x f32 [8]\nout y f32 [8]\ntmp t f32 [~8] @stack\n\n8:unroll\n"
      "| t[{0}] = exp(x[{0}])\n| y[{0}] = t[{0}]\n");
  const auto odd = ir::parse(
      "kernel k\nin heap f32 [8]\nout unroll f32 [8]\ntmp stack f32 [~8] @stack\n\n8:unroll\n"
      "| stack[{0}] = exp(heap[{0}])\n| unroll[{0}] = stack[{0}]\n");
  REQUIRE(plain.ok());
  REQUIRE(odd.ok());
  const auto a = tokenize(ir::print(plain->program));
  const auto b = tokenize(ir::print(odd->program));
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  REQUIRE(a->lines.size() == b->lines.size());
  for (std::size_t k = 0; k < a->lines.size(); ++k) CHECK(a->lines[k].tokens == b->lines[k].tokens);
  checkRoundTrip(odd->program);
}

TEST_CASE("agent: tokens of a line") {
  const auto text = tokenize(kSoftmax);
  REQUIRE(text.ok());
  REQUIRE(text->lines.size() == 10);
  CHECK(text->arguments == 2);
  CHECK(text->buffers == 3);
  CHECK(text->words == std::vector<std::string>{"softmax"});
  CHECK(spellings(text->lines[3]) ==
        std::vector<std::string>{"tmp", "tmp 0", "f32", "[", "~", "2^6", "]", "@", "register"});
  const TextLine& leaf = text->lines[7];
  CHECK(spellings(leaf) == std::vector<std::string>{"tmp 0", "[", "variable 0", "]", "max", "=",
                                                    "argument 0", "[", "variable 0", ",",
                                                    "variable 1", "]"});
  CHECK(leaf.kind == LineKind::leaf);
  CHECK(leaf.depth == 2);
  CHECK(leaf.parent == 6);
  CHECK(leaf.buffers == std::vector<int>{0, 2});
  CHECK(text->lines[6].parent == 4);
  CHECK(text->lines[4].parent == -1);
  CHECK(text->lines[4].kind == LineKind::scope);
  CHECK(text->lines[3].declares == 2);
  CHECK(spelling(text->lines[9].tokens.back().id) == "real");
}

TEST_CASE("agent: numbers have classes, and what they are beside") {
  CHECK(spelling(wholeToken(7).id) == "7");
  CHECK(spelling(wholeToken(16).id) == "16");
  CHECK(spelling(wholeToken(4096).id) == "2^12");
  CHECK(spelling(wholeToken(4095).id) == "2^11..");
  CHECK(spelling(wholeToken(std::int64_t{1} << 40).id) == "2^40");
  CHECK(spelling(wholeToken(std::int64_t{3} << 60).id) == "2^40..");
  CHECK(wholeToken(4095).value == 4095);
  CHECK(spelling(tmpToken(31).id) == "tmp 31");
  CHECK(spelling(tmpToken(99).id) == "tmp ..");
  CHECK(tmpToken(99).value == 99);
  float features[kTokenFeatures];
  featuresOf(wholeToken(48), features);
  CHECK(features[1] == Approx(std::log2(49.0) / 16));
  // Divisible by 2, 4, 8 and 16, not by 64, but by 3.
  CHECK(std::vector<float>(features + 2, features + 8) == std::vector<float>{1, 1, 1, 1, 0, 1});
}

TEST_CASE("agent: every token has a spelling of its own, which the hash covers") {
  std::set<std::string> all;
  for (std::size_t id = 0; id < vocabularySize(); ++id) {
    all.insert(std::to_string(static_cast<int>(classOf(static_cast<TokenId>(id)))) + ' ' +
               spelling(static_cast<TokenId>(id)));
  }
  CHECK(all.size() == vocabularySize());
  CHECK(vocabularySize() < 400);
  CHECK(vocabularyHash() != 0);
}

TEST_CASE("agent: text that is no program's is refused, not read as something else") {
  const auto refused = tokenize("kernel k\n8\n| y[{0}] = $x\n");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == "parse.character");
}

TEST_CASE("agent: how lines are related") {
  const auto text = tokenize(kSoftmax);
  REQUIRE(text.ok());
  const Layout layout = layoutOf(*text);
  REQUIRE(layout.lines == 10);
  const auto relation = [&](std::size_t i, std::size_t j) {
    return static_cast<Relation>(layout.relations[(i + 1) * 11 + j + 1]);
  };
  CHECK(relation(7, 7) == Relation::self);
  CHECK(relation(7, 6) == Relation::parent);
  CHECK(relation(6, 7) == Relation::child);
  CHECK(relation(7, 4) == Relation::ancestor);
  CHECK(relation(4, 7) == Relation::descendant);
  CHECK(relation(7, 3) == Relation::declares);
  CHECK(relation(3, 7) == Relation::declared);
  CHECK(relation(7, 5) == Relation::before);
  CHECK(relation(5, 7) == Relation::after);
  CHECK(relation(6, 8) == Relation::sibling);
  CHECK(relation(1, 2) == Relation::other);
  CHECK(static_cast<Relation>(layout.relations[0]) == Relation::whole);
  CHECK(static_cast<Relation>(layout.relations[5]) == Relation::whole);
  CHECK(static_cast<Relation>(layout.relations[11 * 5]) == Relation::whole);
}

TEST_CASE("agent: of a long program the first lines count") {
  std::string text = "kernel k\nin x f32 [8]\nout y f32 [8]\n\n";
  for (int k = 0; k < 200; ++k) text += "8\n| y[{0}] = x[{0}]\n";
  const auto tokens = tokenize(text);
  REQUIRE(tokens.ok());
  CHECK(tokens->lines.size() == 403);
  const Layout layout = layoutOf(*tokens);
  CHECK(layout.lines == kMostLines);
  CHECK(layout.relations.size() == (kMostLines + 1) * (kMostLines + 1));
}
