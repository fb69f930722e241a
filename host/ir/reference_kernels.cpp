// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built for several widths of vectors; the results are the same.
#include "ir/reference_kernels.h"

#include <algorithm>

#include "ir/reference_estimate.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define DOJO_WIDTHS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DOJO_WIDTHS
#endif

namespace dojo::ir {

const double kZeros[kBlock] = {};

Kind kindOf(DType type) {
  if (!isFloat(type)) return Kind::integer;
  return type == DType::f64 ? Kind::wide : Kind::narrow;
}

namespace {

template <class R>
[[gnu::always_inline]] inline Estimate<R> at(const Column& column, int i) {
  if constexpr (std::is_same_v<R, Wide>) {
    return {{column.high[i], column.low[i]}, column.bound[i]};
  } else {
    return {column.high[i], column.bound[i]};
  }
}

template <class R>
[[gnu::always_inline]] inline void put(Block& out, int i, const Estimate<R>& e) {
  if constexpr (std::is_same_v<R, Wide>) {
    out.high[i] = e.value.high;
    out.low[i] = e.value.low;
  } else {
    out.high[i] = e.value;
  }
  out.bound[i] = e.bound;
}

[[gnu::always_inline]] inline IntegerEstimate integerAt(const Column& column, int i) {
  return {column.integer[i], column.bound[i]};
}

template <class R, class F>
[[gnu::always_inline]] inline void each2(int count, const Column (&in)[3], Block& out, F formula) {
  const Column a = in[0];
  const Column b = in[1];
  for (int i = 0; i < count; ++i) put(out, i, formula(at<R>(a, i), at<R>(b, i)));
}

/// The operations of inner loops; false: not one of them.
template <class R>
[[gnu::always_inline]] inline bool computeFast(Op op, const FloatFormat& given, int count,
                                               const Column (&in)[3], Block& out) {
  const FloatFormat format = given;
  using E = Estimate<R>;
  switch (op) {
    case Op::add:
      each2<R>(count, in, out, [&](E a, E b) { return finiteAdd(a, b, format); });
      return true;
    case Op::sub:
      each2<R>(count, in, out, [&](E a, E b) { return finiteSubtract(a, b, format); });
      return true;
    case Op::mul:
      each2<R>(count, in, out, [&](E a, E b) { return finiteMultiply(a, b, format); });
      return true;
    case Op::div:
      each2<R>(count, in, out, [&](E a, E b) { return finiteDivide(a, b, format); });
      return true;
    case Op::max:
      each2<R>(count, in, out, [](E a, E b) { return larger(a, b); });
      return true;
    case Op::min:
      each2<R>(count, in, out, [](E a, E b) { return negated(larger(negated(a), negated(b))); });
      return true;
    default:
      return false;
  }
}

DOJO_WIDTHS bool fastNarrow(Op op, const FloatFormat& format, int count, const Column (&in)[3],
                            Block& out) {
  return computeFast<double>(op, format, count, in, out);
}

DOJO_WIDTHS bool fastWide(Op op, const FloatFormat& format, int count, const Column (&in)[3],
                          Block& out) {
  return computeFast<Wide>(op, format, count, in, out);
}

/// Whether all results are finite and in reach of no overflow.
DOJO_WIDTHS bool allAccepted(double largest, int count, const double* high, const double* bound) {
  int good = 0;
  for (int i = 0; i < count; ++i) good += std::abs(high[i]) + bound[i] <= largest ? 1 : 0;
  return good == count;
}

template <class R>
void computeFloats(Op op, DType type, int count, const Column (&in)[3], Block& out) {
  const OpInfo& facts = info(op);
  const FloatFormat& format = formatOf(type);
  if (facts.comparison) {
    for (int i = 0; i < count; ++i) {
      const Comparison found = estimateComparison(op, at<R>(in[0], i), at<R>(in[1], i));
      out.integer[i] = found.value ? 1 : 0;
      out.bound[i] = found.certain ? 0 : 1;
    }
    return;
  }
  if (op == Op::select) {
    for (int i = 0; i < count; ++i) {
      const IntegerEstimate condition = integerAt(in[0], i);
      put(out, i,
          estimateSelect(condition.value != 0, condition.bound == 0, at<R>(in[1], i),
                         at<R>(in[2], i)));
    }
    return;
  }
  const bool fast = std::is_same_v<R, Wide> ? fastWide(op, format, count, in, out)
                                            : fastNarrow(op, format, count, in, out);
  if (fast && allAccepted(format.largest, count, out.high, out.bound)) return;
  for (int i = 0; i < count; ++i) {
    const Estimate<R> a = at<R>(in[0], i);
    const Estimate<R> b = facts.arity > 1 ? at<R>(in[1], i) : Estimate<R>{};
    const Estimate<R> c = facts.arity > 2 ? at<R>(in[2], i) : Estimate<R>{};
    put(out, i, estimate(op, format, a, b, c));
  }
}

std::int64_t wrapping(DType type, std::uint64_t value) {
  return wrapTo(type, static_cast<std::int64_t>(value));
}

/// The operations of inner loops on certain integers; false: not one of them.
bool fastIntegers(Op op, DType type, int count, const Column (&in)[3], Block& out) {
  const auto each = [&](auto formula) {
    for (int i = 0; i < count; ++i) {
      out.integer[i] = wrapping(type, formula(static_cast<std::uint64_t>(in[0].integer[i]),
                                              static_cast<std::uint64_t>(in[1].integer[i])));
    }
    return true;
  };
  switch (op) {
    case Op::add:
      return each([](std::uint64_t a, std::uint64_t b) { return a + b; });
    case Op::sub:
      return each([](std::uint64_t a, std::uint64_t b) { return a - b; });
    case Op::mul:
      return each([](std::uint64_t a, std::uint64_t b) { return a * b; });
    default:
      return false;
  }
}

bool computeIntegers(Op op, DType type, int count, const Column (&in)[3], Block& out) {
  const OpInfo& facts = info(op);
  bool certain = true;
  for (int k = 0; k < facts.arity; ++k) {
    certain =
        certain && (in[k].bound == kZeros || std::all_of(in[k].bound, in[k].bound + count,
                                                         [](double bound) { return bound == 0; }));
  }
  if (certain && fastIntegers(op, type, count, in, out)) {
    std::fill_n(out.bound, count, 0.0);
    return true;
  }
  bool byZero = false;
  for (int i = 0; i < count; ++i) {
    const IntegerEstimate a = integerAt(in[0], i);
    const IntegerEstimate b = facts.arity > 1 ? integerAt(in[1], i) : IntegerEstimate{};
    const IntegerEstimate c = facts.arity > 2 ? integerAt(in[2], i) : IntegerEstimate{};
    IntegerEstimate result;
    if (facts.comparison) {
      const Comparison found = compareIntegers(op, a, b);
      result = {found.value ? 1 : 0, found.certain ? 0.0 : 1.0};
    } else if (op == Op::select) {
      const IntegerEstimate chosen = a.value != 0 ? b : c;
      const IntegerEstimate other = a.value != 0 ? c : b;
      const double apart =
          std::abs(static_cast<double>(chosen.value) - static_cast<double>(other.value));
      result = chosen;
      if (a.bound != 0) result.bound = std::max(chosen.bound, apart + other.bound);
    } else {
      result = estimateInteger(op, type, a, b, c, byZero);
    }
    out.integer[i] = result.value;
    out.bound[i] = result.bound;
  }
  return !byZero;
}

template <class R>
void castFloats(DType from, DType to, int count, const Column& in, Block& out) {
  const Kind kind = kindOf(to);
  for (int i = 0; i < count; ++i) {
    const Estimate<R> a = at<R>(in, i);
    if (kind == Kind::integer) {
      const IntegerEstimate result = estimateTruncation(a, to);
      out.integer[i] = result.value;
      out.bound[i] = result.bound;
      continue;
    }
    const Estimate<R> result = convertsExactly(from, to) ? a : estimateRounding(a, formatOf(to));
    out.high[i] = approximate(result.value);
    out.bound[i] = result.bound;
    if (kind == Kind::wide) out.low[i] = std::is_same_v<R, Wide> ? in.low[i] : 0;
  }
}

void castIntegers(bool saturate, DType from, DType to, int count, const Column& in, Block& out) {
  for (int i = 0; i < count; ++i) {
    const IntegerEstimate a = integerAt(in, i);
    if (kindOf(to) == Kind::integer) {
      const Number value = Number::of(a.value);
      out.integer[i] =
          (saturate ? saturatingCast(value, from, to) : castNumber(value, from, to)).integer;
      const auto v = static_cast<double>(a.value);
      const bool fits = v + a.bound <= static_cast<double>(highest(to)) &&
                        v - a.bound >= static_cast<double>(lowest(to));
      out.bound[i] = a.bound == 0 || fits || saturate ? a.bound : kUnknown;
      continue;
    }
    // High and low hold every int64 exactly; 2^63 itself is no int64.
    const auto high = static_cast<double>(a.value);
    const std::int64_t near = high < 0x1p63 ? static_cast<std::int64_t>(high) : highest(DType::i64);
    const double low = static_cast<double>(a.value - near) - (high < 0x1p63 ? 0 : 1);
    Estimate<double> result{high, a.bound};
    const FloatFormat& format = formatOf(to);
    const bool exact = (std::abs(high) + a.bound) * format.unit <= 1;
    if (!exact) result = estimateRounding(result, format);
    out.high[i] = result.value;
    out.low[i] = low;
    out.bound[i] = result.bound;
  }
}

}  // namespace

bool computeBlock(Op op, DType type, int count, const Column (&in)[3], Block& out) {
  switch (kindOf(type)) {
    case Kind::narrow:
      computeFloats<double>(op, type, count, in, out);
      return true;
    case Kind::wide:
      computeFloats<Wide>(op, type, count, in, out);
      return true;
    default:
      return computeIntegers(op, type, count, in, out);
  }
}

void castBlock(bool saturate, DType from, DType to, int count, const Column& in, Block& out) {
  switch (kindOf(from)) {
    case Kind::narrow:
      return castFloats<double>(from, to, count, in, out);
    case Kind::wide:
      return castFloats<Wide>(from, to, count, in, out);
    default:
      return castIntegers(saturate, from, to, count, in, out);
  }
}

// --- Sums ---------------------------------------------------------------------------------------

namespace {

/// Any order of n terms makes an error of at most (n + 1) u times the sum of their magnitudes.
[[gnu::always_inline]] inline double orderError(double unit, double count, double mass) {
  return count == 0 ? 0 : unit * kSlack * (count + 1) * mass;
}

struct Totals {
  Wide value;
  double mass = 0, error = 0;
};

/// Several partial sums side by side: vectors of lanes.
constexpr int kLanes = 16;

DOJO_WIDTHS Totals totalNarrow(int count, const double* high, const double* bound) {
  double value[kLanes] = {};
  double mass[kLanes] = {};
  double error[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      value[k] += high[i + k];
      mass[k] += std::abs(high[i + k]) + bound[i + k];
      error[k] += bound[i + k];
    }
  }
  Totals out;
  for (; i < count; ++i) {
    out.value.high += high[i];
    out.mass += std::abs(high[i]) + bound[i];
    out.error += bound[i];
  }
  for (int k = 0; k < kLanes; ++k) {
    out.value.high += value[k];
    out.mass += mass[k];
    out.error += error[k];
  }
  return out;
}

DOJO_WIDTHS Totals totalWide(int count, const double* high, const double* low,
                             const double* bound) {
  double valueHigh[kLanes] = {};
  double valueLow[kLanes] = {};
  double mass[kLanes] = {};
  double error[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      const Wide sum = Wide{valueHigh[k], valueLow[k]} + Wide{high[i + k], low[i + k]};
      valueHigh[k] = sum.high;
      valueLow[k] = sum.low;
      mass[k] += std::abs(high[i + k]) + bound[i + k];
      error[k] += bound[i + k];
    }
  }
  Totals out;
  for (; i < count; ++i) {
    out.value = out.value + Wide{high[i], low[i]};
    out.mass += std::abs(high[i]) + bound[i];
    out.error += bound[i];
  }
  for (int k = 0; k < kLanes; ++k) {
    out.value = out.value + Wide{valueHigh[k], valueLow[k]};
    out.mass += mass[k];
    out.error += error[k];
  }
  return out;
}

/// Adds `terms` terms whose sum is `value`.
void grow(const FloatFormat& format, const RunningSum& sum, int at, Wide value, double terms,
          double mass, double error) {
  const double before = orderError(format.unit, sum.count[at], sum.mass[at]);
  sum.mass[at] += mass;
  sum.count[at] += terms;
  sum.bound[at] += error + orderError(format.unit, sum.count[at], sum.mass[at]) - before;
  if (sum.low == nullptr) {
    sum.high[at] += value.high;
  } else {
    const Wide total = Wide{sum.high[at], sum.low[at]} + value;
    sum.high[at] = total.high;
    sum.low[at] = total.low;
  }
  if (!(sum.mass[at] + sum.bound[at] <= format.largest)) sum.bound[at] = kUnknown;
}

/// One term, of any class.
void addTerm(const FloatFormat& format, const RunningSum& sum, int at, const Column& terms, int i) {
  const Wide term{terms.high[i], sum.low == nullptr ? 0 : terms.low[i]};
  const double bound = terms.bound[i];
  const double size = std::isfinite(term.high) ? std::abs(term.high) : 0;
  grow(format, sum, at, term, 1, size + bound, bound);
}

}  // namespace

void addToOne(DType type, const RunningSum& sum, int count, const Column& terms) {
  const FloatFormat& format = formatOf(type);
  if (count > 1) {
    const Totals totals = sum.low == nullptr ? totalNarrow(count, terms.high, terms.bound)
                                             : totalWide(count, terms.high, terms.low, terms.bound);
    if (totals.mass + totals.error <= format.largest) {
      return grow(format, sum, 0, totals.value, count, totals.mass, totals.error);
    }
  }
  for (int i = 0; i < count; ++i) addTerm(format, sum, 0, terms, i);
}

namespace {

/// False, with nothing done: not all are plain numbers.
DOJO_WIDTHS bool addEachNarrow(const FloatFormat& given, const RunningSum& sums, int count,
                               const Column& terms) {
  const double unit = given.unit * kSlack;
  const double largest = given.largest;
  const double* high = terms.high;
  const double* bound = terms.bound;
  int good = 0;
  for (int i = 0; i < count; ++i) {
    const double mass = sums.mass[i] + (std::abs(high[i]) + bound[i]);
    good += mass + sums.bound[i] + bound[i] <= largest ? 1 : 0;
  }
  if (good != count) return false;
  for (int i = 0; i < count; ++i) {
    const double before = sums.mass[i];
    const double n = sums.count[i];
    const double mass = before + (std::abs(high[i]) + bound[i]);
    const double old = n == 0 ? 0 : (n + 1) * before;
    sums.high[i] += high[i];
    sums.bound[i] += bound[i] + unit * ((n + 2) * mass - old);
    sums.mass[i] = mass;
    sums.count[i] = n + 1;
  }
  return true;
}

}  // namespace

void addToEach(DType type, const RunningSum& sums, int count, const Column& terms) {
  const FloatFormat& format = formatOf(type);
  if (sums.low == nullptr && addEachNarrow(format, sums, count, terms)) return;
  for (int i = 0; i < count; ++i) addTerm(format, sums, i, terms, i);
}

// --- Maxima -------------------------------------------------------------------------------------

namespace {

template <class R>
void maxInto(bool minimum, Estimate<R>& best, int count, const Column& terms) {
  if (minimum) best = negated(best);
  for (int i = 0; i < count; ++i) {
    const Estimate<R> term = at<R>(terms, i);
    best = larger(best, minimum ? negated(term) : term);
  }
  if (minimum) best = negated(best);
}

}  // namespace

void maxIntoOne(DType type, bool minimum, double* high, double* low, double* bound, int count,
                const Column& terms) {
  const double start = bound == nullptr ? 0 : *bound;
  double end = 0;
  if (kindOf(type) == Kind::wide) {
    Estimate<Wide> best{{*high, *low}, start};
    maxInto(minimum, best, count, terms);
    *high = best.value.high;
    *low = best.value.low;
    end = best.bound;
  } else {
    Estimate<double> best{*high, start};
    maxInto(minimum, best, count, terms);
    *high = best.value;
    end = best.bound;
  }
  if (bound != nullptr) *bound = end;
}

}  // namespace dojo::ir
