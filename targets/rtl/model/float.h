// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// IEEE 754 arithmetic as RISC-V defines it: computed with integers, so that every rounding mode
/// and every flag is right whatever the machine that runs the model does.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace dojo::rtl {

__extension__ typedef unsigned __int128 Wide;

enum class Rounding { NearestEven, TowardZero, Down, Up, NearestAway };

/// fflags
enum Flag : unsigned {
  kInexact = 1,
  kUnderflow = 2,
  kOverflow = 4,
  kDivideByZero = 8,
  kInvalid = 16
};

/// significand * 2^(exponent - scale).
struct Number {
  bool sign = false;
  int exponent = 0;
  Wide significand = 0;
  int scale = 0;
};

/// A binary format of 1 + ExponentBits + FractionBits bits, at most 64; values are bit patterns.
/// Functions or the flags that they raise into `flags`.
template <int ExponentBits, int FractionBits>
class Ieee {
 public:
  using Bits = std::uint64_t;
  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr Bits kSign = Bits(1) << (ExponentBits + FractionBits);
  static constexpr Bits kInfinity = ((Bits(1) << ExponentBits) - 1) << FractionBits;
  static constexpr Bits kNan = kInfinity | Bits(1) << (FractionBits - 1);
  static constexpr Bits kLargest = kInfinity - 1;

  static bool isNan(Bits a) { return (a & ~kSign) > kInfinity; }
  static bool isSignalling(Bits a) { return isNan(a) && (a >> (FractionBits - 1) & 1) == 0; }

  /// a * b + c, rounded once.
  static Bits mulAdd(Bits a, Bits b, Bits c, Rounding mode, unsigned& flags) {
    const bool nothing = (isInfinite(a) && isZero(b)) || (isZero(a) && isInfinite(b));
    if (nothing || isSignalling(a) || isSignalling(b) || isSignalling(c)) flags |= kInvalid;
    if (nothing || isNan(a) || isNan(b) || isNan(c)) return kNan;
    const bool sign = negative(a) != negative(b);
    if (isInfinite(a) || isInfinite(b)) {
      if (isInfinite(c) && negative(c) != sign) return invalid(flags);
      return withSign(sign, kInfinity);
    }
    if (isInfinite(c)) return c;
    const Number x = unpack(a);
    const Number y = unpack(b);
    return sum({sign, x.exponent + y.exponent, x.significand * y.significand}, unpack(c), mode,
               flags);
  }
  static Bits add(Bits a, Bits b, Rounding mode, unsigned& flags) {
    return mulAdd(a, Bits(kBias) << FractionBits, b, mode, flags);
  }
  static Bits mul(Bits a, Bits b, Rounding mode, unsigned& flags) {
    // A zero of the product's sign leaves the product as it is.
    return mulAdd(a, b, (a ^ b) & kSign, mode, flags);
  }

  static Bits div(Bits a, Bits b, Rounding mode, unsigned& flags) {
    if (isSignalling(a) || isSignalling(b)) flags |= kInvalid;
    if (isNan(a) || isNan(b)) return kNan;
    const bool sign = negative(a) != negative(b);
    if (isInfinite(a)) return isInfinite(b) ? invalid(flags) : withSign(sign, kInfinity);
    if (isInfinite(b)) return withSign(sign, 0);
    if (isZero(b)) {
      if (isZero(a)) return invalid(flags);
      flags |= kDivideByZero;
      return withSign(sign, kInfinity);
    }
    if (isZero(a)) return withSign(sign, 0);
    const Number x = normalized(unpack(a));
    const Number y = normalized(unpack(b));
    const Wide dividend = x.significand << (FractionBits + 4);
    const Wide quotient = dividend / y.significand;
    const bool more = dividend % y.significand != 0;
    return round({sign, x.exponent - y.exponent - FractionBits - 4, quotient << 1 | Wide(more), 1},
                 mode, flags);
  }

  static Bits sqrt(Bits a, Rounding mode, unsigned& flags) {
    if (isSignalling(a)) flags |= kInvalid;
    if (isNan(a)) return kNan;
    if (isZero(a)) return a;
    if (negative(a)) return invalid(flags);
    if (isInfinite(a)) return a;
    Number x = normalized(unpack(a));
    int up = FractionBits + 6;
    if ((x.exponent - up) % 2 != 0) ++up;
    x.significand <<= up;
    x.exponent -= up;
    Wide root = 0;
    Wide rest = x.significand;
    for (int bit = 126; bit >= 0; bit -= 2) {
      const Wide trial = root + (Wide(1) << bit);
      root >>= 1;
      if (rest >= trial) {
        rest -= trial;
        root += Wide(1) << bit;
      }
    }
    return round({false, x.exponent / 2, root << 1 | Wide(rest != 0), 1}, mode, flags);
  }

  /// The smaller (larger) of the two, a number before a NaN, -0 before +0.
  static Bits minMax(Bits a, Bits b, bool larger, unsigned& flags) {
    if (isSignalling(a) || isSignalling(b)) flags |= kInvalid;
    if (isNan(a)) return isNan(b) ? kNan : b;
    if (isNan(b)) return a;
    return (ordered(a) < ordered(b)) != larger ? a : b;
  }
  static bool equal(Bits a, Bits b, unsigned& flags) {
    if (isSignalling(a) || isSignalling(b)) flags |= kInvalid;
    if (isNan(a) || isNan(b)) return false;
    return a == b || (isZero(a) && isZero(b));
  }
  static bool less(Bits a, Bits b, bool orEqual, unsigned& flags) {
    if (isNan(a) || isNan(b)) {
      flags |= kInvalid;
      return false;
    }
    if (isZero(a) && isZero(b)) return orEqual;
    return orEqual ? ordered(a) <= ordered(b) : ordered(a) < ordered(b);
  }

  /// To an integer of `bits` bits (32 or 64) in two's complement; out of range gives the nearest
  /// bound, NaN the largest.
  static std::uint64_t toInteger(Bits a, int bits, bool isSigned, Rounding mode, unsigned& flags) {
    const std::uint64_t all = bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
    const std::uint64_t most = isSigned ? all >> 1 : all;
    const std::uint64_t least = isSigned ? all ^ all >> 1 : 0;
    const bool sign = !isNan(a) && negative(a);
    const std::uint64_t bound = sign ? least : most;
    if (isNan(a) || isInfinite(a)) {
      flags |= kInvalid;
      return bound;
    }
    const Number x = unpack(a);
    if (x.exponent + FractionBits > 64 && x.significand != 0) {
      flags |= kInvalid;
      return bound;
    }
    const auto [size, inexact] = x.exponent >= 0
                                     ? std::pair(x.significand << x.exponent, false)
                                     : shiftRound(x.significand, -x.exponent, x.sign, mode);
    if (size > (sign ? Wide(least) : Wide(most))) {
      flags |= kInvalid;
      return bound;
    }
    if (inexact) flags |= kInexact;
    const auto value = static_cast<std::uint64_t>(size);
    return (sign ? -value : value) & all;
  }
  static Bits fromInteger(std::uint64_t value, bool isSigned, Rounding mode, unsigned& flags) {
    const bool sign = isSigned && (value >> 63) != 0;
    return round({sign, 0, sign ? -value : value}, mode, flags);
  }

  /// The bit of fclass.
  static unsigned classify(Bits a) {
    if (isNan(a)) return isSignalling(a) ? 1U << 8 : 1U << 9;
    const bool sign = negative(a);
    if (isInfinite(a)) return sign ? 1U << 0 : 1U << 7;
    if (isZero(a)) return sign ? 1U << 3 : 1U << 4;
    if ((a & kInfinity) == 0) return sign ? 1U << 2 : 1U << 5;
    return sign ? 1U << 1 : 1U << 6;
  }

  /// The value of a in the format From, in this one.
  template <typename From>
  static Bits convert(Bits a, Rounding mode, unsigned& flags) {
    if (From::isSignalling(a)) flags |= kInvalid;
    if (From::isNan(a)) return kNan;
    if (From::isInfinite(a)) return withSign(From::negative(a), kInfinity);
    return round(From::unpack(a), mode, flags);
  }

  static bool negative(Bits a) { return (a & kSign) != 0; }
  static bool isInfinite(Bits a) { return (a & ~kSign) == kInfinity; }
  static bool isZero(Bits a) { return (a & ~kSign) == 0; }
  static Bits withSign(bool sign, Bits size) { return sign ? size | kSign : size; }

  /// A finite value as a number, and a number as the value nearest to it.
  static Number unpack(Bits a) {
    const Bits fraction = a & ((Bits(1) << FractionBits) - 1);
    const int field = static_cast<int>((a & kInfinity) >> FractionBits);
    if (field == 0) return {negative(a), kLowest, fraction};
    return {negative(a), kLowest + field - 1, fraction | Bits(1) << FractionBits};
  }
  static Bits round(const Number& a, Rounding mode, unsigned& flags) {
    if (a.significand == 0) return withSign(a.sign, 0);
    const int exponent = a.exponent - a.scale;
    const int top = exponent + topBit(a.significand);  // Of the value: 2^top <= |a|
    const int last = top - FractionBits;               // Exponent of the last place that is kept
    const int by = (last < kLowest ? kLowest : last) - exponent;
    const auto [kept, inexact] = by <= 0 ? std::pair(a.significand << -by, false)
                                         : shiftRound(a.significand, by, a.sign, mode);
    if (inexact) flags |= kInexact;
    if (last < kLowest) {
      // Tiny after rounding: also where the exponent had no bound.
      const int free = last - exponent;
      const Wide unbounded =
          free <= 0 ? Wide(0) : shiftRound(a.significand, free, a.sign, mode).first;
      const bool tiny = last + 1 < kLowest || unbounded >> (FractionBits + 1) == 0;
      if (inexact && tiny) flags |= kUnderflow;
      return withSign(a.sign, static_cast<Bits>(kept));  // 2^FractionBits is the least normal.
    }
    // A carry out of the significand goes into the exponent by itself.
    const Bits size = (static_cast<Bits>(last - kLowest) << FractionBits) + static_cast<Bits>(kept);
    if (last - kLowest >= (1 << ExponentBits) - 2 || size >= kInfinity) {
      flags |= kOverflow | kInexact;
      const bool toInfinity = mode == Rounding::NearestEven || mode == Rounding::NearestAway ||
                              mode == (a.sign ? Rounding::Down : Rounding::Up);
      return withSign(a.sign, toInfinity ? kInfinity : kLargest);
    }
    return withSign(a.sign, size);
  }

 private:
  static constexpr int kLowest = 1 - kBias - FractionBits;  ///< Exponent of the last place of 0.

  static Bits invalid(unsigned& flags) {
    flags |= kInvalid;
    return kNan;
  }
  /// Order of the values (not of NaNs) as an order of integers; -0 before +0.
  static std::int64_t ordered(Bits a) {
    const auto size = static_cast<std::int64_t>(a & ~kSign);
    return negative(a) ? -size - 1 : size;
  }
  static int topBit(Wide a) {
    const auto high = static_cast<std::uint64_t>(a >> 64);
    return high != 0 ? 127 - std::countl_zero(high)
                     : 63 - std::countl_zero(static_cast<std::uint64_t>(a));
  }

  static Number normalized(Number a) {
    const int up = FractionBits - topBit(a.significand);
    return {a.sign, a.exponent - up, a.significand << up};
  }

  /// significand >> by, rounded, and whether that lost anything.
  static std::pair<Wide, bool> shiftRound(Wide significand, int by, bool sign, Rounding mode) {
    // Two bits below the last place say all that counts: half, and more than nothing.
    Wide kept = 0;
    bool half = false;
    bool more = significand != 0;
    if (by <= 127) {
      kept = significand >> by;
      half = (significand >> (by - 1) & 1) != 0;
      more = (significand & ((Wide(1) << (by - 1)) - 1)) != 0;
    }
    bool up = false;
    switch (mode) {
      case Rounding::NearestEven:
        up = half && (more || (kept & 1) != 0);
        break;
      case Rounding::NearestAway:
        up = half;
        break;
      case Rounding::Down:
        up = sign && (half || more);
        break;
      case Rounding::Up:
        up = !sign && (half || more);
        break;
      case Rounding::TowardZero:
        break;
    }
    return {kept + Wide(up), half || more};
  }

  static Bits sum(Number a, Number b, Rounding mode, unsigned& flags) {
    if (a.significand == 0 && b.significand == 0) {
      return withSign(a.sign == b.sign ? a.sign : mode == Rounding::Down, 0);
    }
    if (a.significand == 0) return round(b, mode, flags);
    if (b.significand == 0) return round(a, mode, flags);
    if (a.exponent + topBit(a.significand) < b.exponent + topBit(b.significand)) std::swap(a, b);
    // a with its top bit at 124; b aligned to it, what falls off remembered in its last bit.
    const int up = 124 - topBit(a.significand);
    a.significand <<= up;
    a.exponent -= up;
    const int by = a.exponent - b.exponent;
    if (by <= 0) {
      b.significand <<= -by;
    } else {
      const bool lost = by > 127 || (b.significand & ((Wide(1) << by) - 1)) != 0;
      b.significand = (by > 127 ? Wide(0) : b.significand >> by) | Wide(lost);
    }
    if (a.sign == b.sign) {
      a.significand += b.significand;
    } else if (a.significand == b.significand) {
      return withSign(mode == Rounding::Down, 0);
    } else if (a.significand > b.significand) {
      a.significand -= b.significand;
    } else {
      a.significand = b.significand - a.significand;
      a.sign = b.sign;
    }
    return round(a, mode, flags);
  }
};

using Float32 = Ieee<8, 23>;
using Float64 = Ieee<11, 52>;
using Float16 = Ieee<5, 10>;
using BFloat16 = Ieee<8, 7>;
using Float8E5M2 = Ieee<5, 2>;
using Float8E4M3 = Ieee<4, 3>;  ///< With infinities and NaNs as in the other formats.

}  // namespace dojo::rtl
