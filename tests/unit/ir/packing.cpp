// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Packed arguments: what the caller's array is, in the text and for values.
#include <string>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo;

namespace {

ir::Program withDeclaration(const std::string& declaration, const std::string& indices) {
  const auto parsed =
      ir::parse("kernel k\n" + declaration + "\nout y f32 []\n\ny[] = x[" + indices + "]\n");
  INFO(declaration);
  REQUIRE((parsed ? "" : parsed.error().text()) == std::string());
  return parsed->program;
}

std::string declared(const std::string& declaration, const std::string& indices) {
  const ir::Program program = withDeclaration(declaration, indices);
  CHECK(ir::checkStructure(program).ok());
  return ir::printDeclaration(program.buffers[0]);
}

std::string errorOf(const std::string& declaration) {
  const auto parsed = ir::parse("kernel k\n" + declaration + "\nout y f32 []\n\ny[] = 0\n");
  return parsed ? "" : parsed.error().code;
}

}  // namespace

TEST_CASE("a packing is part of the text where it isn't row-major") {
  CHECK(declared("in x f32 [8, 4] packed [1, 8]", "0, 0") == "in x f32 [8, 4] packed [1, 8]");
  CHECK(declared("in x f32 [8, 4 pad 3] packed [1, 8]", "0, 0") ==
        "in x f32 [8, 4 pad 3] packed [1, 8]");
  CHECK(declared("in x f32 [8, 4] packed [4, 1]", "0, 0") == "in x f32 [8, 4] packed");
  CHECK(declared("in x f32 [2, 8, 4] packed [4, 8, 1]", "0, 0, 0") ==
        "in x f32 [2, 8, 4] packed [4, 8, 1]");
  // Dims of one index are nowhere in particular.
  CHECK(declared("in x f32 [8, 1, 4] packed [4, 77, 1]", "0, 0, 0") == "in x f32 [8, 1, 4] packed");
  CHECK(declared("in x f32 [8, 1, 4] packed [1, 77, 8]", "0, 0, 0") ==
        "in x f32 [8, 1, 4] packed [1, 0, 8]");
}

TEST_CASE("a packing has no gaps and one distance a dim") {
  CHECK(errorOf("in x f32 [8, 4] packed [1, 9]") == "parse.extent");
  CHECK(errorOf("in x f32 [8, 4] packed [1, 4]") == "parse.extent");
  CHECK(errorOf("in x f32 [8, 4] packed [2, 16]") == "parse.extent");
  CHECK(errorOf("in x f32 [8, 4] packed [8, -1]") == "parse.extent");
  CHECK(errorOf("in x f32 [8, 4] packed [32]") == "parse.extent");
  CHECK(errorOf("in x f32 [8, 4] packed []") == "parse.syntax");
  CHECK(errorOf("in x f32 [8, 4] packed [1, 8") == "parse.syntax");
  ir::Program program = withDeclaration("in x f32 [8, 4] packed", "0, 0");
  program.buffers[0].packing = {1, 4};
  CHECK_FALSE(ir::checkStructure(program).ok());
}

TEST_CASE("packed arguments have the values of the caller's array") {
  const ir::Program plain = withDeclaration("in x f32 [2, 3] packed", "1, 2");
  const ir::Program turned = withDeclaration("in x f32 [3, 2 pad 1] packed [1, 3]", "2, 1");
  const auto inputs = ir::makeInputs(plain, ir::InputSet::uniform, 3);
  const auto others = ir::makeInputs(turned, ir::InputSet::uniform, 3);
  CHECK(ir::repack(inputs[0], plain.buffers[0], turned.buffers[0]) == others[0]);
  CHECK(ir::repack(others[0], turned.buffers[0], plain.buffers[0]) == inputs[0]);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      CHECK(ir::loadAsDouble(inputs[0], i * 3 + j) == ir::loadAsDouble(others[0], j * 3 + i));
    }
  }
  CHECK(ir::interpret(plain, inputs).value()[1] == ir::interpret(turned, others).value()[1]);
  CHECK(ir::interpretExact(plain, 5).value() == ir::interpretExact(turned, 5).value());
}
