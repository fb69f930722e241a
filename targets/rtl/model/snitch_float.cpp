// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snitch_float.h"

#include <svdpi.h>

#include "float_fast.h"
#include "float_formats.h"

namespace dojo::rtl {
namespace {

using Bits = std::uint64_t;

constexpr Bits mask(int bits) { return bits == 64 ? ~Bits(0) : (Bits(1) << bits) - 1; }

/// An instruction's fields, and what applies to all of its lanes.
struct Context {
  std::uint32_t instruction;
  unsigned mode;
  Rounding rounding;
  unsigned* flags;

  unsigned funct3() const { return instruction >> 12 & 7; }
  unsigned rs2() const { return instruction >> 20 & 31; }
  unsigned funct7() const { return instruction >> 25; }

  Format alternative(Format format, bool alternate) const {
    if (!alternate) return format;
    if (format == Format::H) return Format::AltH;
    return format == Format::B ? Format::AltB : format;
  }
  /// Of a format field (0 s, 1 d, 2 h, 3 b): destinations and operations of one format.
  Format destination(unsigned field) const {
    constexpr Format kFormats[] = {Format::S, Format::D, Format::H, Format::B};
    return alternative(kFormats[field & 3], (mode & 1) != 0);
  }
  Format source(unsigned field) const {
    constexpr Format kFormats[] = {Format::S, Format::D, Format::H, Format::B};
    return alternative(kFormats[field & 3], (mode & 2) != 0);
  }
};

enum class Operation { MulAdd, Add, Mul, Sign, Min, Max, LessEqual, Less, Equal };

/// One operation on one lane. `variant`: which of the three sign injections.
template <typename F>
Bits lane(Operation operation, unsigned variant, Bits a, Bits b, Bits c, Rounding mode,
          unsigned& flags) {
  const bool nearest = mode == Rounding::NearestEven;
  Bits result = 0;
  switch (operation) {
    case Operation::MulAdd:
      if constexpr (std::is_same_v<F, Float64>) {
        if (nearest && fastMulAdd64(a, b, c, result, flags)) return result;
      } else if constexpr (std::is_same_v<F, Float32>) {
        if (nearest && fastMulAdd32(a, b, c, result, flags)) return result;
      }
      return F::mulAdd(a, b, c, mode, flags);
    case Operation::Add:
      if constexpr (std::is_same_v<F, Float64>) {
        if (nearest && fastAdd64(a, b, result, flags)) return result;
      } else if constexpr (std::is_same_v<F, Float32>) {
        if (nearest && fastAdd32(a, b, result, flags)) return result;
      }
      return F::add(a, b, mode, flags);
    case Operation::Mul:
      if constexpr (std::is_same_v<F, Float64>) {
        if (nearest && fastMul64(a, b, result, flags)) return result;
      } else if constexpr (std::is_same_v<F, Float32>) {
        if (nearest && fastMul32(a, b, result, flags)) return result;
      }
      return F::mul(a, b, mode, flags);
    case Operation::Sign: {
      const Bits sign = variant == 0 ? b : variant == 1 ? ~b : a ^ b;
      return (a & ~F::kSign) | (sign & F::kSign);
    }
    case Operation::Min:
      return F::minMax(a, b, false, flags);
    case Operation::Max:
      return F::minMax(a, b, true, flags);
    case Operation::LessEqual:
      return F::less(a, b, true, flags) ? 1 : 0;
    case Operation::Less:
      return F::less(a, b, false, flags) ? 1 : 0;
    default:
      return F::equal(a, b, flags) ? 1 : 0;
  }
}

Bits lane(Format format, Operation operation, unsigned variant, Bits a, Bits b, Bits c,
          const Context& context) {
  return visit(format, [&](auto f) {
    return lane<decltype(f)>(operation, variant, a, b, c, context.rounding, *context.flags);
  });
}

Bits sign(Format format) { return Bits(1) << (width(format) - 1); }

/// A scalar in its register: the number, or NaN where the bits above it aren't all ones.
Bits unbox(Format format, Bits a) {
  const Bits above = ~mask(width(format));
  if ((a & above) == above) return a & ~above;
  return visit(format, [](auto f) { return decltype(f)::kNan; });
}
Bits box(Format format, Bits a) { return a | ~mask(width(format)); }

Bits convert(Format to, Format from, Bits a, const Context& context) {
  return visit(to, [&](auto t) {
    return visit(from, [&](auto f) {
      return decltype(t)::template convert<decltype(f)>(a, context.rounding, *context.flags);
    });
  });
}

Bits extend(Bits a, int bits) {
  return static_cast<Bits>(static_cast<std::int64_t>(a << (64 - bits)) >> (64 - bits));
}

Bits fused(const Context& context, const FpOperands& x) {
  const Format format = context.destination(context.instruction >> 25 & 3);
  Bits a = unbox(format, x.a);
  Bits c = unbox(format, x.c);
  const unsigned kind = context.instruction >> 2 & 3;  // madd, msub, nmsub, nmadd
  if (kind >= 2) a ^= sign(format);
  if (kind == 1 || kind == 3) c ^= sign(format);
  return box(format, lane(format, Operation::MulAdd, 0, a, unbox(format, x.b), c, context));
}

Bits fromInteger(Format format, Bits value, bool isSigned, const Context& context) {
  return visit(format, [&](auto f) {
    return decltype(f)::fromInteger(value, isSigned, context.rounding, *context.flags);
  });
}
Bits toInteger(Format format, Bits a, int bits, bool isSigned, const Context& context) {
  return visit(format, [&](auto f) {
    return decltype(f)::toInteger(a, bits, isSigned, context.rounding, *context.flags);
  });
}

/// rs1 * rs2 of a narrow format, exact in single precision or rounded there, plus addend.
Bits expandingProduct(const Context& context, const FpOperands& x, bool accumulate) {
  const Format from = context.source(context.instruction >> 25 & 3);
  const Bits a = convert(Format::S, from, unbox(from, x.a), context);
  const Bits b = convert(Format::S, from, unbox(from, x.b), context);
  const Operation operation = accumulate ? Operation::MulAdd : Operation::Mul;
  return box(Format::S, lane(Format::S, operation, 0, a, b, unbox(Format::S, x.c), context));
}

Bits scalar(const Context& context, const FpOperands& x) {
  const std::uint32_t instruction = context.instruction;
  const unsigned field = instruction >> 25 & 3;
  const unsigned function = instruction >> 27;
  // What gives an integer takes the format of sources.
  const bool toIntegers = function == 0b10100 || function == 0b11000 || function == 0b11100;
  const Format format = toIntegers ? context.source(field) : context.destination(field);
  const unsigned funct3 = context.funct3();
  const auto binary = [&](Operation operation, Bits flip) {
    return lane(format, operation, funct3, unbox(format, x.a), unbox(format, x.b) ^ flip, 0,
                context);
  };
  switch (function) {
    case 0b00000:
      return box(format, binary(Operation::Add, 0));
    case 0b00001:
      return box(format, binary(Operation::Add, sign(format)));
    case 0b00010:
      return box(format, binary(Operation::Mul, 0));
    case 0b00100:
      return box(format, binary(Operation::Sign, 0));
    case 0b00101:
      return box(format, binary(funct3 == 0 ? Operation::Min : Operation::Max, 0));
    case 0b10100:
      return binary(funct3 == 0   ? Operation::LessEqual
                    : funct3 == 1 ? Operation::Less
                                  : Operation::Equal,
                    0);
    case 0b01000: {
      const Format from = context.source(context.rs2());
      return box(format, convert(format, from, unbox(from, x.a), context));
    }
    case 0b01001:
      return expandingProduct(context, x, false);
    case 0b01010:
      return expandingProduct(context, x, true);
    case 0b11000:
      return toInteger(format, unbox(format, x.a), 32, context.rs2() == 0, context);
    case 0b11010: {
      const bool isSigned = context.rs2() == 0;
      return box(format, fromInteger(format, isSigned ? extend(x.a, 32) : x.a & mask(32), isSigned,
                                     context));
    }
    case 0b11100:
      if (funct3 == 1) {
        return visit(format,
                     [&](auto f) { return Bits(decltype(f)::classify(unbox(format, x.a))); });
      }
      return extend(x.a & mask(width(format)), width(format));
    default:  // 0b11110
      return box(format, x.a & mask(width(format)));
  }
}

// ---- packed ----

Bits get(Bits a, int bits, int index) { return a >> (bits * index) & mask(bits); }
Bits put(Bits a, int bits, int index, Bits value) {
  const int shift = bits * index;
  return (a & ~(mask(bits) << shift)) | (value & mask(bits)) << shift;
}

Bits repeat(Bits a, int bits) {
  a &= mask(bits);
  for (int filled = bits; filled < 64; filled *= 2) a |= a << filled;
  return a;
}

/// The format field of a packed instruction: as that of scalars.
unsigned formatField(unsigned funct3) { return funct3 & 3; }

/// Terms of two neighbouring lanes, and a lane of rd, in one rounding.
template <typename To>
Bits sumOfThree(Format from, bool products, bool subtract, Bits a0, Bits b0, Bits a1, Bits b1,
                Bits c, Rounding mode, unsigned& flags) {
  return visit(from, [&](auto f) -> Bits {
    using From = decltype(f);
    bool nan = To::isNan(c);
    bool invalid = To::isSignalling(c);
    bool infinity[2] = {false, false};
    ExactSum sum;
    const auto term = [&](Bits a, Bits b) {
      invalid = invalid || From::isSignalling(a) || (products && From::isSignalling(b));
      if (From::isNan(a) || (products && From::isNan(b))) {
        nan = true;
        return;
      }
      bool negative = From::negative(a) != subtract;
      if (products) {
        negative = negative != From::negative(b);
        if ((From::isInfinite(a) && From::isZero(b)) || (From::isZero(a) && From::isInfinite(b))) {
          invalid = true;
          return;
        }
        if (From::isInfinite(b)) {
          infinity[negative] = true;
          return;
        }
      }
      if (From::isInfinite(a)) {
        infinity[negative] = true;
        return;
      }
      Number x = From::unpack(a);
      if (products) {
        const Number y = From::unpack(b);
        x = {false, x.exponent + y.exponent, x.significand * y.significand};
      }
      x.sign = negative;
      sum.add(x);
    };
    term(a0, b0);
    term(a1, b1);
    if (!nan && To::isInfinite(c)) infinity[To::negative(c)] = true;
    invalid = invalid || (!nan && infinity[0] && infinity[1]);
    if (invalid) flags |= kInvalid;
    if (nan || invalid) return To::kNan;
    if (infinity[0] || infinity[1]) return To::withSign(infinity[1], To::kInfinity);
    if (!To::isInfinite(c)) sum.add(To::unpack(c));
    return sum.round<To>(mode, flags);
  });
}

/// vfsum, vfsumex, vfdotpex, and their negated forms.
Bits sums(const Context& context, const FpOperands& x, bool products, bool subtract) {
  const unsigned field = formatField(context.funct3());
  const Format to = context.destination(field);
  const bool expanding = products || (context.rs2() >> 3) == 0b10;
  const Format from = expanding ? context.source(field == 0 ? 2 : 3) : to;
  const int fromBits = width(from);
  const int toBits = width(to);
  const int count = 64 / fromBits / 2;
  const Bits b = products && (context.funct3() & 4) != 0 ? repeat(x.b, fromBits) : x.b;
  Bits result = x.c;
  for (int i = 0; i < count; ++i) {
    const Bits value = visit(to, [&](auto t) {
      return sumOfThree<decltype(t)>(from, products, subtract, get(x.a, fromBits, 2 * i),
                                     get(b, fromBits, 2 * i), get(x.a, fromBits, 2 * i + 1),
                                     get(b, fromBits, 2 * i + 1), get(x.c, toBits, i),
                                     context.rounding, *context.flags);
    });
    result = put(result, toBits, i, value);
  }
  return result;
}

/// Two scalars into two lanes of rd; the others stay.
Bits pack(const Context& context, const FpOperands& x) {
  const Format to = context.destination(formatField(context.funct3()));
  const Format from = (context.funct7() & 2) != 0 ? Format::D : Format::S;
  const int first = (context.funct7() & 1) * 4 + ((context.funct3() & 4) != 0 ? 2 : 0);
  const int bits = width(to);
  if ((first + 2) * bits > 64) return x.c;
  Bits result = put(x.c, bits, first, convert(to, from, unbox(from, x.a), context));
  return put(result, bits, first + 1, convert(to, from, unbox(from, x.b), context));
}

/// Moves from and to integer registers, and conversions of packed lanes (funct7 1001100).
Bits convertLanes(const Context& context, const FpOperands& x) {
  const unsigned field = formatField(context.funct3());
  const bool second = (context.funct3() & 4) != 0;
  const Format format = context.destination(field);
  const int bits = width(format);
  const unsigned kind = context.rs2();
  if (kind == 0) return second ? box(format, x.a) : x.a;
  // From s, h (or the other h), b, as many lanes as both have.
  const Format from = context.source(kind == 4 ? 0 : kind == 7 ? 3 : 2);
  const int fromBits = width(from);
  const int count = 64 / (bits > fromBits ? bits : fromBits);
  const int fromFirst = second && fromBits < bits ? count : 0;
  const int first = second && bits < fromBits ? count : 0;
  Bits result = ~Bits(0);
  for (int i = 0; i < count; ++i) {
    result = put(result, bits, first + i,
                 convert(format, from, get(x.a, fromBits, fromFirst + i), context));
  }
  return result;
}

Bits compareLanes(Format format, unsigned which, Bits a, Bits b, const Context& context) {
  const int bits = width(format);
  Bits result = 0;
  for (int i = 0; i < 64 / bits; ++i) {
    const Bits x = get(a, bits, i);
    const Bits y = get(b, bits, i);
    Bits answer = 0;
    switch (which) {  // eq ne lt ge le gt
      case 0:
        answer = lane(format, Operation::Equal, 0, x, y, 0, context);
        break;
      case 1:
        answer = lane(format, Operation::Equal, 0, x, y, 0, context) ^ 1;
        break;
      case 2:
        answer = lane(format, Operation::Less, 0, x, y, 0, context);
        break;
      case 3:
        answer = lane(format, Operation::LessEqual, 0, y, x, 0, context);
        break;
      case 4:
        answer = lane(format, Operation::LessEqual, 0, x, y, 0, context);
        break;
      default:
        answer = lane(format, Operation::Less, 0, y, x, 0, context);
        break;
    }
    result |= answer << i;
  }
  return result;
}

Bits packed(const Context& context, const FpOperands& x) {
  const unsigned field = formatField(context.funct3());
  const unsigned funct7 = context.funct7();
  const bool compares = funct7 >> 3 == 0b1010 && (funct7 & 7) < 6;
  const Format format = compares ? context.source(field) : context.destination(field);
  const int bits = width(format);
  const Bits right = (context.funct3() & 4) != 0 ? repeat(x.b, bits) : x.b;
  const auto lanes = [&](Operation operation, unsigned variant, Bits flipA, Bits flipB) {
    Bits result = 0;
    for (int i = 0; i < 64 / bits; ++i) {
      const Bits value = lane(format, operation, variant, get(x.a, bits, i) ^ flipA,
                              get(right, bits, i) ^ flipB, get(x.c, bits, i), context);
      result |= value << (bits * i);
    }
    return result;
  };
  switch (funct7) {
    case 0b1000001:
      return lanes(Operation::Add, 0, 0, 0);
    case 0b1000010:
      return lanes(Operation::Add, 0, 0, sign(format));
    case 0b1000011:
      return lanes(Operation::Mul, 0, 0, 0);
    case 0b1000101:
      return lanes(Operation::Min, 0, 0, 0);
    case 0b1000110:
      return lanes(Operation::Max, 0, 0, 0);
    case 0b1001000:
      return lanes(Operation::MulAdd, 0, 0, 0);
    case 0b1001001:
      return lanes(Operation::MulAdd, 0, sign(format), 0);
    case 0b1001101:
    case 0b1001110:
    case 0b1001111:
      return lanes(Operation::Sign, funct7 - 0b1001101, 0, 0);
    case 0b1000111:
      return sums(context, x, false, false);
    case 0b1010111:
      return sums(context, x, false, true);
    case 0b1001011:
      return sums(context, x, true, false);
    case 0b1011101:
      return sums(context, x, true, true);
    case 0b1011000:
    case 0b1011001:
    case 0b1011010:
    case 0b1011011:
      return pack(context, x);
    case 0b1001100:
      return convertLanes(context, x);
    default:
      return compareLanes(format, funct7 - 0b1010000, x.a, right, context);
  }
}

}  // namespace

std::uint64_t computeFp(std::uint32_t instruction, unsigned frm, unsigned mode,
                        const FpOperands& operands, unsigned& flags) {
  const unsigned opcode = instruction & 0x7f;
  const unsigned field = instruction >> 12 & 7;
  const bool isPacked = opcode == 0x33;
  const auto rounding = static_cast<Rounding>(isPacked || field > 4 ? frm : field);
  const Context context{instruction, mode, rounding, &flags};
  if (isPacked) return packed(context, operands);
  return opcode == 0x53 ? scalar(context, operands) : fused(context, operands);
}

}  // namespace dojo::rtl

extern "C" void snitch_fp_compute(int instruction, const svBitVecVal* frm, const svBitVecVal* mode,
                                  long long a, long long b, long long c, long long* result,
                                  svBitVecVal* flags) {
  unsigned raised = 0;
  const dojo::rtl::FpOperands operands{static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b),
                                       static_cast<std::uint64_t>(c)};
  *result = static_cast<long long>(
      dojo::rtl::computeFp(static_cast<std::uint32_t>(instruction), *frm, *mode, operands, raised));
  *flags = raised;
}
