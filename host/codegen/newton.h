// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Division and square roots for machines without instructions for them, by Newton's iteration on
/// fused multiply-adds: within 1 ULP of the exact result (rsqrt 2), with the special values of
/// IEEE 754. Values are float or double, or fixed vectors of them; what is float is computed in
/// double.
#pragma once

#include "codegen/llvm.h"

namespace dojo::codegen {

[[nodiscard]] llvm::Value* divideByNewton(llvm::IRBuilderBase& builder, llvm::Value* a,
                                          llvm::Value* b);
/// For b > 0 that is, like a / b, far from overflow and from subnormals; a may be 0 or NaN.
[[nodiscard]] llvm::Value* divideNear(llvm::IRBuilderBase& builder, llvm::Value* a, llvm::Value* b);
[[nodiscard]] llvm::Value* sqrtByNewton(llvm::IRBuilderBase& builder, llvm::Value* x);
[[nodiscard]] llvm::Value* rsqrtByNewton(llvm::IRBuilderBase& builder, llvm::Value* x);

}  // namespace dojo::codegen
