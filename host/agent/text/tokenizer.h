// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Program text to tokens, line by line, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/text/vocabulary.h"
#include "base/result.h"

namespace dojo::agent {

enum class LineKind : std::uint8_t { kernel, declaration, instruction, scope, leaf };
constexpr std::size_t kLineKinds = 5;

struct TextLine {
  LineKind kind = LineKind::leaf;
  int depth = 0;  ///< Bars before it.
  std::vector<Token> tokens;
  /// The line that this one stands in (a scope's, or the head of an instruction's fragment); -1:
  /// none.
  int parent = -1;
  /// Buffers that it names, ascending: positions in declared order. Of a declaration the first is
  /// its own.
  std::vector<int> buffers;
  int declares = -1;  ///< The buffer that it declares.
};

struct TokenText {
  std::vector<TextLine> lines;
  std::vector<std::string> words;  ///< Behind the tokens of class `word`.
  int arguments = 0;               ///< Buffers that aren't tmps.
  int buffers = 0;
};

/// `text` is a program as ir::print writes it. Names of buffers leave no trace: texts of programs
/// that are equal but for them have equal lines. Errors: "parse.*" where it isn't words of the
/// language.
[[nodiscard]] Result<TokenText> tokenize(std::string_view text);

/// The text again, its buffers named a0, a1, ... and t0, t1, ...; a space stands between all
/// tokens, which the parser doesn't mind.
[[nodiscard]] std::string textOf(const TokenText& tokens);

}  // namespace dojo::agent
