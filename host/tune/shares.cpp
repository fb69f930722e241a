// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/shares.h"

#include <algorithm>
#include <cmath>

namespace dojo::tune {
namespace {

/// One turn in so many goes to the one that had the least time.
constexpr int kFairTurn = 4;
/// Of the rate so far, when a turn tells a new one.
constexpr double kPast = 0.5;

}  // namespace

std::optional<std::size_t> Shares::next() const {
  const bool fair = turns_ % kFairTurn == kFairTurn - 1;
  std::optional<std::size_t> best;
  auto better = [&](const One& a, const One& b) {
    if ((a.turns == 0) != (b.turns == 0)) return a.turns == 0;
    if (!fair && a.rate != b.rate) return a.rate > b.rate;
    return a.seconds < b.seconds;
  };
  for (std::size_t k = 0; k < all_.size(); ++k) {
    if (!all_[k].done && (!best || better(all_[k], all_[*best]))) best = k;
  }
  return best;
}

void Shares::report(std::size_t which, double seconds, double before, double after) {
  One& one = all_[which];
  const double gain = before > 0 && after > 0 ? std::max(0.0, std::log(before / after)) : 0;
  const double rate = seconds > 0 ? gain / seconds : 0;
  one.rate = one.turns == 0 ? rate : kPast * one.rate + (1 - kPast) * rate;
  ++one.turns;
  one.seconds += seconds;
  ++turns_;
}

}  // namespace dojo::tune
