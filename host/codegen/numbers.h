// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Values of the language's dtypes as LLVM values, scalar or vector.
///
/// A value has two forms. Held: as it stands in memory and in register buffers (f16 and bf16 as
/// i16, bool as i8 in memory and i1 elsewhere). Computed: what operations work on (f16 and bf16 as
/// float, bool as i1). Every function takes scalars and vectors alike.
#pragma once

#include "codegen/llvm.h"
#include "ir/program.h"

namespace dojo::codegen {

/// What the target has instructions for; other code does it else.
struct ArithmeticFacts {
  bool halfConversions = true;  ///< f16 to and from f32
  bool rounding = true;         ///< to integers, in each direction
  bool scaling = false;         ///< x * 2^n, in vectors too
  bool divides = true;          ///< division and square root of floats
  /// Vectors of f64 to i32 in one step. RISC-V has it, but QEMU 7.2 ends itself on vfncvt.rtz.
  bool narrowing = true;
};

class Numbers {
 public:
  Numbers(llvm::IRBuilder<>& builder, const ArithmeticFacts& facts) : b_(builder), facts_(facts) {}

  [[nodiscard]] llvm::Type* memory(ir::DType type) const;
  [[nodiscard]] llvm::Type* held(ir::DType type) const;
  [[nodiscard]] llvm::Type* computed(ir::DType type) const;
  /// `type` as the element of a vector; no lanes: itself.
  [[nodiscard]] static llvm::Type* withLanes(llvm::Type* type, llvm::ElementCount lanes);

  [[nodiscard]] llvm::Value* fromMemory(llvm::Value* value, ir::DType type);
  [[nodiscard]] llvm::Value* toMemory(llvm::Value* value, ir::DType type);
  [[nodiscard]] llvm::Value* compute(llvm::Value* held, ir::DType type);
  /// Rounds f16 and bf16.
  [[nodiscard]] llvm::Value* hold(llvm::Value* computed, ir::DType type);

  /// Computed form of `from` to computed form of `to`: `cast`. Floats to integers truncate and
  /// saturate, NaN gives 0; integers wrap; to f16 and bf16 the value is rounded once.
  [[nodiscard]] llvm::Value* cast(llvm::Value* value, ir::DType from, ir::DType to);
  /// `sat_cast`: the same, but integers saturate.
  [[nodiscard]] llvm::Value* satCast(llvm::Value* value, ir::DType from, ir::DType to);

  [[nodiscard]] llvm::Value* constant(const ir::Constant& constant, ir::DType type);
  /// x with x OP identity = x, computed form.
  [[nodiscard]] llvm::Value* identity(ir::Assign assign, ir::DType type);
  /// One step of a reduction, computed forms. fma is not one: see operate().
  [[nodiscard]] llvm::Value* combine(ir::Assign assign, llvm::Value* a, llvm::Value* b,
                                     ir::DType type);
  /// An operation in `type` on computed operands; comparisons give i1. nullptr: no code for it.
  /// `safeDivisor` (or nullptr): lanes where the divisor counts.
  [[nodiscard]] llvm::Value* operate(ir::Op op, ir::DType type, llvm::ArrayRef<llvm::Value*> args,
                                     llvm::Value* safeDivisor);

  [[nodiscard]] llvm::Value* splat(llvm::Value* scalar, llvm::ElementCount lanes);
  /// All lanes combined into one.
  [[nodiscard]] llvm::Value* horizontal(ir::Assign assign, llvm::Value* vector, ir::DType type);

 private:
  [[nodiscard]] llvm::Value* reduce(ir::Assign assign, llvm::Value* vector, ir::DType type);
  [[nodiscard]] llvm::Value* operateFloat(ir::Op op, llvm::ArrayRef<llvm::Value*> args);
  [[nodiscard]] llvm::Value* operateInteger(ir::Op op, ir::DType type,
                                            llvm::ArrayRef<llvm::Value*> args,
                                            llvm::Value* safeDivisor);
  [[nodiscard]] llvm::Value* divide(ir::DType type, llvm::Value* a, llvm::Value* b,
                                    llvm::Value* safeDivisor);
  [[nodiscard]] llvm::Value* shift(ir::Op op, ir::DType type, llvm::Value* a, llvm::Value* count);
  [[nodiscard]] llvm::Value* roundTo(ir::Op op, llvm::Value* value);
  [[nodiscard]] llvm::Value* toInteger(llvm::Value* value, ir::DType to);
  [[nodiscard]] llvm::Value* narrowToOdd(llvm::Value* f64Value);
  [[nodiscard]] llvm::Value* toDoubleSticky(llvm::Value* i64Value);
  [[nodiscard]] llvm::Value* fmaToOdd(llvm::ArrayRef<llvm::Value*> args);
  [[nodiscard]] llvm::Value* halfToFloat(llvm::Value* bits);
  [[nodiscard]] llvm::Value* floatToHalf(llvm::Value* value);
  [[nodiscard]] llvm::Value* floatToBrain(llvm::Value* value);
  [[nodiscard]] llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* value);
  [[nodiscard]] llvm::Value* binary(llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* b);
  [[nodiscard]] llvm::Type* like(llvm::Value* value, llvm::Type* element) const;

  llvm::IRBuilder<>& b_;
  ArithmeticFacts facts_;
};

}  // namespace dojo::codegen
