// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/solver.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "ir/solver_isl.h"
#include "ir/solver_reduce.h"

namespace dojo::ir {

namespace {

/// Sums up to this are computed without overflow, with room for differences of two of them.
constexpr std::int64_t kLargestSum = std::int64_t{1} << 60;

std::atomic<std::uint64_t> undecided{0};

std::int64_t floorDiv(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

}  // namespace

void System::clear() {
  variables_.clear();
  constraints_.clear();
  terms_.clear();
  refuted_ = false;
  overflow_ = false;
}

int System::variable(std::int64_t lo, std::int64_t hi) {
  if (lo > hi) refuted_ = true;
  if (lo < -kLargestSum || hi > kLargestSum) overflow_ = true;
  variables_.push_back({lo, hi});
  return static_cast<int>(variables_.size()) - 1;
}

void System::constrain(std::span<const Coef> terms, std::int64_t lo, std::int64_t hi) {
  if (refuted_) return;
  const std::size_t begin = terms_.size();
  for (const Coef& term : terms) {
    auto same = std::find_if(terms_.begin() + static_cast<std::ptrdiff_t>(begin), terms_.end(),
                             [&](const Coef& other) { return other.var == term.var; });
    if (same != terms_.end()) {
      if (__builtin_add_overflow(same->coef, term.coef, &same->coef)) overflow_ = true;
    } else {
      terms_.push_back(term);
    }
  }
  // The interval of the sum, its magnitude, and the greatest common divisor of what varies.
  __int128 least = 0;
  __int128 most = 0;
  __int128 magnitude = 0;
  std::size_t end = begin;
  for (std::size_t i = begin; i < terms_.size(); ++i) {
    const Coef term = terms_[i];
    if (term.coef == 0) continue;
    const Variable& var = variables_[static_cast<std::size_t>(term.var)];
    const __int128 a = static_cast<__int128>(term.coef) * var.lo;
    const __int128 b = static_cast<__int128>(term.coef) * var.hi;
    least += std::min(a, b);
    most += std::max(a, b);
    magnitude += std::max(a < 0 ? -a : a, b < 0 ? -b : b);
    terms_[end++] = term;
  }
  terms_.resize(end);
  if (lo > hi || least > hi || most < lo) {
    refuted_ = true;
    return;
  }
  if (least >= lo && most <= hi) {
    terms_.resize(begin);
    return;
  }
  if (magnitude > kLargestSum) overflow_ = true;
  constraints_.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), lo, hi});
}

System::Mark System::mark() const {
  return {variables_.size(), constraints_.size(), terms_.size(), refuted_, overflow_};
}

void System::rewind(const Mark& mark) {
  variables_.resize(mark.variables);
  constraints_.resize(mark.constraints);
  terms_.resize(mark.terms);
  refuted_ = mark.refuted;
  overflow_ = mark.overflow;
}

Answer System::feasible(int budget) const {
  if (refuted_) return Answer::no;
  if (overflow_) {
    undecided.fetch_add(1, std::memory_order_relaxed);
    return Answer::unknown;
  }
  if (constraints_.empty()) return Answer::yes;
  if (constraints_.size() == 1) {
    // One constraint without a multiple of the common divisor in reach is the usual refutation.
    const Constraint& only = constraints_.front();
    std::int64_t divisor = 0;
    for (std::uint32_t i = only.begin; i < only.end; ++i) {
      divisor = greatestCommonDivisor(divisor, terms_[i].coef);
    }
    if (divisor > 1 && only.hi < kInfinity && only.lo > -kInfinity &&
        floorDiv(only.hi, divisor) * divisor < only.lo) {
      return Answer::no;
    }
  }
  thread_local Reducer reducer;
  Answer answer = reducer.solve(*this, budget);
  if (answer == Answer::unknown) answer = feasibleByIsl(*this);
  if (answer == Answer::unknown) undecided.fetch_add(1, std::memory_order_relaxed);
  return answer;
}

std::uint64_t undecidedCount() { return undecided.load(std::memory_order_relaxed); }

}  // namespace dojo::ir
