// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Program to text: parse(print(p)) == p.
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::ir {

/// The canonical text, ending in a newline. `program` must be canonical.
[[nodiscard]] std::string print(const Program& program);
/// One node without its body, as in the text but without bars: "16:vector", "m[{0}] max= x[{0}]".
[[nodiscard]] std::string printLine(const Program& program, const Node& node);
/// The tree alone, each line preceded by its place (`@1.0`), for people who choose places.
[[nodiscard]] std::string printWithPlaces(const Program& program);
/// A declaration line: "tmp m f32 [~64] @register". Of shared storage it says nothing without the
/// program: "tmp e f32 [64] shares m".
[[nodiscard]] std::string printDeclaration(const Buffer& buffer);
[[nodiscard]] std::string printDeclaration(const Program& program, BufferId id);
/// The declaration of an instruction, several lines: as its fragment with a bar before each line.
[[nodiscard]] std::string printDeclaration(const Instruction& instruction);
[[nodiscard]] std::string printAccess(const Program& program, const Access& access);
[[nodiscard]] std::string printAffine(const Affine& expr);
/// "{0} + {1} in [0, 8)"
[[nodiscard]] std::string printGuardTerm(const GuardTerm& term);
/// The shortest text that reads back the same in `type`.
[[nodiscard]] std::string printConstant(const Constant& constant, DType type);
/// The line number (from 1) in print(program) of the node at `path`; of what is inside an
/// instruction, that of the instruction.
[[nodiscard]] int lineOf(const Program& program, const Path& path);

}  // namespace dojo::ir
