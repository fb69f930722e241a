// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/text/tokenizer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_map>

#include "base/check.h"
#include "ir/lexer.h"

namespace dojo::agent {
namespace {

using Word = ir::Token;

/// A line as the lexer sees it, without its bars.
struct Source {
  int depth = 0;
  std::vector<Word> words;
};

std::vector<Source> linesOf(std::string_view text) {
  ir::Lexer lexer(text, "<text>");
  std::vector<Source> out;
  Source line;
  bool start = true;
  while (true) {
    const Word word = lexer.take();
    if (word.kind == Word::Kind::newline || word.kind == Word::Kind::end) {
      if (!line.words.empty()) out.push_back(std::move(line));
      line = {};
      start = true;
      if (word.kind == Word::Kind::end) return out;
    } else if (start && word.is("|")) {
      ++line.depth;
    } else {
      start = false;
      line.words.push_back(word);
    }
  }
}

bool isRole(const Word& word) {
  return word.is("in") || word.is("out") || word.is("inout") || word.is("tmp");
}

LineKind kindOf(const Source& line) {
  const Word& first = line.words[0];
  if (first.is("kernel")) return LineKind::kernel;
  if (first.is("instruction")) return LineKind::instruction;
  if (isRole(first) && line.words.size() > 1 && line.words[1].kind == Word::Kind::word) {
    return LineKind::declaration;
  }
  if (first.kind == Word::Kind::number) return LineKind::scope;
  const bool range = std::any_of(line.words.begin(), line.words.end(),
                                 [](const Word& word) { return word.is(".."); });
  return range ? LineKind::scope : LineKind::leaf;
}

Token numberToken(std::string_view text) {
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, whole);
  if (read.ec == std::errc() && read.ptr == end) return wholeToken(whole);
  double real = 0;
  std::from_chars(text.data(), end, real);
  return realToken(real);
}

/// What a word may be at its place in the line.
enum class Place : std::uint8_t { name, title, language };

class Reader {
 public:
  TokenText read(const std::vector<Source>& lines) {
    for (const Source& line : lines) {
      if (kindOf(line) == LineKind::declaration && line.depth == 0) declare(line);
    }
    std::vector<int> open;  // Lines that the next may stand in, by depth.
    bool fragment = false;
    for (const Source& line : lines) {
      TextLine made;
      made.kind = kindOf(line);
      made.depth = line.depth;
      if (line.depth == 0) fragment = made.kind == LineKind::instruction;
      if (line.depth == 0) operands_.clear();
      if (fragment && made.kind == LineKind::declaration) {
        operands_.emplace(std::string(line.words[1].text), operands_.size());
      }
      open.resize(std::min(open.size(), static_cast<std::size_t>(line.depth)));
      if (!open.empty()) made.parent = open.back();
      const bool opens = made.kind == LineKind::scope || made.kind == LineKind::instruction;
      if (opens) open.push_back(static_cast<int>(out_.lines.size()));
      translate(line, fragment, made);
      out_.lines.push_back(std::move(made));
    }
    return std::move(out_);
  }

 private:
  void declare(const Source& line) {
    const bool tmp = line.words[0].is("tmp");
    const Token token = tmp ? tmpToken(tmps_++) : argumentToken(out_.arguments++);
    buffers_.emplace(std::string(line.words[1].text), Named{out_.buffers++, token});
  }

  void translate(const Source& line, bool fragment, TextLine& made) {
    int brackets = 0;
    bool mapped = false;
    for (std::size_t k = 0; k < line.words.size(); ++k) {
      const Word& word = line.words[k];
      if (word.is("(")) ++brackets;
      if (word.is(")")) --brackets;
      if (word.is(":")) mapped = true;
      if (word.kind == Word::Kind::number) {
        made.tokens.push_back(numberToken(word.text));
      } else if (isVariable(line, k)) {
        made.tokens.push_back(variableToken(numberToken(line.words[k + 1].text).value));
        k += 2;
      } else if (word.kind == Word::Kind::symbol) {
        made.tokens.push_back(spelled(word));
      } else {
        Place place = mapped && brackets == 0 ? Place::language : Place::name;
        if (k > 0 && line.words[k - 1].is("@")) place = Place::language;
        if (k > 0 && line.words[k - 1].is("!")) place = Place::title;
        if (k == 1 && (made.kind == LineKind::kernel || made.kind == LineKind::instruction)) {
          place = Place::title;
        }
        const bool own = k == 1 && made.kind == LineKind::declaration;
        made.tokens.push_back(named(word, place, fragment, own, made));
      }
    }
    std::sort(made.buffers.begin(), made.buffers.end());
    made.buffers.erase(std::unique(made.buffers.begin(), made.buffers.end()), made.buffers.end());
  }

  static bool isVariable(const Source& line, std::size_t k) {
    return k + 2 < line.words.size() && line.words[k].is("{") &&
           line.words[k + 1].kind == Word::Kind::number && line.words[k + 2].is("}") &&
           classOf(numberToken(line.words[k + 1].text).id) == TokenClass::whole;
  }

  Token named(const Word& word, Place place, bool fragment, bool own, TextLine& made) {
    const std::string text(word.text);
    if (place == Place::name && fragment) {
      // Operands of an instruction are its own, by position.
      const auto operand = operands_.find(text);
      if (operand != operands_.end()) {
        return argumentToken(static_cast<std::int64_t>(operand->second));
      }
    } else if (place == Place::name) {
      const auto buffer = buffers_.find(text);
      if (buffer != buffers_.end()) {
        made.buffers.push_back(buffer->second.id);
        if (own) made.declares = buffer->second.id;
        return buffer->second.token;
      }
    }
    return place == Place::title ? titled(text) : spelled(word);
  }

  Token spelled(const Word& word) {
    const auto fixed = fixedToken(word.text);
    return fixed ? Token{*fixed, 0} : titled(std::string(word.text));
  }

  Token titled(const std::string& text) {
    const auto [at, added] = words_.try_emplace(text, static_cast<std::int64_t>(out_.words.size()));
    if (added) out_.words.push_back(text);
    return wordToken(at->second);
  }

  struct Named {
    int id;
    Token token;
  };
  TokenText out_;
  std::int64_t tmps_ = 0;
  std::unordered_map<std::string, Named> buffers_;
  std::unordered_map<std::string, std::size_t> operands_;  ///< Of the fragment at hand.
  std::unordered_map<std::string, std::int64_t> words_;
};

std::string textOf(const Token& token, const std::vector<std::string>& words) {
  switch (classOf(token.id)) {
    case TokenClass::special:
    case TokenClass::fixed:
      return spelling(token.id);
    case TokenClass::word:
      return words.at(static_cast<std::size_t>(token.value));
    case TokenClass::argument:
      return "a" + std::to_string(token.value);
    case TokenClass::tmp:
      return "t" + std::to_string(token.value);
    case TokenClass::variable:
      return "{" + std::to_string(token.value) + "}";
    case TokenClass::whole:
      return std::to_string(token.value);
    case TokenClass::real: {
      char text[40];
      const auto end = std::to_chars(text, text + sizeof text, std::bit_cast<double>(token.value));
      return {text, end.ptr};
    }
  }
  return "";
}

}  // namespace

Result<TokenText> tokenize(std::string_view text) {
  try {
    return Reader().read(linesOf(text));
  } catch (const ir::ParseFailure& failure) {
    return failure.error;
  }
}

std::string textOf(const TokenText& tokens) {
  std::string out;
  for (const TextLine& line : tokens.lines) {
    for (int k = 0; k < line.depth; ++k) out += "| ";
    for (const Token& token : line.tokens) out += textOf(token, tokens.words) + ' ';
    out.back() = '\n';
  }
  return out;
}

}  // namespace dojo::agent
