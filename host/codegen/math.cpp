// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions as straight-line arithmetic on scalars or vectors of f32 and f64: no
// branch, no table, no call. Argument reductions are the usual ones (Cody and Waite, "Software
// Manual for the Elementary Functions", 1980; for the logarithm the s = f / (2 + f) form of Tang,
// 1990); the polynomials are ours, see scripts/math_coefficients.py. Products that must be exact
// are so without fused multiply-add, other than in pow on f64.
#include "codegen/math.h"

#include "base/math_tables.h"
#include "codegen/llvm.h"
#include "codegen/newton.h"

namespace dojo::codegen {

namespace {

using llvm::Value;

/// What differs between the two formats.
struct Format {
  int mantissa;         ///< Stored mantissa bits.
  int bias;             ///< Exponent bias.
  double magic;         ///< Adding and subtracting it rounds to an integer: 1.5 * 2^mantissa.
  double ln2Hi, ln2Lo;  ///< ln2Hi has zeros enough for exact products with exponents.
  double expLo, expHi;  ///< Past these exp is 0 or infinite.
  double minNormal;
  double scaleUp;  ///< Makes every subnormal normal: 2^scaleBits.
  int scaleBits;
  double tanhTop;  ///< Past it tanh is 1.
};
constexpr Format kF32 = {
    23,     127, 12582912.0, 0.693145751953125, 1.42860682030941723212e-6, -104.0, 89.0, 0x1p-126,
    0x1p25, 25,  9.5};
constexpr Format kF64 = {52,
                         1023,
                         6755399441055744.0,
                         6.93147180369123816490e-01,
                         1.90821492927058770002e-10,
                         -746.0,
                         710.0,
                         0x1p-1022,
                         0x1p54,
                         54,
                         20.0};
constexpr double kLog2e = 1.44269504088896340736;
constexpr double kSqrtHalf = 0.70710678118654752440;

/// A value and what it was rounded by.
struct Pair {
  Value* hi;
  Value* lo;
};

class Emitter {
 public:
  Emitter(llvm::IRBuilderBase& builder, llvm::Type* type, const ArithmeticFacts& facts)
      : b_(builder),
        type_(type),
        facts_(facts),
        wide_(type->getScalarType()->isDoubleTy()),
        format_(wide_ ? kF64 : kF32) {
    llvm::Type* bits = wide_ ? b_.getInt64Ty() : b_.getInt32Ty();
    const auto* vector = llvm::dyn_cast<llvm::VectorType>(type);
    bits_ = vector == nullptr ? bits : llvm::VectorType::get(bits, vector->getElementCount());
  }

  /// Within one ULP or so.
  Value* exp(Value* x) {
    const Reduced reduced = reduce(clamp(x, format_.expLo, format_.expHi));
    return scale(expQuick(reduced.rest), reduced.exponent);
  }

  Value* log(Value* x) {
    const Split split = splitExponent(x);
    Value* f = b_.CreateFSub(split.mantissa, real(1));
    Value* s = quotient(f, b_.CreateFAdd(f, real(2)));
    Value* z = b_.CreateFMul(s, s);
    Value* tail =
        b_.CreateFMul(z, wide_ ? polynomial(tables::kLogF64, z) : polynomial(tables::kLogF32, z));
    Value* halfSquare = b_.CreateFMul(b_.CreateFMul(real(0.5), f), f);
    Value* low = muladd(s, b_.CreateFAdd(halfSquare, tail),
                        b_.CreateFMul(split.exponent, real(format_.ln2Lo)));
    Value* rest = b_.CreateFSub(b_.CreateFSub(halfSquare, low), f);
    Value* out = b_.CreateFSub(b_.CreateFMul(split.exponent, real(format_.ln2Hi)), rest);
    return logSpecials(x, out);
  }

  /// A polynomial near 0, else 1 - 2 / (exp(2|x|) + 1), with the sign of x.
  Value* tanh(Value* x) {
    Value* z = b_.CreateFMul(x, x);
    Value* tail =
        wide_ ? polynomial(tables::kTanhSmallF64, z) : polynomial(tables::kTanhSmallF32, z);
    Value* inner = muladd(b_.CreateFMul(x, z), tail, x);
    Value* size = clampAbove(abs(x), format_.tanhTop);
    Value* e = expNear(b_.CreateFAdd(size, size));
    Value* outer = b_.CreateFSub(real(1), quotient(real(2), b_.CreateFAdd(e, real(1))));
    Value* isInner = b_.CreateFCmpOLT(size, real(tables::kTanhSplit));
    return keepNaN(x, b_.CreateSelect(isInner, inner, copySign(outer, x)));
  }

  /// 1 / (1 + t) or t / (1 + t) with t = exp(-|x|). What rounding took from 1 + t is given back to
  /// the quotient; 1.457 - d / 2 is near enough to 1 / d for that.
  Value* sigmoid(Value* x) {
    Value* t = expNear(b_.CreateFNeg(abs(x)));
    Value* positive = b_.CreateFCmpOGE(x, real(0));
    const Pair d = fastSum(real(1), t);
    Value* ratio = quotient(b_.CreateSelect(positive, real(1), t), d.hi);
    Value* inverse = muladd(d.hi, real(-0.5), real(1.457));
    return muladd(ratio, b_.CreateFNeg(b_.CreateFMul(d.lo, inverse)), ratio);
  }

  Value* erf(Value* x) {
    Value* size = abs(x);
    Value* z = b_.CreateFMul(x, x);
    Value* inner = muladd(
        x, wide_ ? polynomial(tables::kErfSmallF64, z) : polynomial(tables::kErfSmallF32, z), x);
    Value* outer = copySign(b_.CreateFSub(real(1), erfcAboveSplit(size)), x);
    Value* isInner = b_.CreateFCmpOLT(size, real(tables::kErfSplit));
    return keepNaN(x, b_.CreateSelect(isInner, inner, outer));
  }

  /// 1 - erf(x) where that is small; absolute errors count.
  Value* erfcAboveSplit(Value* x) {
    const double top = wide_ ? tables::kErfTopF64 : tables::kErfTopF32;
    const double from = wide_ ? tables::kErfSplit : tables::kErfMiddleF32;
    Value* t = b_.CreateFSub(clampAbove(x, top), real(from));
    if (!wide_) return polynomial(tables::kErfLargeF32, t);
    return exp(b_.CreateFNeg(polynomial(tables::kErfLargeF64, t)));
  }

  Value* rsqrt(Value* x) {
    if (!facts_.divides) return rsqrtByNewton(b_, x);
    return b_.CreateFDiv(real(1), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  }

  /// On f64: exp(y log|x|) with the logarithm as a pair, then the sign and the special cases of
  /// IEEE 754-2019, 9.2.1.
  Value* pow(Value* x, Value* y) {
    const Pair logarithm = logPair(abs(x));
    Value* hi = b_.CreateFMul(y, logarithm.hi);
    Value* lo = fma(y, logarithm.lo, fma(y, logarithm.hi, b_.CreateFNeg(hi)));
    Value* moderate = b_.CreateFCmpOLT(abs(hi), real(800));
    return powSpecials(x, y, expPair({hi, b_.CreateSelect(moderate, lo, real(0))}));
  }

 private:
  struct Reduced {
    Value* rest;      ///< |rest| <= ln(2) / 2
    Value* exponent;  ///< integer bits
  };
  struct Split {
    Value* mantissa;  ///< in [sqrt(1/2), sqrt(2))
    Value* exponent;  ///< as a float
  };

  Value* real(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* integer(std::int64_t value) { return llvm::ConstantInt::getSigned(bits_, value); }
  Value* infinity(bool negative = false) { return llvm::ConstantFP::getInfinity(type_, negative); }
  Value* nan() { return llvm::ConstantFP::getNaN(type_); }
  Value* asBits(Value* x) { return b_.CreateBitCast(x, bits_); }
  Value* asReal(Value* x) { return b_.CreateBitCast(x, type_); }
  Value* abs(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* copySign(Value* size, Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, sign);
  }
  Value* keepNaN(Value* x, Value* otherwise) {
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, otherwise);
  }

  /// a / b for a positive b, both of moderate size.
  Value* quotient(Value* a, Value* b) {
    return facts_.divides ? b_.CreateFDiv(a, b) : divideNear(b_, a, b);
  }
  /// a * b + c, fused where the target does it in one instruction.
  Value* muladd(Value* a, Value* b, Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {a, b, c});
  }
  Value* fma(Value* a, Value* b, Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
  }

  template <std::size_t N>
  Value* polynomial(const std::array<double, N>& coefficients, Value* x) {
    Value* out = real(coefficients[N - 1]);
    for (std::size_t i = N - 1; i-- > 0;) out = muladd(out, x, real(coefficients[i]));
    return out;
  }

  /// A NaN passes both clamps.
  Value* clampAbove(Value* x, double hi) {
    return b_.CreateSelect(b_.CreateFCmpOGT(x, real(hi)), real(hi), x);
  }
  Value* clamp(Value* x, double lo, double hi) {
    Value* bounded = clampAbove(x, hi);
    return b_.CreateSelect(b_.CreateFCmpOLT(bounded, real(lo)), real(lo), bounded);
  }

  /// x = exponent * ln(2) + rest.
  Reduced reduce(Value* x) {
    Value* shifted = muladd(x, real(kLog2e), real(format_.magic));
    Value* n = b_.CreateFSub(shifted, real(format_.magic));
    Value* rest = muladd(n, real(-format_.ln2Hi), x);
    rest = muladd(n, real(-format_.ln2Lo), rest);
    return {rest, b_.CreateSub(asBits(shifted), asBits(real(format_.magic)))};
  }

  /// For functions that add errors of their own.
  Value* expNear(Value* x) {
    const Reduced reduced = reduce(clamp(x, format_.expLo, format_.expHi));
    return scale(expSmall(reduced.rest), reduced.exponent);
  }

  /// e^r for a reduced r.
  Value* expQuick(Value* r) {
    Value* tail = wide_ ? polynomial(tables::kExpF64, r) : polynomial(tables::kExpQuickF32, r);
    return muladd(muladd(tail, r, real(1)), r, real(1));
  }

  /// The same; 1 + r is exact as a sum of two.
  Value* expSmall(Value* r) {
    Value* tail = wide_ ? polynomial(tables::kExpF64, r) : polynomial(tables::kExpF32, r);
    const Pair first = fastSum(real(1), r);
    return b_.CreateFAdd(first.hi, muladd(b_.CreateFMul(r, r), tail, first.lo));
  }

  Value* powerOfTwo(Value* exponent) {
    return asReal(
        b_.CreateShl(b_.CreateAdd(exponent, integer(format_.bias)), integer(format_.mantissa)));
  }

  /// x * 2^exponent: by an instruction, or in two steps, so that results overflow and underflow as
  /// they should.
  Value* scale(Value* x, Value* exponent) {
    if (facts_.scaling) {
      Value* power =
          wide_ ? b_.CreateTrunc(exponent, bits_->getWithNewType(b_.getInt32Ty())) : exponent;
      return b_.CreateIntrinsic(llvm::Intrinsic::ldexp, {type_, power->getType()}, {x, power});
    }
    Value* half = b_.CreateAShr(exponent, integer(1));
    Value* rest = b_.CreateSub(exponent, half);
    return b_.CreateFMul(b_.CreateFMul(x, powerOfTwo(half)), powerOfTwo(rest));
  }

  /// For positive finite x.
  Split splitExponent(Value* x) {
    Value* subnormal = b_.CreateFCmpOLT(x, real(format_.minNormal));
    Value* normal = b_.CreateSelect(subnormal, b_.CreateFMul(x, real(format_.scaleUp)), x);
    Value* bits = asBits(normal);
    Value* exponent =
        b_.CreateAShr(b_.CreateSub(bits, asBits(real(kSqrtHalf))), integer(format_.mantissa));
    Value* mantissa = asReal(b_.CreateSub(bits, b_.CreateShl(exponent, integer(format_.mantissa))));
    Value* asFloat = b_.CreateFSub(asReal(b_.CreateAdd(exponent, asBits(real(format_.magic)))),
                                   real(format_.magic));
    Value* correction = b_.CreateSelect(subnormal, real(format_.scaleBits), real(0));
    return {mantissa, b_.CreateFSub(asFloat, correction)};
  }

  Value* logSpecials(Value* x, Value* out) {
    out = b_.CreateSelect(b_.CreateFCmpOEQ(x, infinity()), x, out);
    out = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(0)), infinity(true), out);
    out = b_.CreateSelect(b_.CreateFCmpOLT(x, real(0)), nan(), out);
    return keepNaN(x, out);
  }

  /// a + b exactly, for |a| >= |b| or a == 0.
  Pair fastSum(Value* a, Value* b) {
    Value* sum = b_.CreateFAdd(a, b);
    return {sum, b_.CreateFSub(b, b_.CreateFSub(sum, a))};
  }
  Pair product(Value* a, Value* b) {
    Value* hi = b_.CreateFMul(a, b);
    return {hi, fma(a, b, b_.CreateFNeg(hi))};
  }
  Pair product(Pair a, Pair b) {
    const Pair main = product(a.hi, b.hi);
    Value* cross = muladd(a.hi, b.lo, b_.CreateFMul(a.lo, b.hi));
    return fastSum(main.hi, b_.CreateFAdd(main.lo, cross));
  }
  Pair sum(Pair a, Pair b) {  // for |a.hi| >= |b.hi| or a.hi == 0
    const Pair main = fastSum(a.hi, b.hi);
    return fastSum(main.hi, b_.CreateFAdd(main.lo, b_.CreateFAdd(a.lo, b.lo)));
  }

  /// log(x) to about 2^-64 for x >= 0: exponent * ln(2) + 2 s + s^3 (2/3 + s^2 Q(s^2)), all but the
  /// last term in pairs.
  Pair logPair(Value* x) {
    const Split split = splitExponent(x);
    Value* f = b_.CreateFSub(split.mantissa, real(1));
    Value* d = b_.CreateFAdd(split.mantissa, real(1));
    Value* dLow = b_.CreateFSub(split.mantissa, b_.CreateFSub(d, real(1)));
    Value* sHi = quotient(f, d);
    Value* remainder = fma(b_.CreateFNeg(sHi), dLow, fma(b_.CreateFNeg(sHi), d, f));
    const Pair s = fastSum(sHi, quotient(remainder, d));
    const Pair z = product(s, s);
    const Pair cube = product(z, s);
    Value* rest =
        b_.CreateFMul(b_.CreateFMul(cube.hi, z.hi), polynomial(tables::kLogTailF64, z.hi));
    const Pair thirds = {real(2.0 / 3.0), real(0x1.5555555555555p-55)};
    Pair fraction =
        sum({b_.CreateFAdd(s.hi, s.hi), b_.CreateFAdd(s.lo, s.lo)}, product(cube, thirds));
    fraction = fastSum(fraction.hi, b_.CreateFAdd(fraction.lo, rest));
    // ln(2) in three parts; products of the first with exponents are exact.
    constexpr double kLn2Mid = 1.90821492927058770002e-10;
    constexpr double kLn2Low = -1.7647345752507646e-26;
    const Pair whole = sum({b_.CreateFMul(split.exponent, real(kF64.ln2Hi)), real(0)},
                           product({split.exponent, real(0)}, {real(kLn2Mid), real(kLn2Low)}));
    const Pair total = sum(whole, fraction);
    Value* hi = b_.CreateSelect(b_.CreateFCmpOEQ(x, infinity()), x, total.hi);
    hi = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(0)), infinity(true), hi);
    Value* finite = b_.CreateAnd(b_.CreateFCmpOGT(x, real(0)), b_.CreateFCmpOLT(x, infinity()));
    return {keepNaN(x, hi), b_.CreateSelect(finite, total.lo, real(0))};
  }

  Value* expPair(Pair x) {
    const Reduced reduced = reduce(clamp(x.hi, format_.expLo, format_.expHi));
    return scale(expSmall(b_.CreateFAdd(reduced.rest, x.lo)), reduced.exponent);
  }

  Value* powSpecials(Value* x, Value* y, Value* size) {
    Value* whole = b_.CreateFCmpOEQ(floor(y), y);
    Value* halfY = b_.CreateFMul(y, real(0.5));
    Value* odd = b_.CreateAnd(whole, b_.CreateFCmpUNE(floor(halfY), halfY));
    Value* negative = b_.CreateICmpSLT(asBits(x), integer(0));
    Value* out = b_.CreateSelect(b_.CreateAnd(negative, odd), b_.CreateFNeg(size), size);
    Value* undefined = b_.CreateAnd(b_.CreateFCmpOLT(x, real(0)), b_.CreateNot(whole));
    undefined = b_.CreateAnd(undefined, b_.CreateFCmpOGT(x, infinity(true)));
    out = b_.CreateSelect(undefined, nan(), out);
    out = b_.CreateSelect(b_.CreateFCmpUNO(x, y), nan(), out);
    Value* infiniteY = b_.CreateFCmpOEQ(abs(y), infinity());
    Value* unit = b_.CreateAnd(b_.CreateFCmpOEQ(abs(x), real(1)), infiniteY);
    unit = b_.CreateOr(unit, b_.CreateFCmpOEQ(x, real(1)));
    unit = b_.CreateOr(unit, b_.CreateFCmpOEQ(y, real(0)));
    return b_.CreateSelect(unit, real(1), out);
  }

  Value* floor(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x); }

  llvm::IRBuilderBase& b_;
  llvm::Type* type_;
  llvm::Type* bits_;
  const ArithmeticFacts& facts_;
  bool wide_;
  const Format& format_;
};

/// pow on f32 is pow on f64, rounded.
Value* powNarrow(llvm::IRBuilderBase& b, Value* x, Value* y, const ArithmeticFacts& facts) {
  llvm::Type* narrow = x->getType();
  llvm::Type* wide = narrow->getWithNewType(b.getDoubleTy());
  Value* out = Emitter(b, wide, facts).pow(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide));
  return b.CreateFPTrunc(out, narrow);
}

}  // namespace

llvm::Value* emitMath(llvm::IRBuilderBase& builder, ir::Op op, llvm::ArrayRef<llvm::Value*> args,
                      const ArithmeticFacts& facts) {
  Emitter emitter(builder, args[0]->getType(), facts);
  switch (op) {
    case ir::Op::exp:
      return emitter.exp(args[0]);
    case ir::Op::log:
      return emitter.log(args[0]);
    case ir::Op::tanh:
      return emitter.tanh(args[0]);
    case ir::Op::sigmoid:
      return emitter.sigmoid(args[0]);
    case ir::Op::erf:
      return emitter.erf(args[0]);
    case ir::Op::rsqrt:
      return emitter.rsqrt(args[0]);
    case ir::Op::pow:
      return args[0]->getType()->getScalarType()->isDoubleTy()
                 ? emitter.pow(args[0], args[1])
                 : powNarrow(builder, args[0], args[1], facts);
    default:
      return nullptr;
  }
}

}  // namespace dojo::codegen
