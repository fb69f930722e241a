// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Vendors' instructions in a program: fragments, the subtrees that are their instances, and the
/// boxes of elements on which an instance works.
///
/// A box is an access in which the variables from `depth` on, where `depth` is that of the node
/// that the instruction stands for, are the positions in the operand's dims: on `a[{0}, {2}*4 +
/// {3}]` at depth 3, an operand `i8 [4]` is four neighbours of a row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace dojo::ir {

/// An operand has at most so many elements.
constexpr std::int64_t kMostBoxElements = 4096;

/// The instruction that a program of its own describes: its arguments are the operands (those that
/// it writes first, else as declared), its tree is the fragment. One scope or leaf without
/// mappings, guards, gathers and tmps, of single operations; each index of an operand is the
/// variable of a scope as long as the dim. Errors: "instruction.fragment", or what check() says of
/// the program.
[[nodiscard]] Result<Instruction> toInstruction(const Program& fragment);

/// The boxes, one for each operand, on which `node` (at `depth`) does what the instruction does;
/// nullopt where it isn't its fragment, scope for scope and leaf for leaf, up to the order of
/// commutative operands. The node's own guard doesn't matter.
[[nodiscard]] std::optional<std::vector<Access>> boxesOf(const Program& program,
                                                         const Instruction& instruction,
                                                         const Node& node, int depth);
/// The node that does so, without a guard; `index` is the instruction's position in the program.
[[nodiscard]] Node instantiate(const Instruction& instruction, int index,
                               const std::vector<Access>& boxes, int depth);

/// Why these boxes can't be worked on at once, as an instruction does: elements that are written
/// lie on one another, or in storage that another operand is in. Empty: they can.
[[nodiscard]] std::string boxesProblem(const Program& program, const Instruction& instruction,
                                       const std::vector<Access>& boxes, int depth);

/// Every node that is marked as an instruction is its fragment, on boxes that it can work on.
/// "check.instruction", with the line.
[[nodiscard]] Status checkInstructions(const Program& program);

/// Scopes of the fragment that stand in one another.
[[nodiscard]] int depthOf(const Instruction& instruction);
/// Leaves that the fragment executes.
[[nodiscard]] std::int64_t executionsOf(const Instruction& instruction);

}  // namespace dojo::ir
