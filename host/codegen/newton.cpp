// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/newton.h"

#include "region/inverse.h"

namespace dojo::codegen {
namespace {

using llvm::Value;

constexpr std::uint64_t kSign = 0x8000000000000000;
constexpr std::uint64_t kInfinity = 0x7ff0000000000000;
constexpr std::uint64_t kMantissa = 0x000fffffffffffff;
constexpr std::uint64_t kOne = 0x3ff0000000000000;
constexpr int kMantissaBits = 52;
constexpr int kBias = 1023;
/// An integer less a number's bits is near the bits of its inverse (12%), and an integer less half
/// of them near those of its inverse root (3.5%).
constexpr std::uint64_t kInverse = 0x7fde6238502484ba;
constexpr std::uint64_t kInverseRoot = 0x5fe6eb50c7b537a9;

class Newton {
 public:
  Newton(llvm::IRBuilderBase& builder, llvm::Type* narrow) : b_(builder) {
    const auto* vector = llvm::dyn_cast<llvm::VectorType>(narrow);
    const auto like = [&](llvm::Type* element) -> llvm::Type* {
      return vector == nullptr ? element
                               : llvm::VectorType::get(element, vector->getElementCount());
    };
    type_ = like(b_.getDoubleTy());
    bits_ = like(b_.getInt64Ty());
    narrow_ = narrow;
    wide_ = narrow == type_;
  }

  Value* widen(Value* x) { return wide_ ? x : b_.CreateFPExt(x, type_); }
  Value* finish(Value* x) { return wide_ ? x : b_.CreateFPTrunc(x, narrow_); }

  Value* divide(Value* a, Value* b) {
    const Split top = split(a);
    const Split bottom = split(b);
    Value* inverse = inverseOfMantissa(bottom.mantissa);
    Value* quotient = quotientWith(top.mantissa, bottom.mantissa, inverse);
    Value* exponent = b_.CreateSub(top.exponent, bottom.exponent);
    Value* scaled = scaledBy(quotient, exponent);
    Value* sign = b_.CreateAnd(b_.CreateXor(asBits(a), asBits(b)), integer(kSign));
    Value* plain = asReal(b_.CreateOr(asBits(scaled), sign));
    Value* both = b_.CreateAnd(isPlain(a), isPlain(b));
    return b_.CreateSelect(both, plain, b_.CreateFMul(a, specialInverse(b)));
  }

  Value* divideNear(Value* a, Value* b) {
    Value* inverse = asReal(b_.CreateSub(integer(kInverse), asBits(b)));
    for (int i = 0; i < (wide_ ? 5 : 4); ++i) inverse = improved(inverse, b);
    return quotientWith(a, b, inverse);
  }

  Value* sqrt(Value* x) {
    const Scaled scaled = scale(x);
    Value* inverse = inverseRoot(scaled.value);
    Value* root = b_.CreateFMul(scaled.value, inverse);
    Value* rest = fma(b_.CreateFNeg(root), root, scaled.value);
    root = fma(rest, b_.CreateFMul(inverse, real(0.5)), root);
    if (scaled.small != nullptr) {
      root = b_.CreateSelect(scaled.small, b_.CreateFMul(root, real(0x1p-256)), root);
    }
    // Zeros, infinity and NaN are their own roots.
    return b_.CreateSelect(inside(x), root, ofNegative(x, x));
  }

  Value* rsqrt(Value* x) {
    const Scaled scaled = scale(x);
    Value* inverse = inverseRoot(scaled.value);
    if (scaled.small != nullptr) {
      inverse = b_.CreateSelect(scaled.small, b_.CreateFMul(inverse, real(0x1p256)), inverse);
    }
    return b_.CreateSelect(inside(x), inverse, ofNegative(x, specialInverse(x)));
  }

 private:
  struct Split {
    Value* mantissa;  ///< In [1, 2).
    Value* exponent;
  };
  struct Scaled {
    Value* value;
    Value* small;  ///< Where it was multiplied by 2^512; nullptr: nowhere.
  };

  Value* real(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* integer(std::uint64_t value) { return llvm::ConstantInt::get(bits_, value); }
  Value* asBits(Value* x) { return b_.CreateBitCast(x, bits_); }
  Value* asReal(Value* x) { return b_.CreateBitCast(x, type_); }
  Value* fma(Value* a, Value* b, Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
  }
  Value* abs(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

  Value* powerOfTwo(Value* exponent) {
    return asReal(b_.CreateShl(b_.CreateAdd(exponent, integer(kBias)), integer(kMantissaBits)));
  }

  /// x * 2^exponent, in two steps where that may overflow or underflow.
  Value* scaledBy(Value* x, Value* exponent) {
    if (!wide_) return b_.CreateFMul(x, powerOfTwo(exponent));
    constexpr std::uint64_t kFar = 1100;
    exponent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, exponent, integer(kFar));
    exponent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exponent, integer(0 - kFar));
    Value* half = b_.CreateAShr(exponent, integer(1));
    return b_.CreateFMul(b_.CreateFMul(x, powerOfTwo(half)),
                         powerOfTwo(b_.CreateSub(exponent, half)));
  }

  /// Neither zero, infinite nor NaN.
  Value* isPlain(Value* x) {
    Value* size = b_.CreateAnd(asBits(x), integer(~kSign));
    return b_.CreateICmpULT(b_.CreateSub(size, integer(1)), integer(kInfinity - 1));
  }
  /// A positive number that isn't infinite.
  Value* inside(Value* x) {
    return b_.CreateICmpULT(b_.CreateSub(asBits(x), integer(1)), integer(kInfinity - 1));
  }
  Value* ofNegative(Value* x, Value* otherwise) {
    return b_.CreateSelect(b_.CreateFCmpOLT(x, real(0)), llvm::ConstantFP::getNaN(type_),
                           otherwise);
  }
  /// 1 / x of zeros, infinities and NaN; of all else the sign of x.
  Value* specialInverse(Value* x) {
    Value* size = abs(x);
    Value* infinity = llvm::ConstantFP::getInfinity(type_);
    Value* out = b_.CreateSelect(b_.CreateFCmpOEQ(size, real(0)), infinity, real(1));
    out = b_.CreateSelect(b_.CreateFCmpOEQ(size, infinity), real(0), out);
    out = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, out, x);
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, out);
  }

  Split split(Value* x) {
    Value* down = integer(0);
    if (wide_) {
      Value* subnormal = b_.CreateFCmpOLT(abs(x), real(0x1p-1022));
      x = b_.CreateSelect(subnormal, b_.CreateFMul(x, real(0x1p54)), x);
      down = b_.CreateSelect(subnormal, integer(54), integer(0));
    }
    Value* bits = b_.CreateAnd(asBits(x), integer(~kSign));
    Value* mantissa = asReal(b_.CreateOr(b_.CreateAnd(bits, integer(kMantissa)), integer(kOne)));
    return {mantissa, b_.CreateSub(b_.CreateLShr(bits, integer(kMantissaBits)), down)};
  }

  /// What is too small for its root's error to be a number.
  Scaled scale(Value* x) {
    if (!wide_) return {x, nullptr};
    Value* small = b_.CreateFCmpOLT(x, real(0x1p-500));
    return {b_.CreateSelect(small, b_.CreateFMul(x, real(0x1p512)), x), small};
  }

  Value* improved(Value* inverse, Value* of) {
    Value* error = fma(b_.CreateFNeg(of), inverse, real(1));
    return fma(inverse, error, inverse);
  }

  /// From 1/m for m in [1, 2) with an error of T4(2m - 3) / 577, T4 Chebyshev's polynomial.
  Value* inverseOfMantissa(Value* m) {
    Value* inverse = real(-128.0 / 577);
    for (const double coefficient : {768.0 / 577, -1696.0 / 577, 1632.0 / 577}) {
      inverse = fma(inverse, m, real(coefficient));
    }
    for (int i = 0; i < (wide_ ? 3 : 2); ++i) inverse = improved(inverse, m);
    return inverse;
  }

  Value* quotientWith(Value* a, Value* b, Value* inverse) {
    Value* quotient = b_.CreateFMul(a, inverse);
    Value* rest = fma(b_.CreateFNeg(b), quotient, a);
    return fma(rest, inverse, quotient);
  }

  Value* inverseRoot(Value* x) {
    Value* inverse =
        asReal(b_.CreateSub(integer(kInverseRoot), b_.CreateLShr(asBits(x), integer(1))));
    for (int i = 0; i < (wide_ ? 4 : 3); ++i) {
      Value* error = fma(b_.CreateFNeg(b_.CreateFMul(x, inverse)), inverse, real(1));
      inverse = fma(b_.CreateFMul(inverse, real(0.5)), error, inverse);
    }
    return inverse;
  }

  llvm::IRBuilderBase& b_;
  llvm::Type* narrow_;
  llvm::Type* type_;
  llvm::Type* bits_;
  bool wide_;
};

}  // namespace

namespace {

/// By what is known now: nullptr where it isn't, or is of extreme size.
Value* divideByConstant(llvm::IRBuilderBase& b, Value* value, Value* divisor) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(divisor);
  llvm::Type* type = value->getType();
  if (constant != nullptr && type->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  if (number == nullptr) return nullptr;
  const bool wide = number->getType()->isDoubleTy();
  const auto inverse =
      region::inverseOf(wide ? number->getValueAPF().convertToDouble()
                             : static_cast<double>(number->getValueAPF().convertToFloat()),
                        wide ? ir::DType::f64 : ir::DType::f32);
  if (!inverse) return nullptr;
  Value* high = llvm::ConstantFP::get(type, inverse->high);
  if (inverse->low == 0) return b.CreateFMul(value, high);
  Value* low = b.CreateFMul(value, llvm::ConstantFP::get(type, inverse->low));
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {value, high, low});
}

}  // namespace

Value* divideByNewton(llvm::IRBuilderBase& builder, Value* a, Value* b) {
  if (Value* out = divideByConstant(builder, a, b)) return out;
  Newton newton(builder, a->getType());
  return newton.finish(newton.divide(newton.widen(a), newton.widen(b)));
}

Value* divideNear(llvm::IRBuilderBase& builder, Value* a, Value* b) {
  Newton newton(builder, a->getType());
  return newton.finish(newton.divideNear(newton.widen(a), newton.widen(b)));
}

Value* sqrtByNewton(llvm::IRBuilderBase& builder, Value* x) {
  Newton newton(builder, x->getType());
  return newton.finish(newton.sqrt(newton.widen(x)));
}

Value* rsqrtByNewton(llvm::IRBuilderBase& builder, Value* x) {
  Newton newton(builder, x->getType());
  return newton.finish(newton.rsqrt(newton.widen(x)));
}

}  // namespace dojo::codegen
