// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>

#include "codegen/math.h"
#include "codegen/newton.h"
#include "codegen/numbers.h"
#include "ir/numeric.h"

namespace dojo::codegen {

using ir::Assign;
using ir::DType;
using ir::Op;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

Value* Numbers::unary(llvm::Intrinsic::ID id, Value* value) {
  return b_.CreateUnaryIntrinsic(id, value);
}

Value* Numbers::binary(llvm::Intrinsic::ID id, Value* a, Value* b) {
  return b_.CreateBinaryIntrinsic(id, a, b);
}

Value* Numbers::identity(Assign assign, DType type) {
  Type* element = computed(type);
  if (ir::isFloat(type)) {
    switch (assign) {
      case Assign::mul:
        return ConstantFP::get(element, 1.0);
      case Assign::max:
        return ConstantFP::getInfinity(element, true);
      case Assign::min:
        return ConstantFP::getInfinity(element, false);
      default:
        return ConstantFP::getNegativeZero(element);
    }
  }
  switch (assign) {
    case Assign::mul:
      return constant(ir::Constant(std::int64_t{1}), type);
    case Assign::max:
      return constant(ir::Constant(ir::lowest(type)), type);
    case Assign::min:
      return constant(ir::Constant(ir::highest(type)), type);
    default:
      return constant(ir::Constant(std::int64_t{0}), type);
  }
}

Value* Numbers::combine(Assign assign, Value* a, Value* b, DType type) {
  switch (assign) {
    case Assign::mul:
      return operate(Op::mul, type, {a, b}, nullptr);
    case Assign::max:
      return operate(Op::max, type, {a, b}, nullptr);
    case Assign::min:
      return operate(Op::min, type, {a, b}, nullptr);
    default:
      return operate(Op::add, type, {a, b}, nullptr);
  }
}

Value* Numbers::horizontal(Assign assign, Value* vector, DType type) {
  if (llvm::isa<llvm::ScalableVectorType>(vector->getType())) return reduce(assign, vector, type);
  auto* shape = llvm::cast<llvm::FixedVectorType>(vector->getType());
  for (unsigned half = shape->getNumElements() / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> low(half);
    llvm::SmallVector<int, 64> high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), static_cast<int>(half));
    vector = combine(assign, b_.CreateShuffleVector(vector, low),
                     b_.CreateShuffleVector(vector, high), type);
  }
  return b_.CreateExtractElement(vector, std::uint64_t{0});
}

/// By instructions, for vectors whose length isn't known here. There is none for products.
Value* Numbers::reduce(Assign assign, Value* vector, DType type) {
  const bool isUnsigned = type == DType::u8;
  if (ir::isFloat(type)) {
    if (assign == Assign::max) return b_.CreateFPMaxReduce(vector);
    if (assign == Assign::min) return b_.CreateFPMinReduce(vector);
    auto* sum = b_.CreateFAddReduce(ConstantFP::getNegativeZero(vector->getType()->getScalarType()),
                                    vector);
    sum->setHasAllowReassoc(true);
    return sum;
  }
  if (type == DType::boolean) {
    if (assign == Assign::max) return b_.CreateOrReduce(vector);
    return assign == Assign::min ? b_.CreateAndReduce(vector) : b_.CreateXorReduce(vector);
  }
  if (assign == Assign::max) return b_.CreateIntMaxReduce(vector, !isUnsigned);
  if (assign == Assign::min) return b_.CreateIntMinReduce(vector, !isUnsigned);
  return b_.CreateAddReduce(vector);
}

Value* Numbers::operate(Op op, DType type, llvm::ArrayRef<Value*> args, Value* safeDivisor) {
  if (op == Op::copy) return args[0];
  if (op == Op::select) return b_.CreateSelect(args[0], args[1], args[2]);
  const bool narrow = type == DType::f16 || type == DType::bf16;
  if (narrow && op == Op::fma) return fmaToOdd(args);
  if (ir::isFloat(type)) return operateFloat(op, args);
  return operateInteger(op, type, args, safeDivisor);
}

Value* Numbers::operateFloat(Op op, llvm::ArrayRef<Value*> args) {
  switch (op) {
    case Op::add:
      return b_.CreateFAdd(args[0], args[1]);
    case Op::sub:
      return b_.CreateFSub(args[0], args[1]);
    case Op::mul:
      return b_.CreateFMul(args[0], args[1]);
    case Op::div:
      return facts_.divides ? b_.CreateFDiv(args[0], args[1])
                            : divideByNewton(b_, args[0], args[1]);
    case Op::fma:
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {args[0]->getType()}, args);
    case Op::neg:
      return b_.CreateFNeg(args[0]);
    case Op::abs:
      return unary(llvm::Intrinsic::fabs, args[0]);
    // As one instruction does it: the second operand where they don't compare.
    case Op::min:
      return b_.CreateSelect(b_.CreateFCmpOLT(args[0], args[1]), args[0], args[1]);
    case Op::max:
      return b_.CreateSelect(b_.CreateFCmpOGT(args[0], args[1]), args[0], args[1]);
    case Op::lt:
      return b_.CreateFCmpOLT(args[0], args[1]);
    case Op::le:
      return b_.CreateFCmpOLE(args[0], args[1]);
    case Op::gt:
      return b_.CreateFCmpOGT(args[0], args[1]);
    case Op::ge:
      return b_.CreateFCmpOGE(args[0], args[1]);
    case Op::eq:
      return b_.CreateFCmpOEQ(args[0], args[1]);
    case Op::ne:
      return b_.CreateFCmpUNE(args[0], args[1]);
    case Op::sqrt:
      return facts_.divides ? unary(llvm::Intrinsic::sqrt, args[0]) : sqrtByNewton(b_, args[0]);
    case Op::round:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
      return roundTo(op, args[0]);
    default:
      return emitMath(b_, op, args, facts_);
  }
}

Value* Numbers::roundTo(Op op, Value* value) {
  if (facts_.rounding) {
    switch (op) {
      case Op::floor:
        return unary(llvm::Intrinsic::floor, value);
      case Op::ceil:
        return unary(llvm::Intrinsic::ceil, value);
      case Op::trunc:
        return unary(llvm::Intrinsic::trunc, value);
      default:
        return unary(llvm::Intrinsic::roundeven, value);
    }
  }
  // Adding and taking away 2^mantissa rounds to the nearest even integer; what is that large
  // already, infinite or NaN stays.
  Type* type = value->getType();
  const double large = type->getScalarType()->isDoubleTy() ? 0x1p52 : 0x1p23;
  Value* magnitude = unary(llvm::Intrinsic::fabs, value);
  Value* shift = ConstantFP::get(type, large);
  Value* nearest = b_.CreateFSub(b_.CreateFAdd(magnitude, shift), shift);
  const auto copySign = [&](Value* x) { return binary(llvm::Intrinsic::copysign, x, value); };
  Value* one = ConstantFP::get(type, 1.0);
  Value* zero = ConstantFP::get(type, 0.0);
  Value* result = copySign(nearest);
  if (op == Op::trunc) {
    Value* above = b_.CreateFCmpOGT(nearest, magnitude);
    result = copySign(b_.CreateFSub(nearest, b_.CreateSelect(above, one, zero)));
  } else if (op == Op::floor) {
    Value* above = b_.CreateFCmpOGT(result, value);
    result = copySign(b_.CreateFSub(result, b_.CreateSelect(above, one, zero)));
  } else if (op == Op::ceil) {
    Value* below = b_.CreateFCmpOLT(result, value);
    result = copySign(b_.CreateFAdd(result, b_.CreateSelect(below, one, zero)));
  }
  return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, shift), result, value);
}

Value* Numbers::operateInteger(Op op, DType type, llvm::ArrayRef<Value*> args, Value* safeDivisor) {
  const bool isUnsigned = type == DType::u8 || type == DType::boolean;
  using P = llvm::CmpInst::Predicate;
  const auto compare = [&](P whenSigned, P whenUnsigned) {
    return b_.CreateICmp(isUnsigned ? whenUnsigned : whenSigned, args[0], args[1]);
  };
  switch (op) {
    case Op::add:
      return b_.CreateAdd(args[0], args[1]);
    case Op::sub:
      return b_.CreateSub(args[0], args[1]);
    case Op::mul:
      return b_.CreateMul(args[0], args[1]);
    case Op::fma:
      return b_.CreateAdd(b_.CreateMul(args[0], args[1]), args[2]);
    case Op::div:
      return divide(type, args[0], args[1], safeDivisor);
    case Op::neg:
      return b_.CreateNeg(args[0]);
    case Op::abs:
      if (isUnsigned) return args[0];
      return b_.CreateSelect(b_.CreateICmpSLT(args[0], ConstantInt::get(args[0]->getType(), 0)),
                             b_.CreateNeg(args[0]), args[0]);
    case Op::min:
      if (type == DType::boolean) return b_.CreateAnd(args[0], args[1]);
      return binary(isUnsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, args[0], args[1]);
    case Op::max:
      if (type == DType::boolean) return b_.CreateOr(args[0], args[1]);
      return binary(isUnsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, args[0], args[1]);
    case Op::lt:
      return compare(P::ICMP_SLT, P::ICMP_ULT);
    case Op::le:
      return compare(P::ICMP_SLE, P::ICMP_ULE);
    case Op::gt:
      return compare(P::ICMP_SGT, P::ICMP_UGT);
    case Op::ge:
      return compare(P::ICMP_SGE, P::ICMP_UGE);
    case Op::eq:
      return b_.CreateICmpEQ(args[0], args[1]);
    case Op::ne:
      return b_.CreateICmpNE(args[0], args[1]);
    case Op::bitAnd:
      return b_.CreateAnd(args[0], args[1]);
    case Op::bitOr:
      return b_.CreateOr(args[0], args[1]);
    case Op::bitXor:
      return b_.CreateXor(args[0], args[1]);
    case Op::bitNot:
      return b_.CreateNot(args[0]);
    case Op::shl:
    case Op::shr:
      return shift(op, type, args[0], args[1]);
    default:
      return nullptr;
  }
}

/// Truncating; the lowest value by -1 wraps. Lanes that don't count divide by one.
Value* Numbers::divide(DType type, Value* a, Value* b, Value* safeDivisor) {
  Type* ty = a->getType();
  Value* one = ConstantInt::get(ty, 1);
  if (safeDivisor != nullptr) b = b_.CreateSelect(safeDivisor, b, one);
  if (type == DType::u8 || type == DType::boolean) return b_.CreateUDiv(a, b);
  Value* minusOne = llvm::Constant::getAllOnesValue(ty);
  Value* negates = b_.CreateICmpEQ(b, minusOne);
  Value* quotient = b_.CreateSDiv(a, b_.CreateSelect(negates, one, b));
  return b_.CreateSelect(negates, b_.CreateNeg(a), quotient);
}

/// Counts are taken modulo the width.
Value* Numbers::shift(Op op, DType type, Value* a, Value* count) {
  Type* ty = a->getType();
  Value* amount = b_.CreateAnd(count, ConstantInt::get(ty, ty->getScalarSizeInBits() - 1));
  if (op == Op::shl) return b_.CreateShl(a, amount);
  return type == DType::u8 ? b_.CreateLShr(a, amount) : b_.CreateAShr(a, amount);
}

/// For f16 and bf16: their product is exact in f64; the sum is rounded to odd there, from where one
/// more rounding gives what a single one would.
Value* Numbers::fmaToOdd(llvm::ArrayRef<Value*> args) {
  Type* wide = like(args[0], b_.getDoubleTy());
  Type* word = like(args[0], b_.getInt64Ty());
  const auto widen = [&](Value* value) { return b_.CreateFPExt(value, wide); };
  Value* a = b_.CreateFMul(widen(args[0]), widen(args[1]));
  Value* b = widen(args[2]);
  Value* sum = b_.CreateFAdd(a, b);
  Value* bPart = b_.CreateFSub(sum, a);
  Value* error =
      b_.CreateFAdd(b_.CreateFSub(a, b_.CreateFSub(sum, bPart)), b_.CreateFSub(b, bPart));
  Value* one = ConstantInt::get(word, 1);
  Value* bits = b_.CreateBitCast(sum, word);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, one), ConstantInt::get(word, 0));
  // False for NaN too: where the sum is not finite.
  Value* inexact = b_.CreateFCmpONE(error, ConstantFP::get(wide, 0.0));
  // Away from zero where sum and error have one sign.
  Value* mixed = b_.CreateXor(bits, b_.CreateBitCast(error, word));
  Value* inward = b_.CreateICmpSLT(mixed, ConstantInt::get(word, 0));
  Value* moved = b_.CreateSelect(inward, b_.CreateSub(bits, one), b_.CreateAdd(bits, one));
  bits = b_.CreateSelect(b_.CreateAnd(even, inexact), moved, bits);
  return narrowToOdd(b_.CreateBitCast(bits, wide));
}

}  // namespace dojo::codegen
