// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Emitter::branch, for the files that use it.
#pragma once

#include "codegen/emitter.h"

namespace dojo::codegen {

/// nullptr and constants take no branch.
template <class Fn>
void Emitter::branch(Value* condition, Fn&& emitInside) {
  if (condition == nullptr) return emitInside();
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isOne()) emitInside();
    return;
  }
  auto* inside = llvm::BasicBlock::Create(b_.getContext(), "then", state_.function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "after");
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  emitInside();
  b_.CreateBr(after);
  after->insertInto(state_.function);
  b_.SetInsertPoint(after);
}

}  // namespace dojo::codegen
