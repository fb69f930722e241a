// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/lexer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dojo::ir {

namespace {

constexpr std::size_t kLongestWord = 100;  ///< Names and numbers; more is a mistake.
constexpr std::size_t kShownBefore = 60;   ///< Of a long line, before and after the caret.
constexpr std::size_t kShownAfter = 40;

constexpr std::array<std::string_view, 9> kLongSymbols = {
    "..", "<=", ">=", "==", "!=", "<<", ">>", "+=", "*="};
constexpr std::string_view kSymbols = "[](){},:=+-*/<>&|^~@!";

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Source text made safe to print, one column a byte.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '\t' || c == '\r') {
      c = ' ';
    } else if (c < ' ' || c > '~') {
      c = '?';
    }
  }
  return out;
}

}  // namespace

std::string Token::describe() const {
  if (kind == Kind::end) return "the end of the text";
  if (kind == Kind::newline) return "the end of the line";
  return fmt::format("'{}'", text);
}

Token Lexer::take() {
  const Token taken = current_;
  if (taken.kind != Token::Kind::end) current_ = scan();
  return taken;
}

bool Lexer::accept(std::string_view symbolOrWord) {
  if (!current_.is(symbolOrWord)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view symbolOrWord, std::string_view what) {
  if (!accept(symbolOrWord)) failExpected(what);
}

void Lexer::failExpected(std::string_view what) const {
  fail("parse.syntax", current_.offset,
       fmt::format("expected {}, not {}", what, current_.describe()));
}

void Lexer::fail(const std::string& code, std::size_t offset, const std::string& message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text_.find('\n', offset), text_.size());
  const std::size_t column = offset - start;

  const std::size_t from = column > kShownBefore ? offset - kShownBefore : start;
  const std::size_t to = std::min(end, offset + kShownAfter);
  std::string shown = from > start ? "..." : "";
  const std::size_t caret = shown.size() + (offset - from);
  shown += printable(text_.substr(from, to - from));
  if (to < end) shown += "...";
  while (!shown.empty() && shown.back() == ' ') shown.pop_back();

  throw ParseFailure{{code, message, fmt::format("{}:{}:{}", file_, line, column + 1),
                      "  " + shown + "\n  " + std::string(caret, ' ') + "^"}};
}

std::size_t Lexer::numberEnd() const {
  const auto digits = [this](std::size_t from) {
    while (from < text_.size() && isDigit(text_[from])) ++from;
    return from;
  };
  std::size_t end = digits(at_);
  // A dot only where a digit follows: `0..5` is a range.
  if (end + 1 < text_.size() && text_[end] == '.' && isDigit(text_[end + 1])) end = digits(end + 1);
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (digits(exponent) > exponent) end = digits(exponent);
  }
  return end;
}

Token Lexer::scan() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      break;
    }
  }
  const std::size_t start = at_;
  if (at_ == text_.size()) return {Token::Kind::end, {}, start};
  const char c = text_[at_];
  const auto token = [&](Token::Kind kind, std::size_t end) {
    at_ = end;
    return Token{kind, text_.substr(start, end - start), start};
  };
  if (c == '\n') {
    ++at_;
    return {Token::Kind::newline, {}, start};
  }
  if (isLetter(c)) {
    std::size_t end = start;
    while (end < text_.size() && (isLetter(text_[end]) || isDigit(text_[end]))) ++end;
    if (end - start > kLongestWord) {
      fail("parse.syntax", start, fmt::format("a name has at most {} letters", kLongestWord));
    }
    return token(Token::Kind::word, end);
  }
  if (isDigit(c)) {
    const std::size_t end = numberEnd();
    if (end - start > kLongestWord) {
      fail("parse.overflow", start, fmt::format("a number has at most {} digits", kLongestWord));
    }
    if (end < text_.size() && isLetter(text_[end])) {
      fail("parse.syntax", end, "a name can't start with a digit, nor a number end with a letter");
    }
    return token(Token::Kind::number, end);
  }
  for (const std::string_view symbol : kLongSymbols) {
    if (text_.substr(start, 2) == symbol) return token(Token::Kind::symbol, start + 2);
  }
  if (kSymbols.find(c) != std::string_view::npos) return token(Token::Kind::symbol, start + 1);
  if (c > ' ' && c <= '~') {
    fail("parse.character", start, fmt::format("unexpected character '{}'", c));
  }
  fail("parse.character", start,
       fmt::format(
           "unexpected byte 0x{:02x}: programs are plain ASCII text (comments may have more)",
           static_cast<unsigned>(static_cast<unsigned char>(c))));
}

}  // namespace dojo::ir
