// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/numbers.h"

#include <cmath>

#include "ir/numeric.h"

namespace dojo::codegen {

using ir::DType;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

namespace {

llvm::ElementCount lanesOf(const Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(value->getType());
  return vector == nullptr ? llvm::ElementCount::getFixed(0) : vector->getElementCount();
}

unsigned bitsOf(DType type) { return static_cast<unsigned>(ir::sizeBytes(type)) * 8; }
bool isHalfWidth(DType type) { return type == DType::f16 || type == DType::bf16; }
bool isSigned(DType type) { return type != DType::u8 && type != DType::boolean; }

}  // namespace

Type* Numbers::memory(DType type) const {
  return type == DType::boolean ? b_.getInt8Ty() : held(type);
}

Type* Numbers::held(DType type) const {
  switch (type) {
    case DType::f64:
      return b_.getDoubleTy();
    case DType::f32:
      return b_.getFloatTy();
    case DType::boolean:
      return b_.getInt1Ty();
    default:
      return b_.getIntNTy(bitsOf(type));
  }
}

Type* Numbers::computed(DType type) const {
  return isHalfWidth(type) ? b_.getFloatTy() : held(type);
}

Type* Numbers::withLanes(Type* type, llvm::ElementCount lanes) {
  return lanes.isZero() ? type : llvm::VectorType::get(type, lanes);
}

Type* Numbers::like(Value* value, Type* element) const {
  return withLanes(element, lanesOf(value));
}

Value* Numbers::fromMemory(Value* value, DType type) {
  return type == DType::boolean ? b_.CreateIsNotNull(value) : value;
}

Value* Numbers::toMemory(Value* value, DType type) {
  return type == DType::boolean ? b_.CreateZExt(value, like(value, b_.getInt8Ty())) : value;
}

Value* Numbers::compute(Value* held, DType type) {
  if (type == DType::f16) return halfToFloat(held);
  if (type != DType::bf16) return held;
  Type* wide = like(held, b_.getInt32Ty());
  Value* bits = b_.CreateShl(b_.CreateZExt(held, wide), ConstantInt::get(wide, 16));
  return b_.CreateBitCast(bits, like(held, b_.getFloatTy()));
}

Value* Numbers::hold(Value* computed, DType type) {
  if (type == DType::f16) return floatToHalf(computed);
  if (type == DType::bf16) return floatToBrain(computed);
  return computed;
}

Value* Numbers::floatToBrain(Value* value) {
  // By hand: the instruction for it flushes subnormals.
  Type* wide = like(value, b_.getInt32Ty());
  Value* bits = b_.CreateBitCast(value, wide);
  Value* high = b_.CreateLShr(bits, ConstantInt::get(wide, 16));
  Value* odd = b_.CreateAnd(high, ConstantInt::get(wide, 1));
  Value* bias = b_.CreateAdd(odd, ConstantInt::get(wide, 0x7fff));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(bits, bias), ConstantInt::get(wide, 16));
  Value* quiet = b_.CreateOr(high, ConstantInt::get(wide, 0x40));
  Value* isNan = b_.CreateFCmpUNO(value, value);
  return b_.CreateTrunc(b_.CreateSelect(isNan, quiet, rounded), like(value, b_.getInt16Ty()));
}

Value* Numbers::halfToFloat(Value* bits) {
  Type* floats = like(bits, b_.getFloatTy());
  if (facts_.halfConversions) {
    return b_.CreateFPExt(b_.CreateBitCast(bits, like(bits, b_.getHalfTy())), floats);
  }
  // The magnitude as the bits of a float, scaled by 2^112 to move the exponent; infinity and NaN
  // get the largest exponent.
  Type* wide = like(bits, b_.getInt32Ty());
  Value* word = b_.CreateZExt(bits, wide);
  Value* magnitude = b_.CreateAnd(word, ConstantInt::get(wide, 0x7fff));
  Value* sign =
      b_.CreateShl(b_.CreateAnd(word, ConstantInt::get(wide, 0x8000)), ConstantInt::get(wide, 16));
  Value* shifted = b_.CreateBitCast(b_.CreateShl(magnitude, ConstantInt::get(wide, 13)), floats);
  Value* scaled = b_.CreateFMul(shifted, ConstantFP::get(floats, std::ldexp(1.0, 112)));
  Value* special = b_.CreateICmpUGE(magnitude, ConstantInt::get(wide, 0x7c00));
  Value* value = b_.CreateBitCast(scaled, wide);
  value = b_.CreateSelect(special, b_.CreateOr(value, ConstantInt::get(wide, 0x7f800000)), value);
  return b_.CreateBitCast(b_.CreateOr(value, sign), floats);
}

Value* Numbers::floatToHalf(Value* value) {
  Type* halves = like(value, b_.getHalfTy());
  Type* narrow = like(value, b_.getInt16Ty());
  if (facts_.halfConversions) return b_.CreateBitCast(b_.CreateFPTrunc(value, halves), narrow);
  Type* wide = like(value, b_.getInt32Ty());
  Type* floats = value->getType();
  const auto word = [&](std::uint32_t bits) { return ConstantInt::get(wide, bits); };
  Value* bits = b_.CreateBitCast(value, wide);
  Value* sign = b_.CreateAnd(b_.CreateLShr(bits, word(16)), word(0x8000));
  Value* magnitude = b_.CreateAnd(bits, word(0x7fffffff));
  // Normal: drop 13 bits, half to even, and move the exponent by 112.
  Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, word(13)), word(1));
  Value* rounded = b_.CreateAdd(magnitude, b_.CreateAdd(odd, word(0xfff - (112U << 23))));
  Value* normal = b_.CreateLShr(rounded, word(13));
  // Subnormal: adding 0.5 puts the last place of f16 into the last place of the float.
  Value* sum = b_.CreateFAdd(b_.CreateBitCast(magnitude, floats), ConstantFP::get(floats, 0.5));
  Value* subnormal = b_.CreateSub(b_.CreateBitCast(sum, wide), word(0x3f000000));
  Value* result = b_.CreateSelect(b_.CreateICmpULT(magnitude, word(113U << 23)), subnormal, normal);
  Value* tooLarge = b_.CreateICmpUGE(magnitude, word(143U << 23));
  result = b_.CreateSelect(tooLarge, word(0x7c00), result);
  Value* isNan = b_.CreateICmpUGT(magnitude, word(0x7f800000));
  result = b_.CreateSelect(isNan, word(0x7e00), result);
  return b_.CreateTrunc(b_.CreateOr(result, sign), narrow);
}

/// f64 to f32 so that a second rounding to fewer bits gives what one rounding would: truncated, and
/// the last bit set where anything was lost.
Value* Numbers::narrowToOdd(Value* value) {
  Type* floats = like(value, b_.getFloatTy());
  Type* wide = like(value, b_.getInt32Ty());
  Value* nearest = b_.CreateFPTrunc(value, floats);
  Value* back = b_.CreateFPExt(nearest, value->getType());
  Value* bits = b_.CreateBitCast(nearest, wide);
  Value* above =
      b_.CreateFCmpOGT(unary(llvm::Intrinsic::fabs, back), unary(llvm::Intrinsic::fabs, value));
  Value* truncated = b_.CreateSub(bits, b_.CreateZExt(above, wide));
  Value* lost = b_.CreateZExt(b_.CreateFCmpUNE(back, value), wide);
  return b_.CreateBitCast(b_.CreateOr(truncated, lost), floats);
}

/// With the bits that f64 has no room for kept as one.
Value* Numbers::toDoubleSticky(Value* value) {
  Type* type = value->getType();
  const auto word = [&](std::uint64_t bits) { return ConstantInt::get(type, bits); };
  Value* negative = b_.CreateICmpSLT(value, word(0));
  Value* magnitude = b_.CreateSelect(negative, b_.CreateNeg(value), value);
  Value* large = b_.CreateICmpNE(b_.CreateLShr(magnitude, word(53)), word(0));
  Value* lost = b_.CreateICmpNE(b_.CreateAnd(magnitude, word(0x7ff)), word(0));
  Value* kept = b_.CreateOr(b_.CreateAnd(magnitude, word(~std::uint64_t{0x7ff})),
                            b_.CreateSelect(lost, word(0x800), word(0)));
  Value* real =
      b_.CreateUIToFP(b_.CreateSelect(large, kept, magnitude), like(value, b_.getDoubleTy()));
  return b_.CreateSelect(negative, b_.CreateFNeg(real), real);
}

Value* Numbers::toInteger(Value* value, DType to) {
  const auto id = isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  // Through 32 bits for the narrow ones: vectors of those have instructions.
  const unsigned bits = bitsOf(to);
  const bool doubles = value->getType()->getScalarType()->isDoubleTy();
  if (!facts_.narrowing && bits <= 32 && doubles && value->getType()->isVectorTy()) {
    Type* words = like(value, b_.getInt64Ty());
    return satCast(
        b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {words, value->getType()}, {value}),
        DType::i64, to);
  }
  Type* wide = like(value, b_.getIntNTy(std::max(bits, 32U)));
  if (bits >= 32) return b_.CreateIntrinsic(id, {wide, value->getType()}, {value});
  Value* integer =
      b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {wide, value->getType()}, {value});
  return satCast(integer, DType::i32, to);
}

Value* Numbers::cast(Value* value, DType from, DType to) {
  if (from == to) return value;
  Type* type = like(value, computed(to));
  if (to == DType::boolean) {
    return ir::isFloat(from) ? b_.CreateFCmpUNE(value, ConstantFP::get(value->getType(), 0.0))
                             : b_.CreateIsNotNull(value);
  }
  if (ir::isFloat(from) && ir::isFloat(to)) {
    if (from == DType::f64) {
      return isHalfWidth(to) ? narrowToOdd(value) : b_.CreateFPTrunc(value, type);
    }
    return to == DType::f64 ? b_.CreateFPExt(value, type) : value;
  }
  if (ir::isFloat(from)) return toInteger(value, to);
  if (ir::isFloat(to)) {
    if (isHalfWidth(to) && from == DType::i64) return narrowToOdd(toDoubleSticky(value));
    if (isHalfWidth(to) && from == DType::i32) {
      return narrowToOdd(b_.CreateSIToFP(value, like(value, b_.getDoubleTy())));
    }
    return isSigned(from) ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
  }
  return isSigned(from) ? b_.CreateSExtOrTrunc(value, type) : b_.CreateZExtOrTrunc(value, type);
}

Value* Numbers::satCast(Value* value, DType from, DType to) {
  if (ir::isFloat(to) || to == DType::boolean || from == DType::boolean) {
    return cast(value, from, to);
  }
  if (ir::isFloat(from)) return toInteger(value, to);
  Type* type = value->getType();
  if (ir::lowest(to) > ir::lowest(from)) {
    value = binary(llvm::Intrinsic::smax, value,
                   ConstantInt::get(type, static_cast<std::uint64_t>(ir::lowest(to)), true));
  }
  if (ir::highest(to) < ir::highest(from)) {
    const auto id = isSigned(from) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    value = binary(id, value, ConstantInt::get(type, static_cast<std::uint64_t>(ir::highest(to))));
  }
  return cast(value, from, to);
}

Value* Numbers::constant(const ir::Constant& constant, DType type) {
  Type* element = computed(type);
  if (ir::isFloat(type)) {
    const double value = std::holds_alternative<double>(constant)
                             ? std::get<double>(constant)
                             : static_cast<double>(std::get<std::int64_t>(constant));
    return ConstantFP::get(element, value);
  }
  const std::int64_t value = std::holds_alternative<std::int64_t>(constant)
                                 ? std::get<std::int64_t>(constant)
                                 : static_cast<std::int64_t>(std::get<double>(constant));
  // Truncated here: an element type takes the low bits.
  const llvm::APInt bits(64, static_cast<std::uint64_t>(value));
  return ConstantInt::get(b_.getContext(), bits.trunc(element->getIntegerBitWidth()));
}

Value* Numbers::splat(Value* scalar, llvm::ElementCount lanes) {
  return lanes.isZero() ? scalar : b_.CreateVectorSplat(lanes, scalar);
}

}  // namespace dojo::codegen
