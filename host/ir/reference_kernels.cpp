// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built for several widths of vectors; the results are the same.
#include "ir/reference_kernels.h"

#include <algorithm>

#include "ir/reference_estimate.h"
#include "ir/reference_widths.h"

namespace dojo::ir {

const double kZeros[kBlock] = {};

Kind kindOf(DType type) {
  if (!isFloat(type)) return Kind::integer;
  return type == DType::f64 ? Kind::wide : Kind::narrow;
}

namespace {

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

}  // namespace dojo::ir
