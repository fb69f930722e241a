// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Formats chosen at run time, and sums of many terms that are rounded once.
#pragma once

#include <array>
#include <cstdint>

#include "float.h"

namespace dojo::rtl {

enum class Format { S, D, H, AltH, B, AltB };

inline int width(Format format) {
  switch (format) {
    case Format::S:
      return 32;
    case Format::D:
      return 64;
    case Format::H:
    case Format::AltH:
      return 16;
    default:
      return 8;
  }
}

/// visit(f, fn) calls fn with a value whose type is the format's class.
template <typename Function>
auto visit(Format format, Function&& function) {
  switch (format) {
    case Format::S:
      return function(Float32{});
    case Format::D:
      return function(Float64{});
    case Format::H:
      return function(Float16{});
    case Format::AltH:
      return function(BFloat16{});
    case Format::B:
      return function(Float8E5M2{});
    default:
      return function(Float8E4M3{});
  }
}

/// The exact sum of numbers of 32 bits or less, and of products of numbers of 16 bits or less.
class ExactSum {
 public:
  /// A finite addend; zeros count for the sign of a sum that is 0.
  void add(const Number& term) {
    if (term.significand == 0) {
      addZero(term.sign);
      return;
    }
    any_ = true;
    // Bit 0 of words_ has the weight 2^kLowest.
    const int at = term.exponent - term.scale - kLowest;
    const int word = at / 64;
    const int bit = at % 64;
    const std::uint64_t low = static_cast<std::uint64_t>(term.significand);
    std::array<std::uint64_t, 2> parts{low << bit, bit == 0 ? 0 : low >> (64 - bit)};
    bool carry = false;
    for (std::size_t i = static_cast<std::size_t>(word); i < words_.size(); ++i) {
      const std::size_t part = i - static_cast<std::size_t>(word);
      const std::uint64_t addend = (part < 2 ? parts[part] : 0) + std::uint64_t(carry);
      if (part >= 2 && !carry) break;
      const bool lost = carry && addend == 0;
      const std::uint64_t before = words_[i];
      words_[i] = term.sign ? before - addend : before + addend;
      carry = lost || (term.sign ? before < addend : words_[i] < before);
    }
  }
  void addZero(bool sign) {
    positive_ |= !sign;
    negative_ |= sign;
  }

  template <typename Format>
  std::uint64_t round(Rounding mode, unsigned& flags) const {
    std::array<std::uint64_t, kWords> size = words_;
    const bool sign = (size[kWords - 1] >> 63) != 0;
    if (sign) {
      bool carry = true;
      for (std::uint64_t& word : size) {
        word = ~word + std::uint64_t(carry);
        carry = carry && word == 0;
      }
    }
    int top = kWords - 1;
    while (top >= 0 && size[static_cast<std::size_t>(top)] == 0) --top;
    if (top < 0) {
      const bool same = !any_ && positive_ != negative_;
      return Format::withSign(same ? negative_ : mode == Rounding::Down, 0);
    }
    // The highest two words, and whether there is anything below them.
    const auto high = static_cast<std::size_t>(top);
    Wide significand = Wide(size[high]) << 60;
    bool more = false;
    if (high > 0) {
      significand |= size[high - 1] >> 4;
      more = (size[high - 1] & 15) != 0;
    }
    for (std::size_t i = 0; i + 1 < high; ++i) more = more || size[i] != 0;
    const int exponent = kLowest + 64 * top - 60;
    return Format::round({sign, exponent, significand << 1 | Wide(more), 1}, mode, flags);
  }

 private:
  static constexpr int kLowest = -320;
  static constexpr int kWords = 11;  ///< Up to 2^384.
  std::array<std::uint64_t, kWords> words_{};
  bool any_ = false;
  bool positive_ = false;
  bool negative_ = false;
};

}  // namespace dojo::rtl
