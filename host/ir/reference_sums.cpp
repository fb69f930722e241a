// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and maxima. n terms in any order make an error of at most (n + 1) u times the sum of their
// magnitudes, and none where all are multiples of a quantum that is large enough for every sum of
// them to be representable.
#include <algorithm>
#include <bit>

#include "ir/reference_estimate.h"
#include "ir/reference_kernels.h"
#include "ir/reference_widths.h"

namespace dojo::ir {
namespace {

/// The largest power of two that divides a value; infinite for 0, and 0 where it isn't known.
double lowestBit(double value) {
  if (value == 0) return kUnknown;
  const double size = std::abs(value);
  if (!(size >= 0x1p-900 && size <= 0x1p900)) return 0;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(size);
  const int zeros = std::countr_zero((bits & kMantissa) | (kMantissa + 1));
  return std::ldexp(1.0, static_cast<int>(bits >> 52) - 1075 + zeros);
}

DOJO_WIDTHS bool allMultiples(double quantum, int count, const double* terms) {
  const double scale = 1 / quantum;
  int good = 0;
  for (int i = 0; i < count; ++i) {
    good += std::nearbyint(terms[i] * scale) == terms[i] * scale ? 1 : 0;
  }
  return good == count;
}

/// The quantum of a sum after further exact terms, or 0 where its sums may need rounding.
double quantumWith(const FloatFormat& format, double quantum, double mass, int count,
                   const double* terms) {
  const auto fits = [&](double q) { return mass * format.unit * kSlack <= q; };
  if (std::isfinite(quantum) && fits(quantum) && allMultiples(quantum, count, terms)) {
    return quantum;
  }
  for (int i = 0; i < count; ++i) {
    quantum = std::min(quantum, lowestBit(terms[i]));
    if (!fits(quantum)) return 0;
  }
  return quantum;
}

struct Totals {
  Wide value;
  double mass = 0, error = 0;
};

/// Several partial sums side by side: vectors of lanes.
constexpr int kLanes = 16;

template <class R>
struct Lanes {
  double high[kLanes] = {}, low[kLanes] = {}, mass[kLanes] = {}, error[kLanes] = {};

  [[gnu::always_inline]] void add(int k, const Estimate<R>& term) {
    if constexpr (std::is_same_v<R, Wide>) {
      const Wide sum = Wide{high[k], low[k]} + term.value;
      high[k] = sum.high;
      low[k] = sum.low;
    } else {
      high[k] += term.value;
    }
    mass[k] += magnitude(term.value) + term.bound;
    error[k] += term.bound;
  }

  [[nodiscard]] Totals totals() const {
    Totals out;
    for (int k = 0; k < kLanes; ++k) {
      out.value = out.value + Wide{high[k], low[k]};
      out.mass += mass[k];
      out.error += error[k];
    }
    return out;
  }
};

template <class R, class F>
[[gnu::always_inline]] inline Totals totalOf(int count, F term) {
  Lanes<R> lanes;
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes.add(k, term(i + k));
  }
  for (; i < count; ++i) lanes.add(0, term(i));
  return lanes.totals();
}

DOJO_WIDTHS Totals totalNarrow(int count, const Column& given) {
  const Column terms = given;
  return totalOf<double>(count, [&](int i) { return at<double>(terms, i); });
}

DOJO_WIDTHS Totals totalWide(int count, const Column& given) {
  const Column terms = given;
  return totalOf<Wide>(count, [&](int i) { return at<Wide>(terms, i); });
}

template <class R>
[[gnu::always_inline]] inline Totals dotOf(const FloatFormat& given, int count, const double* a,
                                           const double* b) {
  const FloatFormat format = given;
  return totalOf<R>(count, [&](int i) {
    return finiteMultiply(Estimate<R>{{a[i]}, 0}, Estimate<R>{{b[i]}, 0}, format);
  });
}

DOJO_WIDTHS Totals dotNarrow(const FloatFormat& format, int count, const double* a,
                             const double* b) {
  return dotOf<double>(format, count, a, b);
}

DOJO_WIDTHS Totals dotWide(const FloatFormat& format, int count, const double* a, const double* b) {
  return dotOf<Wide>(format, count, a, b);
}

/// Adds `count` terms with their sum; `quantum` is that of the sum with them.
void grow(const FloatFormat& format, const RunningSum& sum, int at, double count,
          const Totals& terms, double quantum) {
  const auto order = [&] {
    return sum.quantum[at] != 0 ? 0 : orderError(format, sum.count[at], sum.mass[at]);
  };
  const double before = order();
  sum.mass[at] += terms.mass;
  sum.count[at] += count;
  sum.quantum[at] = quantum;
  sum.bound[at] += terms.error + order() - before;
  if (sum.low == nullptr) {
    sum.high[at] += terms.value.high;
  } else {
    const Wide total = Wide{sum.high[at], sum.low[at]} + terms.value;
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
  double quantum = 0;
  if (sum.quantum[at] != 0 && bound == 0 && std::isfinite(term.high)) {
    quantum = quantumWith(format, sum.quantum[at], sum.mass[at] + size, 1, &term.high);
  }
  grow(format, sum, at, 1, {term, size + bound, bound}, quantum);
}

}  // namespace

double orderError(const FloatFormat& format, double count, double mass) {
  return count == 0 ? 0 : format.unit * kSlack * (count + 1) * mass;
}

void startSum(const RunningSum& sum) {
  const double size = std::abs(*sum.high);
  const bool finite = std::isfinite(size);
  *sum.mass = finite ? size + *sum.bound : 0;
  *sum.count = 0;
  *sum.quantum = finite && *sum.bound == 0 ? lowestBit(*sum.high) : 0;
}

void addToOne(DType type, const RunningSum& sum, int count, const Column& terms) {
  const FloatFormat& format = formatOf(type);
  if (count > 1) {
    const Totals totals = sum.low == nullptr ? totalNarrow(count, terms) : totalWide(count, terms);
    if (totals.mass + totals.error <= format.largest) {
      const double quantum =
          *sum.quantum != 0 && totals.error == 0
              ? quantumWith(format, *sum.quantum, *sum.mass + totals.mass, count, terms.high)
              : 0;
      return grow(format, sum, 0, count, totals, quantum);
    }
  }
  for (int i = 0; i < count; ++i) addTerm(format, sum, 0, terms, i);
}

bool addProducts(DType type, const RunningSum& sum, int count, const Column& a, const Column& b) {
  const FloatFormat& format = formatOf(type);
  const Totals totals = sum.low == nullptr ? dotNarrow(format, count, a.high, b.high)
                                           : dotWide(format, count, a.high, b.high);
  if (!(totals.mass + totals.error <= format.largest)) return false;
  if (*sum.quantum != 0 && totals.error == 0) return false;
  grow(format, sum, 0, count, totals, 0);
  return true;
}

namespace {

/// False, with nothing done: not all are plain numbers, or some sum is still exact.
DOJO_WIDTHS bool addEachNarrow(const FloatFormat& given, const RunningSum& running, int count,
                               const Column& terms) {
  const double unit = given.unit * kSlack;
  const double largest = given.largest;
  const RunningSum sums = running;
  const double* high = terms.high;
  const double* bound = terms.bound;
  int good = 0;
  for (int i = 0; i < count; ++i) {
    const double mass = sums.mass[i] + (std::abs(high[i]) + bound[i]);
    good += ((mass + sums.bound[i] + bound[i] <= largest) & (sums.quantum[i] == 0)) ? 1 : 0;
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
    Estimate<Wide> best{{*high, low == nullptr ? 0 : *low}, start};
    maxInto(minimum, best, count, terms);
    *high = best.value.high;
    if (low != nullptr) *low = best.value.low;
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
