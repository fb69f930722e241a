// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/move.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace dojo::moves {

namespace {

bool isWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A word reads back as a name: it is not empty, has word characters only and isn't a number.
bool isWord(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), isWordChar);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toString(const Arg& arg) {
  if (const auto* path = std::get_if<ir::Path>(&arg)) return ir::toString(*path);
  if (const auto* number = std::get_if<std::int64_t>(&arg)) return std::to_string(*number);
  const auto& text = std::get<std::string>(arg);
  return isWord(text) ? text : quoted(text);
}

Error syntaxError(const std::string& message) { return Error{"move.syntax", message, "", ""}; }

/// Reads "..." from the front of `rest`.
Result<std::string> takeQuoted(std::string_view& rest) {
  std::string out;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '"') {
      rest.remove_prefix(i + 1);
      return out;
    }
    if (c == '\\' && i + 1 < rest.size()) {
      ++i;
      out += rest[i] == 'n' ? '\n' : rest[i];
    } else {
      out += c;
    }
  }
  return syntaxError("a quoted text has no closing quote");
}

std::optional<std::int64_t> asNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Arg> parseWord(std::string_view word) {
  if (word.front() == '@') {
    const std::optional<ir::Path> path = ir::parsePath(word);
    if (!path) {
      return syntaxError("'" + std::string(word) + "' is not a place such as @1.0");
    }
    return Arg(*path);
  }
  if (const auto number = asNumber(word)) return Arg(*number);
  if (isWord(word)) return Arg(std::string(word));
  return syntaxError("'" + std::string(word) +
                     "' is neither a place (@1.0), a number, a name nor a quoted text");
}

std::size_t skipSpace(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && std::isspace(static_cast<unsigned char>(text[n])) != 0) ++n;
  return n;
}

/// Nothing but space or a comment.
bool isBlank(std::string_view line) {
  line.remove_prefix(skipSpace(line));
  return line.empty() || line.front() == '#';
}

}  // namespace

std::string toString(const Move& move) {
  std::string out = move.name;
  for (const Arg& arg : move.args) out += " " + toString(arg);
  return out;
}

std::string toString(const Trace& trace) {
  std::string out;
  for (const Move& move : trace) out += toString(move) + "\n";
  return out;
}

Result<Move> parseMove(std::string_view line) {
  Move move;
  bool first = true;
  while (!isBlank(line)) {
    line.remove_prefix(skipSpace(line));
    if (line.front() == '"') {
      if (first) return syntaxError("a move starts with its name");
      Result<std::string> text = takeQuoted(line);
      if (!text) return text.error();
      move.args.emplace_back(std::move(*text));
      continue;
    }
    std::size_t end = 0;
    while (end < line.size() && std::isspace(static_cast<unsigned char>(line[end])) == 0 &&
           line[end] != '#' && line[end] != '"') {
      ++end;
    }
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    if (first) {
      if (!isWord(word)) {
        return syntaxError("a move starts with its name, not '" + std::string(word) + "'");
      }
      move.name = std::string(word);
      first = false;
      continue;
    }
    Result<Arg> arg = parseWord(word);
    if (!arg) return arg.error();
    move.args.push_back(std::move(*arg));
  }
  if (first) return syntaxError("there is no move on the line");
  return move;
}

Result<Trace> parseTrace(std::string_view text, const std::string& file) {
  Trace trace;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (isBlank(line)) continue;
    Result<Move> move = parseMove(line);
    if (!move) {
      Error error = move.error();
      error.where = file + ":" + std::to_string(number);
      error.detail = std::string(line);
      return error;
    }
    trace.push_back(std::move(*move));
  }
  return trace;
}

}  // namespace dojo::moves
