// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/affine.h"

#include <algorithm>

namespace dojo::ir {

namespace {

bool fits(std::int64_t value) { return value >= -kMaxAffine && value <= kMaxAffine; }

bool fits(const Affine& expr) {
  return fits(expr.constant()) && std::all_of(expr.terms().begin(), expr.terms().end(),
                                              [](const Term& term) { return fits(term.coef); });
}

}  // namespace

std::optional<Affine> checkedAdd(const Affine& a, const Affine& b) {
  if (!fits(a) || !fits(b)) return std::nullopt;  // then no sum below leaves int64
  const Affine sum = a + b;
  return fits(sum) ? std::optional(sum) : std::nullopt;
}

std::optional<Affine> checkedSubtract(const Affine& a, const Affine& b) {
  return fits(b) ? checkedAdd(a, b * -1) : std::nullopt;
}

std::optional<Affine> checkedMultiply(const Affine& a, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.constant(), factor, &product) || !fits(product)) return std::nullopt;
  for (const Term& term : a.terms()) {
    if (__builtin_mul_overflow(term.coef, factor, &product) || !fits(product)) return std::nullopt;
  }
  return a * factor;
}

bool staysInRange(const Affine& expr, const std::vector<Interval>& ranges) {
  if (!fits(expr)) return false;
  std::int64_t sum = std::max(expr.constant(), -expr.constant());
  for (const Term& term : expr.terms()) {
    const Interval& range = ranges[static_cast<std::size_t>(term.var)];
    const std::int64_t largest = std::max(-range.lo, range.hi - 1);
    std::int64_t part = 0;
    if (largest > kMaxElements ||
        __builtin_mul_overflow(std::max(term.coef, -term.coef), largest, &part) || !fits(part)) {
      return false;
    }
    sum += std::max(part, -part);
    if (!fits(sum)) return false;
  }
  return true;
}

}  // namespace dojo::ir
