// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a machine would feel of a program, computed from its tree: the encoder learns to tell it
/// from the text.
#pragma once

#include <string_view>

#include "agent/nn/matrix.h"
#include "agent/text/tokenizer.h"
#include "ir/program.h"

namespace dojo::agent {

/// Of a line of the tree.
enum class LineFact : std::uint8_t {
  executions,   ///< Of the line; log2 / 16, as all counts here.
  vectorWidth,  ///< Iterations of the vector scopes around it.
  copies,       ///< By the unrolled scopes around it.
  threads,      ///< Iterations of the parallel scopes around it.
  // Of leaves alone:
  writeStride,   ///< In elements, per iteration of the innermost scope that isn't unrolled.
  readStride,    ///< Of the first element that it reads.
  readStride2,   ///< Of the second.
  writeReuse,    ///< Executions for each element that it writes.
  readReuse,     ///< For each that its first operand reads.
  readReuse2,    ///< For each that its second operand reads.
  elementBytes,  ///< Of what it writes.
  guarded,       ///< 1: it stands under a guard.
};
constexpr std::size_t kLineFacts = 12;

enum class ProgramFact : std::uint8_t {
  executions,      ///< Of all leaves.
  vectorised,      ///< The share of these within vector scopes.
  code,            ///< Leaves with their unrolled copies.
  registerNeed,    ///< Elements of register storage.
  argumentBytes,   ///< That it touches at least.
  temporaryBytes,  ///< Of storage that isn't in registers.
  memoryTraffic,   ///< Bytes that its leaves read and write outside of registers.
  depth,           ///< Of its deepest leaf; not a logarithm.
};
constexpr std::size_t kProgramFacts = 8;

struct Facts {
  Matrix lines;        ///< A row for each line of the text.
  Matrix linesWeight;  ///< 1 where a fact is defined, else 0.
  Matrix program;      ///< One row.
};
/// `text` is that of `program`.
[[nodiscard]] Facts factsOf(const ir::Program& program, const TokenText& text);

}  // namespace dojo::agent
