// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of rv32_fpu.sv.
#include <svdpi.h>

#include "float.h"

namespace {

using dojo::rtl::Float32;
using dojo::rtl::Rounding;

/// In the order of operation_e of rv32_fpu.sv.
enum Operation {
  kMulAdd,
  kMulSub,
  kNegMulSub,
  kNegMulAdd,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kSqrt,
  kCopySign,
  kNegateSign,
  kXorSign,
  kMin,
  kMax,
  kToInt,
  kToUnsigned,
  kFromInt,
  kFromUnsigned,
  kLessEqual,
  kLess,
  kEqual,
  kClassify,
  kMove
};

constexpr std::uint32_t kSign = 0x80000000;

std::uint64_t compute(int operation, Rounding mode, std::uint32_t a, std::uint32_t b,
                      std::uint32_t c, unsigned& flags) {
  switch (operation) {
    case kMulAdd:
      return Float32::mulAdd(a, b, c, mode, flags);
    case kMulSub:
      return Float32::mulAdd(a, b, c ^ kSign, mode, flags);
    case kNegMulSub:
      return Float32::mulAdd(a ^ kSign, b, c, mode, flags);
    case kNegMulAdd:
      return Float32::mulAdd(a ^ kSign, b, c ^ kSign, mode, flags);
    case kAdd:
      return Float32::add(a, b, mode, flags);
    case kSub:
      return Float32::add(a, b ^ kSign, mode, flags);
    case kMul:
      return Float32::mul(a, b, mode, flags);
    case kDiv:
      return Float32::div(a, b, mode, flags);
    case kSqrt:
      return Float32::sqrt(a, mode, flags);
    case kCopySign:
      return (a & ~kSign) | (b & kSign);
    case kNegateSign:
      return (a & ~kSign) | (~b & kSign);
    case kXorSign:
      return a ^ (b & kSign);
    case kMin:
      return Float32::minMax(a, b, false, flags);
    case kMax:
      return Float32::minMax(a, b, true, flags);
    case kToInt:
      return Float32::toInteger(a, 32, true, mode, flags);
    case kToUnsigned:
      return Float32::toInteger(a, 32, false, mode, flags);
    case kFromInt:
      return Float32::fromInteger(static_cast<std::uint64_t>(static_cast<std::int32_t>(a)), true,
                                  mode, flags);
    case kFromUnsigned:
      return Float32::fromInteger(a, false, mode, flags);
    case kLessEqual:
      return Float32::less(a, b, true, flags) ? 1 : 0;
    case kLess:
      return Float32::less(a, b, false, flags) ? 1 : 0;
    case kEqual:
      return Float32::equal(a, b, flags) ? 1 : 0;
    case kClassify:
      return Float32::classify(a);
    default:
      return a;
  }
}

}  // namespace

extern "C" void float32_operate(int operation, int rounding, unsigned int a, unsigned int b,
                                unsigned int c, unsigned int* result, svBitVecVal* flags) {
  unsigned raised = 0;
  *result = static_cast<unsigned int>(
      compute(operation, static_cast<Rounding>(rounding), a, b, c, raised));
  *flags = raised;
}
