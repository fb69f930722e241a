// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Emitter's templates, for the files that use them.
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

/// Says of a load or store which buffer it touches.
template <class I>
I* Emitter::tag(I* instruction, ir::BufferId buffer) {
  const auto id = static_cast<std::size_t>(buffer);
  instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, aliasScope_[id]);
  if (aliasOthers_[id]->getNumOperands() > 0) {
    instruction->setMetadata(llvm::LLVMContext::MD_noalias, aliasOthers_[id]);
  }
  if (program_.buffers[id].role == ir::Role::in) {
    instruction->setMetadata(llvm::LLVMContext::MD_invariant_load,
                             llvm::MDNode::get(b_.getContext(), {}));
  }
  return instruction;
}

}  // namespace dojo::codegen
