// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions: finished assembly, and values for the registers where it expects them.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>

#include "codegen/emitter.h"

namespace dojo::codegen {

namespace {
/// Without the lines by which the text tells where it comes from.
std::string unmarked(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text.compare(at, std::strlen(region::kLineMark), region::kLineMark) != 0) {
      out.append(text, at, end - at);
    }
    at = end;
  }
  return out;
}
}  // namespace

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
  const std::int64_t doubles = std::get<region::Scratch>(input.what).bytes / 8;
  return b_.CreateAlloca(llvm::ArrayType::get(b_.getDoubleTy(), static_cast<unsigned>(doubles)),
                         nullptr, "scratch");
}

/// A function that a region calls: one that computes, and one around it that keeps registers.
void Emitter::routine(ir::Op op) {
  const std::string name = region::routineName(op);
  if (module_.getFunction(name) != nullptr) return;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  const bool two = ir::info(op).arity == 2;
  const auto function = [&](const std::string& called, llvm::Type* result,
                            llvm::ArrayRef<llvm::Type*> operands) {
    auto* made = llvm::Function::Create(llvm::FunctionType::get(result, operands, false),
                                        llvm::Function::ExternalLinkage, called, module_);
    decorate(made);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "", made));
    return made;
  };
  const std::vector<llvm::Type*> operands(two ? 2 : 1, b_.getDoubleTy());
  llvm::Function* value = function(name + "_value", b_.getDoubleTy(), operands);
  llvm::SmallVector<Value*, 2> args;
  for (llvm::Argument& argument : value->args()) args.push_back(&argument);
  b_.CreateRet(numbers_.operate(op, ir::DType::f64, args, nullptr));

  std::vector<std::string> saved;
  for (const char* reg : {"ra", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2",
                          "t3", "t4", "t5", "t6"}) {
    saved.emplace_back(reg);
  }
  const std::size_t words = saved.size();
  for (int i = 0; i < 12; ++i) saved.push_back("ft" + std::to_string(i));
  for (int i = 0; i < 8; ++i) saved.push_back("fa" + std::to_string(i));
  const std::size_t bytes = words * 4 + (saved.size() - words) * 8;
  std::string text = fmt::format("addi sp, sp, -{}\n", bytes);
  const auto each = [&](const char* word, const char* number) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      text += fmt::format("{} {}, {}(sp)\n", i < words ? word : number, saved[i], at);
      at += i < words ? 4 : 8;
    }
  };
  each("sw", "fsd");
  text += fmt::format("fld fa0, {}(sp)\n", bytes);
  if (two) text += fmt::format("fld fa1, {}(sp)\n", bytes + 8);
  text += fmt::format("call {}_value\nfsd fa0, {}(sp)\n", name, bytes);
  each("lw", "fld");
  text += fmt::format("addi sp, sp, {}\nret\n", bytes);
  llvm::Function* around = function(name, b_.getVoidTy(), {});
  around->addFnAttr(llvm::Attribute::Naked);
  around->addFnAttr(llvm::Attribute::NoInline);
  auto* none = llvm::FunctionType::get(b_.getVoidTy(), false);
  b_.CreateCall(none, llvm::InlineAsm::get(none, text, "", true));
  b_.CreateUnreachable();
}

/// Registers with inputs are results, too, that nobody looks at: the assembly changes them.
void Emitter::region(const region::Code& code) {
  for (const ir::Op op : code.calls) routine(op);
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
  const std::string text = marks_ != nullptr ? code.text : unmarked(code.text);
  llvm::CallInst* call =
      b_.CreateCall(type, llvm::InlineAsm::get(type, text, constraints, true), args);
  call->setDoesNotThrow();
}

}  // namespace dojo::codegen
