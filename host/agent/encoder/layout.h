// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the encoder is told of a program besides its lines: their order, and how they stand to one
/// another.
#pragma once

#include <cstddef>
#include <vector>

#include "agent/nn/ops.h"
#include "agent/text/tokenizer.h"

namespace dojo::agent {

/// How line j stands to line i; of several the first counts.
enum class Relation : std::uint8_t {
  whole,       ///< One of them is the program as a whole, the row before all lines.
  self,        ///< j is i.
  parent,      ///< j is the scope around i.
  child,       ///< i is the scope around j.
  ancestor,    ///< j is another scope around i.
  descendant,  ///< i is another scope around j.
  declares,    ///< j declares a buffer that i names.
  declared,    ///< i declares a buffer that j names.
  before,      ///< Both name a buffer, and j comes first.
  after,       ///< Both name a buffer, and i comes first.
  sibling,     ///< Both stand in the same scope.
  other,
};
constexpr std::size_t kRelations = 12;

/// Longer programs are cut: the last lines are left out.
constexpr std::size_t kMostLines = 127;
/// Longer lines are cut, too.
constexpr std::size_t kMostTokens = 48;
constexpr std::size_t kMostDepth = 16;

struct Layout {
  std::size_t lines = 0;  ///< Those that count.
  std::vector<std::size_t> depths, kinds;
  Relations relations;  ///< Of lines + 1 rows, the first of which is the program.
};
[[nodiscard]] Layout layoutOf(const TokenText& text);

}  // namespace dojo::agent
