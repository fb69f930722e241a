// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The closed vocabulary of the loop-tree language: symbols and words of the language each have a
/// token; names, variables and numbers fall into classes, and what they are exactly goes beside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dojo::agent {

using TokenId = std::uint16_t;

/// A word of program text.
struct Token {
  TokenId id = 0;
  /// Of classes: the number (of a real one the bits of the double), the position of the name or the
  /// variable; else 0.
  std::int64_t value = 0;
  bool operator==(const Token&) const = default;
};

/// What a token is, apart from its spelling.
enum class TokenClass : std::uint8_t {
  special,   ///< Of training alone: `mask`.
  fixed,     ///< A symbol or word of the language.
  word,      ///< A name that isn't a buffer's, by order of first use in the program.
  argument,  ///< A buffer, by its position among the arguments.
  tmp,       ///< A buffer, by its position among the tmps.
  variable,  ///< {k}
  whole,     ///< A number without fraction or exponent.
  real,      ///< Any other.
};

[[nodiscard]] std::size_t vocabularySize();
[[nodiscard]] TokenClass classOf(TokenId id);
/// For people and for the hash: "max", "{3}", "tmp 7", "2^10..".
[[nodiscard]] const std::string& spelling(TokenId id);
/// Changes with any change of the vocabulary: weights of another one mean nothing.
[[nodiscard]] std::uint64_t vocabularyHash();

[[nodiscard]] TokenId maskToken();
/// nullopt: no word or symbol of the language.
[[nodiscard]] std::optional<TokenId> fixedToken(std::string_view text);
[[nodiscard]] Token wordToken(std::int64_t position);
[[nodiscard]] Token argumentToken(std::int64_t position);
[[nodiscard]] Token tmpToken(std::int64_t position);
[[nodiscard]] Token variableToken(std::int64_t depth);
[[nodiscard]] Token wholeToken(std::int64_t value);
[[nodiscard]] Token realToken(double value);

/// What a token says beyond its id: the size of numbers and what divides them.
constexpr std::size_t kTokenFeatures = 8;
void featuresOf(const Token& token, float* out);

}  // namespace dojo::agent
