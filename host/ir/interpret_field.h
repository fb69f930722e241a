// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Floats as integers modulo the prime p = 2^61 - 1: arithmetic in which programs that compute the
/// same are equal without a tolerance.
///
/// - `+ - * fma neg` are those of the field, so sums and products may be re-ordered and contracted.
///   a / b is a times the inverse of b (the inverse of 0 is a fixed number), so that reciprocals
///   and factors may move as they may for floats.
/// - A finite constant is the fraction that its shortest decimal text says: 0.1 is 1 / 10.
///   +inf is a fixed number I and -inf is -I.
/// - Order is that of rank(x) = -(x / I + 1) / 2, which runs from 0 at -inf to p - 1 at +inf, and
///   rank(-x) = p - 1 - rank(x). max and min go by rank, hence are associative, commutative and
///   idempotent, have their identities at the infinities, and agree with comparisons, `select`,
///   `neg` and `abs`.
/// - Other functions (exp, sqrt, round, ...) are fixed hash functions of their operands: equal
///   operands, equal results, and nothing else. A cast to a narrower float is such a function too
///   (the infinities, 0 and 1 stay), since dropping one changes the result; wider is the identity.
/// - Integers and bools stay themselves, for they decide control and indices. An integer becomes a
///   float as itself modulo p; a float becomes an integer by a hash.
///
/// What this can't show: exp(a) exp(b) = exp(a + b) doesn't hold here.
#pragma once

#include <cstdint>

#include "ir/interpret_machine.h"

namespace dojo::ir {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

[[nodiscard]] std::uint64_t fieldAdd(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t fieldNegate(std::uint64_t a);
[[nodiscard]] std::uint64_t fieldMultiply(std::uint64_t a, std::uint64_t b);
/// 0 for 0.
[[nodiscard]] std::uint64_t fieldInverse(std::uint64_t a);
[[nodiscard]] std::uint64_t fieldOf(std::int64_t value);
/// A fixed number for each input.
[[nodiscard]] std::uint64_t fieldHash(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0);
/// Position in the order.
[[nodiscard]] std::uint64_t fieldRank(std::uint64_t a);

class Field final : public Arithmetic {
 public:
  [[nodiscard]] Number constant(const Constant& constant, DType type) const override;
  [[nodiscard]] Number cast(Number value, DType from, DType to) const override;
  [[nodiscard]] Number saturatingCast(Number value, DType from, DType to) const override;
  [[nodiscard]] std::optional<Number> evaluate(Op op, DType type, Number a, Number b,
                                               Number c) const override;
};

}  // namespace dojo::ir
