// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/text/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "base/check.h"
#include "base/text.h"
#include "ir/program.h"

namespace dojo::agent {
namespace {

/// Of each class so many have a token of their own; the others share one.
constexpr std::int64_t kWords = 4;
constexpr std::int64_t kArguments = 16;
constexpr std::int64_t kTmps = 32;
constexpr std::int64_t kVariables = 16;
/// Whole numbers to here, and powers of two, have a token of their own; others go by their size.
constexpr std::int64_t kSmall = 16;
constexpr int kLargestPower = 40;

struct Vocabulary {
  struct Entry {
    std::string spelling;
    TokenClass kind;
  };
  std::vector<Entry> entries;
  std::unordered_map<std::string, TokenId> fixed;
  TokenId mask, word, argument, tmp, variable, small, power, between, real;

  Vocabulary() {
    mask = add("<mask>", TokenClass::special);
    word = addRange("word", kWords, TokenClass::word);
    argument = addRange("argument", kArguments, TokenClass::argument);
    tmp = addRange("tmp", kTmps, TokenClass::tmp);
    variable = addRange("variable", kVariables, TokenClass::variable);
    small = next();
    for (std::int64_t n = 0; n <= kSmall; ++n) add(std::to_string(n), TokenClass::whole);
    power = next();
    for (int k = 0; k <= kLargestPower; ++k) {
      add("2^" + std::to_string(k), TokenClass::whole);
    }
    between = next();
    for (int k = 0; k <= kLargestPower; ++k) {
      add("2^" + std::to_string(k) + "..", TokenClass::whole);
    }
    real = add("real", TokenClass::real);
    for (const char* text :
         {"[",   "]",  "(",   ")",      "{",           "}",      ",",      ":",       "=",
          "+",   "-",  "*",   "/",      "<",           ">",      "&",      "|",       "^",
          "~",   "@",  "!",   "..",     "<=",          ">=",     "==",     "!=",      "<<",
          ">>",  "+=", "*=",  "kernel", "instruction", "packed", "finite", "shares",  "monotone",
          "pad", "if", "and", "inf",    "nan",         "heap",   "stack",  "register"}) {
      addFixed(text);
    }
    for (const ir::Role role : {ir::Role::in, ir::Role::out, ir::Role::inout, ir::Role::tmp}) {
      addFixed(ir::name(role));
    }
    for (int k = 0; k <= static_cast<int>(ir::DType::boolean); ++k) {
      addFixed(ir::name(static_cast<ir::DType>(k)));
    }
    for (const ir::MapKind kind : ir::allMapKinds()) addFixed(ir::name(kind));
    for (const ir::OpInfo& op : ir::allOps()) {
      if (!op.spelling.empty()) addFixed(op.spelling);
    }
  }

  [[nodiscard]] TokenId next() const { return static_cast<TokenId>(entries.size()); }
  TokenId add(std::string spelling, TokenClass kind) {
    entries.push_back({std::move(spelling), kind});
    return static_cast<TokenId>(entries.size() - 1);
  }
  /// One for each of the first `count`, and one for all others.
  TokenId addRange(const std::string& name, std::int64_t count, TokenClass kind) {
    const TokenId first = next();
    for (std::int64_t n = 0; n < count; ++n) add(name + ' ' + std::to_string(n), kind);
    add(name + " ..", kind);
    return first;
  }
  void addFixed(std::string_view text) {
    const std::string spelling(text);
    if (!fixed.contains(spelling)) fixed.emplace(spelling, add(spelling, TokenClass::fixed));
  }
};

const Vocabulary& vocabulary() {
  static const Vocabulary one;
  return one;
}

Token inRange(TokenId first, std::int64_t count, std::int64_t value) {
  DOJO_CHECK(value >= 0, "a position below 0");
  return {static_cast<TokenId>(first + std::min(value, count)), value};
}

}  // namespace

std::size_t vocabularySize() { return vocabulary().entries.size(); }
TokenClass classOf(TokenId id) { return vocabulary().entries.at(id).kind; }
const std::string& spelling(TokenId id) { return vocabulary().entries.at(id).spelling; }

std::uint64_t vocabularyHash() {
  static const std::uint64_t hash = [] {
    std::string all;
    for (const Vocabulary::Entry& entry : vocabulary().entries) all += entry.spelling + '\n';
    return contentHash(all);
  }();
  return hash;
}

TokenId maskToken() { return vocabulary().mask; }

std::optional<TokenId> fixedToken(std::string_view text) {
  const auto found = vocabulary().fixed.find(std::string(text));
  if (found == vocabulary().fixed.end()) return std::nullopt;
  return found->second;
}

Token wordToken(std::int64_t position) { return inRange(vocabulary().word, kWords, position); }
Token argumentToken(std::int64_t position) {
  return inRange(vocabulary().argument, kArguments, position);
}
Token tmpToken(std::int64_t position) { return inRange(vocabulary().tmp, kTmps, position); }
Token variableToken(std::int64_t depth) {
  return inRange(vocabulary().variable, kVariables, depth);
}

Token wholeToken(std::int64_t value) {
  DOJO_CHECK(value >= 0, "signs are tokens of their own");
  const Vocabulary& all = vocabulary();
  if (value <= kSmall) return {static_cast<TokenId>(all.small + value), value};
  const auto bits = static_cast<std::uint64_t>(value);
  const int size = std::min(static_cast<int>(std::bit_width(bits)) - 1, kLargestPower);
  const TokenId first =
      std::has_single_bit(bits) && bits >> kLargestPower <= 1 ? all.power : all.between;
  return {static_cast<TokenId>(first + size), value};
}

Token realToken(double value) { return {vocabulary().real, std::bit_cast<std::int64_t>(value)}; }

void featuresOf(const Token& token, float* out) {
  std::fill(out, out + kTokenFeatures, 0.0F);
  const TokenClass kind = classOf(token.id);
  if (kind == TokenClass::real) {
    out[0] = 1;
    const double size = std::abs(std::bit_cast<double>(token.value));
    out[1] = static_cast<float>(std::clamp(std::log2(size + 1e-30) / 16, -8.0, 8.0));
    return;
  }
  if (kind != TokenClass::whole) return;
  out[1] = static_cast<float>(std::log2(1 + static_cast<double>(token.value)) / 16);
  int at = 2;
  for (const std::int64_t factor : {2, 4, 8, 16, 64, 3}) {
    out[at++] = token.value % factor == 0 ? 1.0F : 0.0F;
  }
}

}  // namespace dojo::agent
