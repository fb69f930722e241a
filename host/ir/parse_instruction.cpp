// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/canonical.h"
#include "ir/instruction.h"
#include "ir/parse_internal.h"

namespace dojo::ir {

/// `instruction NAME`, then the fragment as in a program of its own, each line after one bar.
void Parser::instructionBlock() {
  const Token name = lexer_.peek();
  if (name.kind != Token::Kind::word) lexer_.failExpected("the instruction's name");
  lexer_.take();
  const auto& known = program_.instructions;
  if (std::any_of(known.begin(), known.end(),
                  [&](const Instruction& other) { return name.is(other.name); })) {
    lexer_.fail("parse.duplicate", name.offset,
                fmt::format("instruction '{}' is already declared", name.text));
  }
  endOfLine();

  Program outer = std::exchange(program_, {});
  auto outerIds = std::exchange(bufferIds_, {});
  program_.name = name.text;
  while (lexer_.accept("|")) {
    if (const auto role = roleAtToken(); role && open_.empty()) {
      lexer_.take();
      bufferLine(*role);
      endOfLine();
      continue;
    }
    if (open_.empty()) open_.push_back({&program_.body, lexer_.peek().offset, 1});
    line();
  }
  if (open_.empty()) {
    lexer_.fail("parse.empty", name.offset,
                fmt::format("instruction '{}' has no fragment: expected operands and operations "
                            "below it, each after a bar",
                            name.text));
  }
  closeTo(0);
  open_.clear();
  canonicalize(program_);
  Result<Instruction> made = toInstruction(program_);
  if (!made) {
    const std::string where = made.error().where.empty() ? "" : made.error().where + ": ";
    lexer_.fail("parse.instruction", name.offset,
                fmt::format("instruction '{}': {}{}", name.text, where, made.error().message));
  }
  program_ = std::move(outer);
  bufferIds_ = std::move(outerIds);
  program_.instructions.push_back(*std::move(made));
}

/// `!NAME(BOX, ...)`, in the order in which the operands are declared.
void Parser::instructionLine() {
  lexer_.take();
  const Token name = lexer_.peek();
  if (name.kind != Token::Kind::word) lexer_.failExpected("the instruction's name");
  const auto& known = program_.instructions;
  const auto found = std::find_if(known.begin(), known.end(), [&](const Instruction& instruction) {
    return name.is(instruction.name);
  });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const Instruction& instruction : known) names.push_back(instruction.name);
    lexer_.fail("parse.unknown-name", name.offset,
                fmt::format("the program declares no instruction '{}'{}", name.text,
                            didYouMean(name.text, names)));
  }
  const Instruction& instruction = *found;
  lexer_.take();
  const auto at = static_cast<int>(depth());
  if (at + depthOf(instruction) > kMaxDepth) {
    lexer_.fail("parse.depth", name.offset,
                fmt::format("scopes nest more than {} deep", kMaxDepth));
  }
  if (open_.back().iterations > kMaxElements / executionsOf(instruction)) {
    lexer_.fail("parse.overflow", name.offset,
                "the instruction would do more than 2^40 operations in all");
  }
  lexer_.expect("(", "'(' and the operands");
  std::vector<Access> boxes;
  for (const Buffer& operand : instruction.operands) {
    if (!boxes.empty()) {
      lexer_.expect(",", fmt::format("',' and operand '{}' of {}", operand.name, instruction.name));
    }
    boxes.push_back(box(operand, instruction.name));
  }
  lexer_.expect(")", "')': there are no more operands");
  const auto index = static_cast<int>(found - known.begin());
  Node node = instantiate(instruction, index, boxes, at);
  node.guard = guard();
  open_.back().body->push_back(std::move(node));
}

Access Parser::box(const Buffer& operand, const std::string& instruction) {
  const Token name = lexer_.peek();
  const auto id = bufferAtToken();
  if (!id) {
    if (name.kind == Token::Kind::word) failUnknownName(name);
    lexer_.failExpected(
        fmt::format("the elements that are operand '{}' of {}", operand.name, instruction));
  }
  if (program_.buffer(*id).dtype != operand.dtype) {
    lexer_.fail("parse.dtype", name.offset,
                fmt::format("operand '{}' of {} is {}, and '{}' is {}", operand.name, instruction,
                            dojo::ir::name(operand.dtype), name.text,
                            dojo::ir::name(program_.buffer(*id).dtype)));
  }
  const std::size_t outside = ranges_.size();
  for (const Dim& dim : operand.dims) ranges_.push_back({0, dim.extent});
  Access out = access();
  ranges_.resize(outside);
  for (const Index& index : out.indices) {
    if (index.isGather()) {
      lexer_.fail("parse.gather", name.offset,
                  "an operand of an instruction can't be gathered: its indices are affine");
    }
  }
  return out;
}

}  // namespace dojo::ir
