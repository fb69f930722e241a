// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions: finished assembly, and values for the registers where it expects them.
#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "codegen/emitter.h"

namespace dojo::codegen {

Emitter::Value* Emitter::regionNumber(const region::Number& number) {
  Value* value = nullptr;
  if (number.index.isGather()) {
    ir::Access access;
    access.buffer = number.index.gather;
    for (const ir::Affine& inner : number.index.gatherIndices) access.indices.emplace_back(inner);
    value = read(access, nullptr);
    value = program_.buffer(access.buffer).dtype == ir::DType::u8
                ? b_.CreateZExtOrTrunc(value, word_)
                : b_.CreateSExtOrTrunc(value, word_);
  } else {
    value = affine(number.index.affine);
  }
  return number.fold > 0 ? b_.CreateURem(value, integer(number.fold)) : value;
}

Emitter::Value* Emitter::regionInput(const region::Input& input) {
  if (const auto* base = std::get_if<region::Base>(&input.what)) return this->base(base->buffer);
  if (const auto* number = std::get_if<region::Number>(&input.what)) return regionNumber(*number);
  if (const auto* real = std::get_if<region::Real>(&input.what)) {
    llvm::Type* type = real->dtype == ir::DType::f64 ? b_.getDoubleTy() : b_.getFloatTy();
    return llvm::ConstantFP::get(type, real->value);
  }
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = state_.function->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  return b_.CreateAlloca(b_.getDoubleTy(), nullptr, "lanes");
}

/// Registers with inputs are results, too, that nobody looks at: the assembly changes them.
void Emitter::region(const region::Code& code) {
  std::vector<Value*> args;
  std::vector<llvm::Type*> types;
  std::string constraints;
  const auto constrain = [&](const std::string& text) {
    constraints += (constraints.empty() ? "" : ",") + text;
  };
  for (const region::Input& input : code.inputs) {
    args.push_back(regionInput(input));
    types.push_back(args.back()->getType());
    constrain("={" + input.reg + "}");
  }
  for (std::size_t i = 0; i < code.inputs.size(); ++i) constrain(std::to_string(i));
  for (const std::string& reg : code.changed) {
    const bool input = std::any_of(code.inputs.begin(), code.inputs.end(),
                                   [&](const region::Input& each) { return each.reg == reg; });
    if (!input) constrain("~{" + reg + "}");
  }
  constrain("~{memory}");
  llvm::Type* result = types.empty()       ? b_.getVoidTy()
                       : types.size() == 1 ? types.front()
                                           : llvm::StructType::get(b_.getContext(), types);
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::CallInst* call =
      b_.CreateCall(type, llvm::InlineAsm::get(type, code.text, constraints, true), args);
  call->setDoesNotThrow();
}

}  // namespace dojo::codegen
