// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/solver_reduce.h"

#include <algorithm>
#include <cstdlib>

namespace dojo::ir {

namespace {

using Int = std::int64_t;
constexpr Int kLargestSum = Int{1} << 60;
constexpr int kPropagationRounds = 30;
constexpr int kSearchDepth = 400;

Int floorDiv(Int a, Int b) {
  const Int q = a / b;
  return q - static_cast<Int>((a % b != 0) && ((a < 0) != (b < 0)));
}
Int ceilDiv(Int a, Int b) {
  const Int q = a / b;
  return q + static_cast<Int>((a % b != 0) && ((a < 0) == (b < 0)));
}

template <class T>
void eraseAt(std::vector<T>& from, std::size_t position) {
  from[position] = from.back();
  from.pop_back();
}

}  // namespace

std::int64_t greatestCommonDivisor(std::int64_t a, std::int64_t b) {
  a = std::abs(a);
  b = std::abs(b);
  while (b != 0) {
    if (a == 1 || b == 1) return 1;
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void Reducer::load(const System& system) {
  rowCount_ = static_cast<int>(system.constraints().size());
  slot_.assign(system.variables().size(), -1);
  lo_.clear();
  hi_.clear();
  rowLo_.clear();
  rowHi_.clear();
  rows_.clear();
  columns_.clear();
  matrix_.clear();
  for (int r = 0; r < rowCount_; ++r) {
    const System::Constraint& row = system.constraints()[static_cast<std::size_t>(r)];
    rows_.push_back(r);
    rowLo_.push_back(row.lo < -kLargestSum ? -System::kInfinity : row.lo);
    rowHi_.push_back(row.hi > kLargestSum ? System::kInfinity : row.hi);
    for (std::uint32_t i = row.begin; i < row.end; ++i) {
      const System::Coef& term = system.terms()[i];
      int& slot = slot_[static_cast<std::size_t>(term.var)];
      if (slot < 0) {
        slot = static_cast<int>(columns_.size());
        columns_.push_back(slot);
        const System::Variable& var = system.variables()[static_cast<std::size_t>(term.var)];
        lo_.push_back(var.lo);
        hi_.push_back(var.hi);
        matrix_.resize(matrix_.size() + static_cast<std::size_t>(rowCount_), 0);
      }
      at(slot, r) = term.coef;
    }
  }
}

/// Reads one constraint against the bounds. False: it can't be satisfied.
bool Reducer::tidyRow(std::size_t position, bool& changed, bool& gone) {
  const int r = rows_[position];
  Int least = 0;
  Int most = 0;
  Int divisor = 0;
  int count = 0;
  int last = -1;
  for (const int v : columns_) {
    const Int coef = at(v, r);
    if (coef == 0) continue;
    if (lo(v) == hi(v)) {
      rowLo(r) -= coef * lo(v);
      rowHi(r) -= coef * lo(v);
      at(v, r) = 0;
      continue;
    }
    ++count;
    last = v;
    divisor = greatestCommonDivisor(divisor, coef);
    least += coef * (coef > 0 ? lo(v) : hi(v));
    most += coef * (coef > 0 ? hi(v) : lo(v));
  }
  if (least > rowHi(r) || most < rowLo(r)) return false;
  gone = true;
  if (least >= rowLo(r) && most <= rowHi(r)) {
    for (const int v : columns_) at(v, r) = 0;
    return true;
  }
  if (count == 1) {
    const Int coef = at(last, r);
    at(last, r) = 0;
    const Int from = std::max(rowLo(r), least);
    const Int to = std::min(rowHi(r), most);
    lo(last) = std::max(lo(last), coef > 0 ? ceilDiv(from, coef) : ceilDiv(to, coef));
    hi(last) = std::min(hi(last), coef > 0 ? floorDiv(to, coef) : floorDiv(from, coef));
    changed = true;
    return lo(last) <= hi(last);
  }
  gone = false;
  if (divisor > 1) {
    for (const int v : columns_) at(v, r) /= divisor;
    rowLo(r) = ceilDiv(rowLo(r), divisor);
    rowHi(r) = floorDiv(rowHi(r), divisor);
    if (rowLo(r) > rowHi(r)) return false;
  }
  return true;
}

bool Reducer::tidyRows(bool& changed) {
  for (std::size_t i = 0; i < rows_.size();) {
    bool gone = false;
    if (!tidyRow(i, changed, gone)) return false;
    if (gone) {
      eraseAt(rows_, i);
    } else {
      ++i;
    }
  }
  return true;
}

void Reducer::dropEmptyColumns() {
  for (std::size_t i = 0; i < columns_.size();) {
    const bool used =
        std::any_of(rows_.begin(), rows_.end(), [&](int r) { return at(columns_[i], r) != 0; });
    if (used) {
      ++i;
    } else {
      eraseAt(columns_, i);
    }
  }
}

void Reducer::absorb(bool& changed) {
  for (std::size_t i = 0; i < columns_.size();) {
    const int v = columns_[i];
    int only = -1;
    int uses = 0;
    for (const int r : rows_) {
      if (at(v, r) == 0) continue;
      only = r;
      if (++uses > 1) break;
    }
    if (uses == 1) {
      const Int coef = at(v, only);
      if (rowHi(only) - rowLo(only) + 1 >= std::abs(coef) && lo(v) <= hi(v)) {
        rowLo(only) -= coef * (coef > 0 ? hi(v) : lo(v));
        rowHi(only) -= coef * (coef > 0 ? lo(v) : hi(v));
        at(v, only) = 0;
        eraseAt(columns_, i);
        changed = true;
        continue;
      }
    }
    ++i;
  }
}

/// x + m*y becomes x, where y's column is m times x's. False where that isn't so.
bool Reducer::tryMerge(int x, int y) {
  Int factor = 0;
  for (const int r : rows_) {
    const Int a = at(x, r);
    const Int b = at(y, r);
    if (a == 0) {
      if (b != 0) return false;
      continue;
    }
    if (factor == 0) {
      if (b == 0 || b % a != 0) return false;
      factor = b / a;
    } else if (b != a * factor) {
      return false;
    }
  }
  if (factor == 0 || hi(x) - lo(x) + 1 < std::abs(factor)) return false;
  Int least = 0;
  Int most = 0;
  if (__builtin_mul_overflow(factor, factor > 0 ? lo(y) : hi(y), &least) ||
      __builtin_mul_overflow(factor, factor > 0 ? hi(y) : lo(y), &most) ||
      std::max(std::abs(least), std::abs(most)) > kLargestSum) {
    return false;
  }
  lo(x) += least;
  hi(x) += most;
  for (const int r : rows_) at(y, r) = 0;
  return true;
}

void Reducer::merge(bool& changed) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (std::size_t j = i + 1; j < columns_.size();) {
      if (tryMerge(columns_[i], columns_[j])) {
        eraseAt(columns_, j);
        changed = true;
      } else if (tryMerge(columns_[j], columns_[i])) {
        columns_[i] = columns_[j];
        eraseAt(columns_, j);
        changed = true;
        j = i + 1;
      } else {
        ++j;
      }
    }
  }
}

/// Solves one equation for a variable with coefficient 1 or -1; the variable's bounds become the
/// bounds of what it equals.
bool Reducer::substituteOne() {
  for (const int r : rows_) {
    if (rowLo(r) != rowHi(r)) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const int v = columns_[i];
      const Int sign = at(v, r);
      if (sign != 1 && sign != -1) continue;
      // v = sign * (k - rest): first see that every sum stays small.
      const Int k = rowLo(r);
      const auto fits = [&](int other) {
        const Int factor = at(v, other);
        __int128 magnitude = 0;
        for (const int u : columns_) {
          if (u == v) continue;
          const __int128 coef = at(u, other) - static_cast<__int128>(factor) * sign * at(u, r);
          const Int reach = std::max(std::abs(lo(u)), std::abs(hi(u)));
          magnitude += (coef < 0 ? -coef : coef) * reach;
          if (magnitude > kLargestSum) return false;
        }
        const __int128 shift = static_cast<__int128>(factor) * sign * k;
        return (shift < 0 ? -shift : shift) <= kLargestSum / 1024;
      };
      if (!std::all_of(rows_.begin(), rows_.end(), fits)) continue;
      for (const int other : rows_) {
        const Int factor = at(v, other) * sign;
        if (other == r || factor == 0) continue;
        for (const int u : columns_) {
          if (u != v) at(u, other) -= factor * at(u, r);
        }
        rowLo(other) -= factor * k;
        rowHi(other) -= factor * k;
        at(v, other) = 0;
      }
      // lo <= sign*(k - rest) <= hi
      rowLo(r) = sign > 0 ? k - hi(v) : k + lo(v);
      rowHi(r) = sign > 0 ? k - lo(v) : k + hi(v);
      at(v, r) = 0;
      eraseAt(columns_, i);
      return true;
    }
  }
  return false;
}

Answer Reducer::solve(const System& system, int budget) {
  load(system);
  do {
    bool changed = true;
    while (changed) {
      changed = false;
      if (!tidyRows(changed)) return Answer::no;
      if (rows_.empty()) return Answer::yes;
      dropEmptyColumns();
      absorb(changed);
      merge(changed);
    }
  } while (substituteOne());
  return searchParts(budget);
}

Answer Reducer::searchParts(int& budget) {
  std::vector<int> open = rows_;
  bool spent = false;
  while (!open.empty()) {
    // The rows that share variables with the last one, directly or through others.
    std::vector<int> part = {open.back()};
    open.pop_back();
    for (std::size_t i = 0; i < part.size(); ++i) {
      for (std::size_t j = 0; j < open.size();) {
        const bool joined = std::any_of(columns_.begin(), columns_.end(), [&](int v) {
          return at(v, part[i]) != 0 && at(v, open[j]) != 0;
        });
        if (joined) {
          part.push_back(open[j]);
          eraseAt(open, j);
        } else {
          ++j;
        }
      }
    }
    const Answer answer = search(part, budget, 0);
    if (answer == Answer::no) return Answer::no;
    spent = spent || answer == Answer::unknown;
  }
  return spent ? Answer::unknown : Answer::yes;
}

/// Tightens bounds by every row until nothing changes (or for a fixed number of rounds).
bool Reducer::propagate(const std::vector<int>& rows) {
  bool changed = true;
  for (int round = 0; changed && round < kPropagationRounds; ++round) {
    changed = false;
    for (const int r : rows) {
      Int least = 0;
      Int most = 0;
      for (const int v : columns_) {
        const Int coef = at(v, r);
        if (coef == 0) continue;
        least += coef * (coef > 0 ? lo(v) : hi(v));
        most += coef * (coef > 0 ? hi(v) : lo(v));
      }
      if (least > rowHi(r) || most < rowLo(r)) return false;
      if (least >= rowLo(r) && most <= rowHi(r)) continue;
      for (const int v : columns_) {
        const Int coef = at(v, r);
        if (coef == 0) continue;
        // What the others leave for coef*v.
        const Int from = std::max(rowLo(r), least) - most + coef * (coef > 0 ? hi(v) : lo(v));
        const Int to = std::min(rowHi(r), most) - least + coef * (coef > 0 ? lo(v) : hi(v));
        const Int newLo = coef > 0 ? ceilDiv(from, coef) : ceilDiv(to, coef);
        const Int newHi = coef > 0 ? floorDiv(to, coef) : floorDiv(from, coef);
        if (newLo > lo(v)) {
          if (coef > 0) least += coef * (newLo - lo(v));
          if (coef < 0) most += coef * (newLo - lo(v));
          lo(v) = newLo;
          changed = true;
        }
        if (newHi < hi(v)) {
          if (coef > 0) most -= coef * (hi(v) - newHi);
          if (coef < 0) least -= coef * (hi(v) - newHi);
          hi(v) = newHi;
          changed = true;
        }
        if (lo(v) > hi(v)) return false;
      }
    }
  }
  return true;
}

Answer Reducer::search(const std::vector<int>& rows, int& budget, int depth) {
  if (--budget < 0 || depth > kSearchDepth) return Answer::unknown;
  if (!propagate(rows)) return Answer::no;
  // The open variable with the fewest values, among rows that the bounds don't satisfy yet.
  int chosen = -1;
  for (const int r : rows) {
    Int least = 0;
    Int most = 0;
    for (const int v : columns_) {
      const Int coef = at(v, r);
      if (coef == 0) continue;
      least += coef * (coef > 0 ? lo(v) : hi(v));
      most += coef * (coef > 0 ? hi(v) : lo(v));
    }
    if (least >= rowLo(r) && most <= rowHi(r)) continue;
    for (const int v : columns_) {
      if (at(v, r) == 0 || lo(v) == hi(v)) continue;
      if (chosen < 0 || hi(v) - lo(v) < hi(chosen) - lo(chosen)) chosen = v;
    }
  }
  if (chosen < 0) return Answer::yes;
  const std::vector<Int> savedLo = lo_;
  const std::vector<Int> savedHi = hi_;
  const Int middle = lo(chosen) + (hi(chosen) - lo(chosen)) / 2;
  bool spent = false;
  for (const bool lower : {true, false}) {
    if (lower) {
      hi(chosen) = middle;
    } else {
      lo(chosen) = middle + 1;
    }
    const Answer answer = search(rows, budget, depth + 1);
    if (answer == Answer::yes) return Answer::yes;
    spent = spent || answer == Answer::unknown;
    if (budget < 0) return Answer::unknown;
    lo_ = savedLo;
    hi_ = savedHi;
  }
  return spent ? Answer::unknown : Answer::no;
}

}  // namespace dojo::ir
