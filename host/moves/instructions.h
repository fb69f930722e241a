// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Vendors' instructions in programs: what they need of their place and of how their operands lie.
/// The moves, the test before compiling and the code generator read the same answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::moves {

/// How an operand lies in its buffer's storage.
struct BoxLayout {
  /// Elements between neighbours along each dim of the operand; 0 where all of them are one.
  std::vector<std::int64_t> strides;
  /// Elements of storage: less than those of the operand where some of it is repeated.
  std::int64_t run = 1;
};

/// The layout of a box in memory: one run without gaps, in the order of its dims, on which some
/// dims move nothing. Errors say what it is instead.
[[nodiscard]] Result<BoxLayout> layoutOf(const ir::Program& program, const ir::Buffer& operand,
                                         const ir::Access& box, int depth);

/// True where an operand that's passed so is one word: several elements in a register for numbers.
[[nodiscard]] bool isWord(const ir::Buffer& operand, const std::string& constraint);

/// Why the target couldn't do `node` (of a program that ir::check accepts) as this instruction
/// inside these scopes: what it needs of its operands in memory and of the scopes around it.
/// Whether operands in registers are at hand is asked by lowerable().
[[nodiscard]] Status usable(const ir::Program& program, const ir::Instruction& instruction,
                            const target::Target& target, const ir::Node& node,
                            const std::vector<const ir::Node*>& enclosing);

/// All instructions of a move's result still are what they were: each node that is marked is its
/// fragment, on operands that the target can pass, and none has got lost but by expand_instruction
/// or where two equal ones were merged. At once for programs without any. "move.instruction"
[[nodiscard]] Status proveInstructions(const ir::Program& before, const Move& move,
                                       const ir::Program& after, const target::Target& target);

/// True where `path` lies inside a node that is an instruction: nobody sees such places.
[[nodiscard]] bool insideInstruction(const ir::Program& program, const ir::Path& path);

}  // namespace dojo::moves
