// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "codegen/emitter.h"

namespace dojo::codegen {
/// The body becomes a function of its own, `void(context, iteration)`. The context holds the array
/// of buffers, the loop variables around it, addresses of stack buffers that iterations share, and
/// the values of register buffers that they read.
void Emitter::parallel(const ir::Node& node) {
  const ir::Scope& scope = node.scope();

  std::vector<Value*> captured{state_.buffers};
  std::vector<std::size_t> variables;
  for (std::size_t depth = 0; depth < variables_.size(); ++depth) {
    if (variables_[depth].kind != Variable::Kind::scalar) continue;
    if (!ir::mentionsVariable(node, static_cast<int>(depth))) continue;
    variables.push_back(depth);
    captured.push_back(variables_[depth].scalar);
  }
  struct Shared {
    ir::BufferId buffer;
    int slot;  ///< -1: the address of a stack buffer.
  };
  std::vector<Shared> shared;
  for (ir::BufferId id = 0; id < static_cast<ir::BufferId>(program_.buffers.size()); ++id) {
    const BufferPlan& plan = plan_.buffers[static_cast<std::size_t>(id)];
    const bool inside = plan.home.parallel == &node;
    if (plan.kind == BufferPlan::Kind::passed || plan.storage != id || inside) continue;
    const std::vector<ir::BufferId> here = program_.sharing(id);
    if (std::none_of(here.begin(), here.end(),
                     [&](ir::BufferId each) { return ir::mentionsBuffer(node, each); })) {
      continue;
    }
    if (plan.kind == BufferPlan::Kind::stack) {
      shared.push_back({id, -1});
      captured.push_back(base(id));
      continue;
    }
    for (std::size_t k = 0; k < plan.slots.size(); ++k) {
      llvm::AllocaInst* from = state_.slots[static_cast<std::size_t>(id)][k];
      if (from == nullptr) continue;
      shared.push_back({id, static_cast<int>(k)});
      captured.push_back(b_.CreateLoad(from->getAllocatedType(), from));
    }
  }

  std::vector<llvm::Type*> types;
  for (Value* value : captured) types.push_back(value->getType());
  auto* contextType = llvm::StructType::get(b_.getContext(), types);
  llvm::AllocaInst* context = nullptr;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = state_.function->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    context = b_.CreateAlloca(contextType, nullptr, "context");
  }
  for (std::size_t i = 0; i < captured.size(); ++i) {
    b_.CreateStore(captured[i], b_.CreateStructGEP(contextType, context, static_cast<unsigned>(i)));
  }

  auto* bodyType = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty()}, false);
  auto* bodyFunction =
      llvm::Function::Create(bodyType, llvm::GlobalValue::InternalLinkage, "dojo_body", module_);
  const llvm::FunctionCallee service = module_.getOrInsertFunction(
      kParallelFor, llvm::FunctionType::get(
                        b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false));
  b_.CreateCall(service, {bodyFunction, context,
                          b_.getInt64(static_cast<std::uint64_t>(scope.extent.count))});

  const FunctionState outerState = std::move(state_);
  const std::vector<Variable> outerVariables = variables_;
  const auto outerPoint = b_.saveIP();
  const llvm::DebugLoc outerMark = b_.getCurrentDebugLocation();

  enterFunction(bodyFunction);
  std::size_t field = 0;
  const auto next = [&](const llvm::Twine& name) {
    Value* from =
        b_.CreateStructGEP(contextType, bodyFunction->getArg(0), static_cast<unsigned>(field));
    return b_.CreateLoad(types[field++], from, name);
  };
  state_.buffers = next("buffers");
  for (const std::size_t depth : variables) {
    variables_[depth].scalar = next("i" + llvm::Twine(depth));
    variables_[depth].frame = 0;
  }
  for (const Shared& one : shared) {
    Value* value = next(program_.buffer(one.buffer).name);
    if (one.slot < 0) {
      state_.bases[static_cast<std::size_t>(one.buffer)] = value;
    } else {
      b_.CreateStore(value, slot(one.buffer, one.slot));
    }
  }
  Value* iteration = b_.CreateTrunc(bodyFunction->getArg(1), word_);
  // Partial addresses follow what was loaded here.
  llvm::BasicBlock& entry = bodyFunction->getEntryBlock();
  state_.frames.front().last = &entry.back();

  Variable variable;
  variable.kind = Variable::Kind::scalar;
  variable.scalar = iteration;
  body(scope, variable);
  leaveFunction();

  state_ = outerState;
  variables_ = outerVariables;
  b_.restoreIP(outerPoint);
  b_.SetCurrentDebugLocation(outerMark);
}

}  // namespace dojo::codegen
