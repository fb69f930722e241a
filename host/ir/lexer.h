// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Words of program text, and errors that point into it. Internal to the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dojo::ir {

/// How the parser stops at its first error; parse() turns it into a Result.
struct ParseFailure {
  Error error;
};

struct Token {
  enum class Kind : std::uint8_t { end, newline, word, number, symbol };
  Kind kind = Kind::end;
  std::string_view text;   ///< Empty for end and newline.
  std::size_t offset = 0;  ///< In bytes from the start of the text.

  [[nodiscard]] bool is(std::string_view symbolOrWord) const {
    return text == symbolOrWord && kind != Kind::number;
  }
  /// For error messages: "'x'", "the end of the line".
  [[nodiscard]] std::string describe() const;
};

/// Words: [A-Za-z_][A-Za-z0-9_]*. Numbers: decimal, with optional fraction and exponent. `#` starts
/// a comment. Newlines are tokens; spaces, tabs and carriage returns separate.
class Lexer {
 public:
  Lexer(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    current_ = scan();
  }

  [[nodiscard]] const Token& peek() const { return current_; }
  /// Returns the current token and goes to the next.
  Token take();
  /// Takes the token where it is this symbol or word.
  bool accept(std::string_view symbolOrWord);
  /// Takes it or fails: "expected WHAT, not ...".
  void expect(std::string_view symbolOrWord, std::string_view what);

  [[nodiscard]] const std::string& file() const { return file_; }
  /// The error at `offset`: FILE:LINE:COLUMN, and the line with a caret.
  [[noreturn]] void fail(const std::string& code, std::size_t offset,
                         const std::string& message) const;
  /// "parse.syntax" at the current token: "expected WHAT, not TOKEN".
  [[noreturn]] void failExpected(std::string_view what) const;

 private:
  Token scan();
  std::size_t numberEnd() const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  Token current_;
};

}  // namespace dojo::ir
