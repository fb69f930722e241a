// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every value is a function of seed, argument and logical element alone, so that a layout change
// of an argument doesn't change its values.
#include <algorithm>
#include <cmath>

#include "ir/interpret.h"
#include "ir/interpret_storage.h"
#include "ir/numeric.h"

namespace dojo::ir {
namespace {

/// A bijection on [0, 2^bits), so that no two elements are alike while there are values left.
std::uint64_t permute(std::uint64_t value, int bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (int round = 0; round < 3; ++round) {
    key = mix(key);
    value = (value * (key | 1) + (key >> 32)) & mask;
    value ^= value >> (bits / 2);
  }
  return value & mask;
}

double unitInterval(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

struct FloatShape {
  int bits;         ///< Distinct values of [-1, 1): 2^bits.
  int least, most;  ///< Binades of the wide set.
  double extreme;   ///< Repeated in the awkward set.
};
FloatShape shapeOf(DType type) {
  switch (type) {
    case DType::f64:
      return {48, -20, 5, 64};
    case DType::f32:
      return {24, -12, 5, 64};
    case DType::f16:
      return {11, -8, 2, 8};
    default:
      return {8, -8, 2, 8};
  }
}

/// Odd multiples of 2^-bits: distinct, never zero.
double uniformValue(DType type, std::uint64_t key, std::int64_t element) {
  const int bits = shapeOf(type).bits;
  const auto index = static_cast<double>(permute(static_cast<std::uint64_t>(element), bits, key));
  return std::ldexp(2 * index + 1, -bits) - 1;
}

double wideValue(DType type, std::uint64_t random) {
  const FloatShape shape = shapeOf(type);
  const auto binades = static_cast<std::uint64_t>(shape.most - shape.least);
  const int exponent = shape.least + static_cast<int>(mix(random, 1) % binades);
  const double magnitude = std::ldexp(1 + unitInterval(mix(random, 2)), exponent);
  return roundTo(type, (random & 1) != 0 ? -magnitude : magnitude);
}

double awkwardValue(DType type, std::uint64_t key, std::int64_t element, std::uint64_t random) {
  const double sign = (random & 1) != 0 ? -1 : 1;
  switch ((random >> 1) % 16) {
    case 0:
    case 1:
      return sign * 0.0;
    case 2: {
      const FloatFormat& format = formatOf(type);
      return sign * roundTo(type, format.leastNormal * unitInterval(mix(random)));
    }
    case 3:
      return sign * shapeOf(type).extreme;
    case 4:
      return sign;
    default:
      return uniformValue(type, key, element);
  }
}

/// -1, 1, 2, 3 or 4 quarters (halves of -1, 1, 2 in the narrowest formats).
double exactValue(DType type, std::uint64_t random) {
  const bool narrow = sizeBytes(type) == 2;
  const auto pick = static_cast<int>(random % (narrow ? 3 : 5));
  const double count = pick == 0 ? -1 : pick;
  return narrow ? count / 2 : count / 4;
}

double floatValue(DType type, InputSet set, std::uint64_t key, std::int64_t element) {
  const std::uint64_t random = mix(key, static_cast<std::uint64_t>(element));
  switch (set) {
    case InputSet::uniform:
      return uniformValue(type, key, element);
    case InputSet::exact:
      return exactValue(type, random);
    case InputSet::wide:
      return wideValue(type, random);
    case InputSet::awkward:
      return awkwardValue(type, key, element, random);
    case InputSet::equal:
      return uniformValue(type, key, 0);
  }
  return 0;
}

std::int64_t within(std::int64_t lo, std::int64_t hi, std::uint64_t random) {
  const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) +
                                   (span == 0 ? random : random % span));
}

std::int64_t declaredValue(const ValueRange& range, InputSet set, std::uint64_t key,
                           std::int64_t element) {
  const std::uint64_t random =
      mix(key, set == InputSet::equal ? 0 : static_cast<std::uint64_t>(element));
  if (range.hi <= range.lo) return range.lo;
  if (set == InputSet::awkward && random % 4 == 0)
    return (random & 4) != 0 ? range.lo : range.hi - 1;
  return within(range.lo, range.hi, mix(random));
}

std::int64_t integerValue(DType type, InputSet set, std::uint64_t key, std::int64_t element) {
  const std::uint64_t random =
      mix(key, set == InputSet::equal ? 0 : static_cast<std::uint64_t>(element));
  if (type == DType::boolean) return static_cast<std::int64_t>(random & 1);
  const std::int64_t lo = lowest(type);
  const std::int64_t hi = highest(type);
  if (set == InputSet::awkward && random % 4 == 0) {
    const std::int64_t special[] = {lo, hi, 0, 1};
    return special[(random >> 2) % 4];
  }
  if (set == InputSet::wide || sizeBytes(type) == 1) {
    return within(lo, hi == highest(DType::i64) ? hi : hi + 1, mix(random));
  }
  return within(-1000, 1001, mix(random));
}

/// Sorted; the first and the last take the ends of the range, so that all between is used.
void makeMonotone(std::vector<std::int64_t>& values, const ValueRange& range, InputSet set) {
  std::sort(values.begin(), values.end());
  if (set == InputSet::equal || values.size() < 2 || range.hi <= range.lo) return;
  values.front() = range.lo;
  values.back() = range.hi - 1;
}

}  // namespace

std::string_view name(InputSet set) {
  switch (set) {
    case InputSet::uniform:
      return "uniform";
    case InputSet::exact:
      return "exact";
    case InputSet::wide:
      return "wide";
    case InputSet::awkward:
      return "awkward";
    case InputSet::equal:
      return "equal";
  }
  return "";
}

std::vector<Tensor> makeInputs(const Program& program, InputSet set, std::uint64_t seed) {
  std::vector<Tensor> out;
  for (const BufferId id : argumentsOf(program)) {
    const Buffer& buffer = program.buffer(id);
    const std::uint64_t key = mix(mix(seed, static_cast<std::uint64_t>(set)), out.size());
    Tensor& tensor = out.emplace_back(makeTensor(buffer));
    if (buffer.role == Role::out) continue;
    if (isFloat(buffer.dtype)) {
      forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
        store(tensor, offset, floatValue(buffer.dtype, set, key, logical));
      });
      continue;
    }
    std::vector<std::int64_t> values(static_cast<std::size_t>(buffer.logicalElements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto element = static_cast<std::int64_t>(i);
      values[i] = buffer.values ? declaredValue(*buffer.values, set, key, element)
                                : integerValue(buffer.dtype, set, key, element);
    }
    if (buffer.values && buffer.values->monotone) makeMonotone(values, *buffer.values, set);
    forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
      store(tensor, offset, values[static_cast<std::size_t>(logical)]);
    });
  }
  return out;
}

}  // namespace dojo::ir
