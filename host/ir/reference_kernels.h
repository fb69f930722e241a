// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Operations of the reference on up to kBlock elements at once: loops over separate arrays of
/// values and bounds.
#pragma once

#include <cstdint>

#include "ir/numeric.h"
#include "ir/program.h"

namespace dojo::ir {

constexpr int kBlock = 256;

/// What computes a dtype: int64, double, or double-double.
enum class Kind : std::uint8_t { integer, narrow, wide };
[[nodiscard]] Kind kindOf(DType type);

/// Elements side by side. Integers are in `integer` with their bound, floats in `high` (and `low`
/// where wide). No pointer that the kind needs is null.
struct Column {
  const double* high = nullptr;
  const double* low = nullptr;
  const double* bound = nullptr;
  const std::int64_t* integer = nullptr;
};

/// A column with storage of its own.
struct Block {
  alignas(64) double high[kBlock];
  alignas(64) double low[kBlock];
  alignas(64) double bound[kBlock];
  alignas(64) std::int64_t integer[kBlock];

  [[nodiscard]] Column column() const { return {high, low, bound, integer}; }
};

/// kBlock zeros, for columns that are exact.
extern const double kZeros[kBlock];

/// out = op(in...), computed in `type`: not for copy and casts. Comparisons give integers, select
/// has its condition as an integer. False: an integer was divided by zero.
[[nodiscard]] bool computeBlock(Op op, DType type, int count, const Column (&in)[3], Block& out);
/// Op::cast and Op::satCast.
void castBlock(bool saturate, DType from, DType to, int count, const Column& in, Block& out);

/// A running sum of terms in any order.
struct RunningSum {
  double* high;
  double* low;    ///< Null where narrow.
  double* bound;  ///< All told: of the terms, and of adding them in any order.
  double* mass;   ///< Sum of the terms' magnitudes.
  double* count;  ///< Terms since the sum was set.
  double*
      quantum;  ///< All terms are exact multiples of it and no sum of them needs rounding; or 0.
};
/// A sum that was set to a value. Non-finite values have no mass.
void startSum(const RunningSum& sum);
/// One sum takes all terms.
void addToOne(DType type, const RunningSum& sum, int count, const Column& terms);
/// count sums, side by side, take a term each.
void addToEach(DType type, const RunningSum& sums, int count, const Column& terms);
/// One sum takes all products of two exact columns. False, with nothing done: go by way of
/// computeBlock and addToOne.
[[nodiscard]] bool addProducts(DType type, const RunningSum& sum, int count, const Column& a,
                               const Column& b);
/// What `count` terms in any order may add to the error of an exact sum.
[[nodiscard]] double orderError(const FloatFormat& format, double count, double mass);

/// The maximum (or minimum) of one value and all terms; low, bound may be null (narrow, exact).
void maxIntoOne(DType type, bool minimum, double* high, double* low, double* bound, int count,
                const Column& terms);

}  // namespace dojo::ir
