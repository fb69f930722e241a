// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/reference_estimate.h"

#include "base/check.h"

namespace dojo::ir {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// How far a function's result may be when its operand is off by `bound`; `a` and `value` are
/// finite, x is a, and `inner` the nearest that the operand may come to zero.
double spreadOf(Op op, double x, double bound, double value) {
  const double inner = std::max(0.0, std::abs(x) - bound);
  switch (op) {
    case Op::exp:
      return value * (bound < 0x1p-10 ? bound * (1 + bound) : std::expm1(bound));
    case Op::log:
      return x - bound > 0 ? -std::log1p(-bound / x) : kUnknown;
    case Op::rsqrt: {
      const double least = x - bound;
      return least > 0 ? bound * 0.5 / (least * std::sqrt(least)) : kUnknown;
    }
    case Op::tanh: {
      const double cosh = std::cosh(inner);
      return std::min(bound / (cosh * cosh), 2.0);
    }
    case Op::erf:
      return std::min(bound * 2 / std::sqrt(kPi) * std::exp(-inner * inner), 2.0);
    case Op::sigmoid: {
      const double e = std::exp(-inner);
      return std::min(bound * e / ((1 + e) * (1 + e)), 1.0);
    }
    default:
      DOJO_CHECK(false, "not a function of one operand");
      return kUnknown;
  }
}

/// Of x^y.
double spreadOfPower(double x, double xBound, double y, double yBound, double value) {
  if (xBound == 0 && yBound == 0) return 0;
  const bool whole = yBound == 0 && y == std::nearbyint(y);
  const double size = std::abs(x);
  if (size > xBound && (x > 0 || whole)) {
    // |log| of the ratio between what may be and what is.
    const double relative = -std::log1p(-xBound / size);
    const double change = (std::abs(y) + yBound) * relative + yBound * std::abs(std::log(size));
    return std::abs(value) * std::expm1(change);
  }
  if (whole && y > 0) return std::pow(size + xBound, y) + std::abs(value);
  return kUnknown;
}

template <class F>
F functionOf(Op op, F a, F b) {
  switch (op) {
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::erf:
      return std::erf(a);
    case Op::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Op::pow:
      return std::pow(a, b);
    default:
      DOJO_CHECK(false, "not a function");
      return a;
  }
}

template <class R>
Estimate<R> functionEstimate(Op op, const FloatFormat& format, Estimate<R> a, Estimate<R> b) {
  const R value = narrowed<R>(functionOf(op, extended(a.value), extended(b.value)));
  const double x = approximate(a.value);
  const double v = approximate(value);
  const double ulps = 2.0 * (op == Op::pow ? format.powUlps : format.functionUlps);
  if (op == Op::pow) {
    const double spread = spreadOfPower(x, a.bound, approximate(b.value), b.bound, v);
    return rounded(value, spread, format, ulps);
  }
  return rounded(value, a.bound == 0 ? 0 : spreadOf(op, x, a.bound, v), format, ulps);
}

template <class F>
F toWhole(Op op, F a) {
  switch (op) {
    case Op::round:
      return std::nearbyint(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    default:
      return std::trunc(a);
  }
}

template <class R>
Estimate<R> wholeEstimate(Op op, Estimate<R> a) {
  const auto x = extended(a.value);
  const auto value = toWhole(op, x);
  if (a.bound == 0 || !std::isfinite(value)) return {narrowed<R>(value), a.bound};
  const auto above = toWhole(op, x + a.bound) - value;
  const auto below = value - toWhole(op, x - a.bound);
  return {narrowed<R>(value), static_cast<double>(std::max(above, below))};
}

template <class R>
bool isFinite(const Estimate<R>& e) {
  return std::isfinite(approximate(e.value));
}

template <class R>
bool isZero(const Estimate<R>& e) {
  return approximate(e.value) == 0 && e.bound == 0;
}

/// Zero, or certainly not; of known sign.
template <class R>
bool isDecided(const Estimate<R>& e) {
  return !isFinite(e) || isZero(e) || magnitude(e.value) > e.bound;
}

/// A non-finite result of operands with finite bounds: must a candidate have the same? Not where it
/// hangs on the sign of a zero, which maxima and sums that start from their first term may change.
template <class R>
bool isCertain(Op op, double value, const Estimate<R>& a, const Estimate<R>& b,
               const Estimate<R>& c) {
  const int arity = info(op).arity;
  const bool special = !isFinite(a) || (arity > 1 && !isFinite(b)) || (arity > 2 && !isFinite(c));
  switch (op) {
    case Op::mul:
    case Op::fma:
      return special && isDecided(a) && isDecided(b);
    case Op::div:
      if (isZero(b)) return std::isnan(value) && isDecided(a);
      return special && isDecided(b);
    case Op::log:
      return special || approximate(a.value) + a.bound < 0 || isZero(a);
    case Op::rsqrt:
    case Op::sqrt:
      return special || approximate(a.value) + a.bound < 0;
    case Op::pow:
      return a.bound == 0 && b.bound == 0 && (special || std::isnan(value));
    default:
      return special;
  }
}

template <class R>
Estimate<R> formula(Op op, const FloatFormat& format, Estimate<R> a, Estimate<R> b, Estimate<R> c) {
  switch (op) {
    case Op::add:
      return finiteAdd(a, b, format);
    case Op::sub:
      return finiteSubtract(a, b, format);
    case Op::mul:
      return finiteMultiply(a, b, format);
    case Op::div:
      return finiteDivide(a, b, format);
    case Op::fma:
      return finiteAdd(finiteMultiply(a, b, format), c, format);
    case Op::sqrt:
      return finiteSquareRoot(a, format);
    case Op::neg:
      return negated(a);
    case Op::abs:
      return std::signbit(approximate(a.value)) ? negated(a) : a;
    case Op::max:
      return larger(a, b);
    case Op::min:
      return negated(larger(negated(a), negated(b)));
    case Op::round:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
      return wholeEstimate(op, a);
    default:
      return functionEstimate(op, format, a, b);
  }
}

/// neg, abs, max, min and rounding pass what they are given on.
bool makesNothingNew(Op op) {
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::max:
    case Op::min:
    case Op::round:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
      return true;
    default:
      return false;
  }
}

}  // namespace

template <class R>
Estimate<R> estimate(Op op, const FloatFormat& format, Estimate<R> a, Estimate<R> b,
                     Estimate<R> c) {
  const Estimate<R> result = formula(op, format, a, b, c);
  if (accepted(result, format) || makesNothingNew(op)) return result;
  const double value = approximate(result.value);
  if (std::isfinite(value)) return {result.value, kUnknown};
  const int arity = info(op).arity;
  double bounds = a.bound;
  if (arity > 1) bounds += b.bound;
  if (arity > 2) bounds += c.bound;
  const bool certain = std::isfinite(bounds) && isCertain(op, value, a, b, c);
  return {result.value, certain ? 0 : kUnknown};
}

template <class R>
Comparison estimateComparison(Op op, Estimate<R> a, Estimate<R> b) {
  const double x = approximate(a.value);
  const double y = approximate(b.value);
  const double difference = x == y ? approximate(a.value - b.value) : x - y;
  const bool less = x < y || (x == y && difference < 0);
  const bool more = x > y || (x == y && difference > 0);
  const bool same = x == y && !less && !more;
  const bool apart = std::abs(x - y) > a.bound + b.bound;
  const bool special = !isFinite(a) || !isFinite(b);
  const bool exact = a.bound + b.bound == 0;
  const bool certain = exact || apart || (special && std::isfinite(a.bound + b.bound));
  switch (op) {
    case Op::lt:
      return {less, certain};
    case Op::le:
      return {less || same, certain};
    case Op::gt:
      return {more, certain};
    case Op::ge:
      return {more || same, certain};
    case Op::eq:
      return {same, certain};
    default:
      return {!same, certain};
  }
}

template <class R>
Estimate<R> estimateSelect(bool condition, bool certain, Estimate<R> a, Estimate<R> b) {
  const Estimate<R> chosen = condition ? a : b;
  if (certain) return chosen;
  const Estimate<R> other = condition ? b : a;
  const double reach = magnitude(other.value - chosen.value) + other.bound;
  return {chosen.value, std::isfinite(reach) ? std::max(chosen.bound, reach) : kUnknown};
}

template <class R>
Estimate<R> estimateRounding(Estimate<R> a, const FloatFormat& format) {
  const Estimate<R> result = roundedOnce(a.value, a.bound, format);
  if (accepted(result, format)) return result;
  if (std::isfinite(approximate(a.value))) return {a.value, kUnknown};
  return a;
}

template <class R>
IntegerEstimate estimateTruncation(Estimate<R> a, DType to) {
  const auto truncate = [to](auto x) {
    // Only the extended format has more digits than a double, below 2^63 in magnitude.
    if (std::abs(x) < 0x1p62) return saturateTo(to, static_cast<std::int64_t>(x));
    return truncateTo(to, static_cast<double>(x));
  };
  const auto x = extended(a.value);
  if (to == DType::boolean) {
    const bool certain = a.bound == 0 || std::abs(x) > a.bound || std::isnan(x);
    return {x != 0, certain ? 0.0 : 1.0};
  }
  const std::int64_t value = truncate(x);
  if (a.bound == 0 || !std::isfinite(x)) return {value, std::isfinite(a.bound) ? 0 : kUnknown};
  if (!std::isfinite(a.bound)) return {value, kUnknown};
  const double above = static_cast<double>(truncate(x + a.bound)) - static_cast<double>(value);
  const double below = static_cast<double>(value) - static_cast<double>(truncate(x - a.bound));
  return {value, std::max(above, below)};
}

namespace {

/// The bound of an operation on integers of which some are uncertain.
double integerSpread(Op op, DType type, IntegerEstimate a, IntegerEstimate b, IntegerEstimate c,
                     std::int64_t value) {
  const auto x = std::abs(static_cast<double>(a.value));
  const auto y = std::abs(static_cast<double>(b.value));
  double bound = kUnknown;
  switch (op) {
    case Op::add:
    case Op::sub:
      bound = a.bound + b.bound;
      break;
    case Op::mul:
    case Op::fma:
      bound = x * b.bound + y * a.bound + a.bound * b.bound + c.bound;
      break;
    case Op::neg:
    case Op::abs:
      bound = a.bound;
      break;
    case Op::max:
    case Op::min:
      return std::max(a.bound, b.bound);
    case Op::bitAnd:
    case Op::bitOr:
    case Op::bitXor:
    case Op::bitNot:
      return type == DType::boolean ? 1 : kUnknown;
    case Op::shr:
      if (b.bound == 0) {
        bound = std::ceil(std::ldexp(a.bound, -static_cast<int>(b.value & 63))) + 1;
      }
      break;
    default:
      break;
  }
  const auto v = static_cast<double>(value);
  const bool fits = v + bound <= static_cast<double>(highest(type)) &&
                    v - bound >= static_cast<double>(lowest(type));
  return fits ? bound : kUnknown;
}

}  // namespace

IntegerEstimate estimateInteger(Op op, DType type, IntegerEstimate a, IntegerEstimate b,
                                IntegerEstimate c, bool& byZero) {
  const auto value =
      evaluate(op, type, Number::of(a.value), Number::of(b.value), Number::of(c.value));
  if (!value) {
    byZero = true;
    return {0, kUnknown};
  }
  const int arity = info(op).arity;
  const double bounds = a.bound + (arity > 1 ? b.bound : 0) + (arity > 2 ? c.bound : 0);
  if (bounds == 0) return {value->integer, 0};
  return {value->integer, integerSpread(op, type, a, b, c, value->integer)};
}

Comparison compareIntegers(Op op, IntegerEstimate a, IntegerEstimate b) {
  const auto outcome =
      evaluate(op, DType::i64, Number::of(a.value), Number::of(b.value), Number::of(0.0));
  const double bounds = a.bound + b.bound;
  const double apart = std::abs(static_cast<double>(a.value) - static_cast<double>(b.value));
  const double blur = std::abs(static_cast<double>(a.value)) * 0x1p-50;
  return {outcome->integer != 0, bounds == 0 || apart > bounds + blur};
}

#define DOJO_INSTANTIATE(R)                                                                     \
  template Estimate<R> estimate(Op, const FloatFormat&, Estimate<R>, Estimate<R>, Estimate<R>); \
  template Comparison estimateComparison(Op, Estimate<R>, Estimate<R>);                         \
  template Estimate<R> estimateSelect(bool, bool, Estimate<R>, Estimate<R>);                    \
  template Estimate<R> estimateRounding(Estimate<R>, const FloatFormat&);                       \
  template IntegerEstimate estimateTruncation(Estimate<R>, DType);
DOJO_INSTANTIATE(double)
DOJO_INSTANTIATE(Wide)
#undef DOJO_INSTANTIATE

}  // namespace dojo::ir
