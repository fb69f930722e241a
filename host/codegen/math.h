// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Functions that no instruction computes, as inline code that vectorises; no call leaves a kernel.
#pragma once

#include "codegen/llvm.h"
#include "codegen/numbers.h"
#include "ir/program.h"

namespace dojo::codegen {

/// exp log tanh erf sigmoid pow rsqrt of `args` (float or double, scalar or fixed vectors, all of
/// one type) within the ULPs that ir.md states. nullptr where the operation is none of these.
[[nodiscard]] llvm::Value* emitMath(llvm::IRBuilderBase& builder, ir::Op op,
                                    llvm::ArrayRef<llvm::Value*> args,
                                    const ArithmeticFacts& facts);

}  // namespace dojo::codegen
