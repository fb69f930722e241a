// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Floats as elements of a ring in which programs that compute the same are equal without a
/// tolerance: power series in e up to e^2, with coefficients modulo the prime p = 2^21 - 9.
///
/// - `+ - * fma neg` are those of the ring, so sums and products may be re-ordered and contracted.
///   a / b is a times the inverse of b (a fixed element where b has none), so that reciprocals and
///   factors may move as they may for floats.
/// - exp(x) is the series 1 + ex + (ex)^2/2 of exp(ex): exp(a + b) = exp(a) exp(b) and exp(0) = 1
///   hold, which is what a running maximum stands on. It tells x up to its second coefficient, and
///   exp(exp(x)) up to the first.
/// - A finite constant is the fraction that its shortest decimal text says: 0.1 is 1 / 10.
///   +inf is a fixed element I and -inf is -I; the largest finite number of a dtype is next to I.
/// - Order is that of ranks: rank(x) is made of -(x / I + 1) / 2 for each coefficient, the first
///   counting most; it is least at -inf, most at +inf, and turned round by `neg`. max and min go by
///   rank, hence are associative, commutative and idempotent, have their identities at the
///   infinities, and agree with comparisons, `select`, `neg` and `abs`.
/// - Other functions (sqrt, tanh, round, ...) are fixed hash functions of their operands: equal
///   operands, equal results, and nothing else. A cast to a narrower float is such a function too
///   (the infinities, 0 and 1 stay), since dropping one changes the result; wider is the identity.
/// - Integers and bools stay themselves, for they decide control and indices. An integer becomes a
///   float as itself modulo p; a float becomes an integer by a hash.
///
/// Different computations agree in an element with a chance of about 1 / p.
#pragma once

#include <cstdint>

#include "ir/interpret_machine.h"

namespace dojo::ir {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 21) - 9;

/// Elements are three coefficients of 21 bits, the first one lowest.
[[nodiscard]] std::uint64_t fieldAdd(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t fieldNegate(std::uint64_t a);
[[nodiscard]] std::uint64_t fieldMultiply(std::uint64_t a, std::uint64_t b);
/// Expects a first coefficient that isn't 0.
[[nodiscard]] std::uint64_t fieldInverse(std::uint64_t a);
[[nodiscard]] std::uint64_t fieldExp(std::uint64_t a);
[[nodiscard]] std::uint64_t fieldOf(std::int64_t value);
/// A fixed element for each input.
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
