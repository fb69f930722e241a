// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "codegen/codegen.h"
#include "codegen/emit_branch.h"
#include "codegen/emitter.h"
#include "codegen/lines.h"

namespace dojo::codegen {
namespace {

constexpr unsigned kMostSve = 2048;  ///< Bits, by the architecture.

}  // namespace

Emitter::Emitter(llvm::Module& module, const ir::Program& program, const Plan& plan,
                 const MachineFacts& facts)
    : module_(module),
      word_(module.getDataLayout().getIntPtrType(module.getContext())),
      program_(program),
      plan_(plan),
      facts_(facts),
      b_(module.getContext()),
      numbers_(b_, facts.arithmetic) {
  llvm::MDBuilder metadata(module.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain("buffers");
  // Every addressable storage apart from all others; the rest has no memory.
  std::vector<llvm::MDNode*> scopes;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const bool addressed = plan.buffers[i].kind != BufferPlan::Kind::registers;
    if (program.buffers[i].shares >= 0) {
      scopes.push_back(scopes[static_cast<std::size_t>(program.buffers[i].shares)]);
      continue;
    }
    scopes.push_back(addressed ? metadata.createAnonymousAliasScope(domain, program.buffers[i].name)
                               : nullptr);
  }
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (std::size_t k = 0; k < scopes.size() && scopes[i] != nullptr; ++k) {
      const bool first = program.buffers[k].shares < 0;
      if (first && scopes[k] != scopes[i] && scopes[k] != nullptr) others.push_back(scopes[k]);
    }
    aliasScope_.push_back(scopes[i] == nullptr ? nullptr
                                               : llvm::MDNode::get(module.getContext(), scopes[i]));
    aliasOthers_.push_back(llvm::MDNode::get(module.getContext(), others));
  }
}

Status Emitter::run() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntry, module_);
  enterFunction(function);
  state_.buffers = function->getArg(0);
  state_.buffers->setName("buffers");
  nodes(program_.body);
  leaveFunction();
  return failure_;
}

void Emitter::decorate(llvm::Function* function) const {
  function->setDoesNotThrow();
  if (!facts_.cpu.empty()) function->addFnAttr("target-cpu", facts_.cpu);
  if (!facts_.features.empty()) function->addFnAttr("target-features", facts_.features);
  if (facts_.leastVectorBits > 0) {
    const auto least = static_cast<unsigned>(facts_.leastVectorBits / 128);
    function->addFnAttr(
        llvm::Attribute::getWithVScaleRangeArgs(module_.getContext(), least, kMostSve / 128));
  }
  if (facts_.vectorBits > 0) {
    const std::string bits = std::to_string(facts_.vectorBits);
    function->addFnAttr("prefer-vector-width", bits);
    function->addFnAttr("min-legal-vector-width", bits);
  }
  function->addFnAttr("no-builtins");
}

void Emitter::enterFunction(llvm::Function* function) {
  decorate(function);
  state_ = FunctionState{};
  state_.function = function;
  state_.bases.resize(program_.buffers.size());
  state_.slots.resize(program_.buffers.size());
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    state_.slots[i].resize(plan_.buffers[i].slots.size());
  }
  auto* entry = llvm::BasicBlock::Create(b_.getContext(), "entry", function);
  b_.SetInsertPoint(entry);
  if (marks_ != nullptr) {
    marks_->enter(*function);
    b_.SetCurrentDebugLocation(LineMarks::around(*function));
  }
  Frame frame;
  frame.block = entry;
  state_.frames.push_back(std::move(frame));
}

void Emitter::leaveFunction() {
  b_.CreateRetVoid();
  std::vector<llvm::AllocaInst*> slots;
  for (const auto& ofBuffer : state_.slots) {
    for (llvm::AllocaInst* slot : ofBuffer) {
      if (slot != nullptr) slots.push_back(slot);
    }
  }
  slots.insert(slots.end(), state_.sums.begin(), state_.sums.end());
  if (slots.empty()) return;
  llvm::DominatorTree dominators(*state_.function);
  llvm::PromoteMemToReg(slots, dominators);
}

void Emitter::nodes(const std::vector<ir::Node>& body) {
  for (const ir::Node& child : body) {
    if (!failure_) return;
    settle(child);
    const llvm::DebugLoc outer = b_.getCurrentDebugLocation();
    if (marks_ != nullptr) b_.SetCurrentDebugLocation(marks_->at(child, *state_.function));
    node(child);
    b_.SetCurrentDebugLocation(outer);
  }
  settleBody();
}

Emitter::Value* Emitter::inRange(Value* value, const ir::GuardTerm& term) {
  llvm::Type* type = value->getType();
  const auto number = [&](std::int64_t n) {
    return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(n), true);
  };
  if (term.hi <= term.lo)
    return llvm::Constant::getNullValue(llvm::CmpInst::makeCmpResultType(type));
  return b_.CreateICmpULT(b_.CreateSub(value, number(term.lo)), number(term.hi - term.lo));
}

/// The guarded expression for each lane, in 32 bits where they hold it: twice the lanes a register.
Emitter::Value* Emitter::guardLanes(const ir::GuardTerm& term, const Piece& piece) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 30;
  const auto small = [](std::int64_t lo, std::int64_t hi) { return lo > -kSmall && hi < kSmall; };
  const ir::Interval values = ir::valueRange(term.expr, variableRanges());
  if (!small(values.lo, values.hi) || !small(term.lo, term.hi)) {
    return affineLanes(term.expr, piece, b_.getInt64Ty());
  }
  return affineLanes(term.expr, piece, b_.getInt32Ty());
}

std::vector<ir::Interval> Emitter::variableRanges() const {
  std::vector<ir::Interval> ranges;
  for (const Variable& variable : variables_) ranges.push_back(variable.range);
  return ranges;
}

void Emitter::node(const ir::Node& node) {
  Value* condition = nullptr;
  std::vector<Value*> masks;
  for (const ir::GuardTerm& term : node.guard) {
    if (!movesWithLane(term.expr)) {
      Value* holds = inRange(affine(term.expr, holding(term.expr, term.lo, term.hi)), term);
      condition = condition == nullptr ? holds : b_.CreateAnd(condition, holds);
    }
  }
  branch(condition, [&] {
    if (!lanes_) return unguarded(node);
    const std::vector<Value*> outer = lanes_->masks;
    bool masked = false;
    bool possible = false;
    for (std::size_t c = 0; c < outer.size(); ++c) {
      const Piece piece{&(*lanes_->chunks)[c], nullptr};
      Value* mask = outer[c];
      for (const ir::GuardTerm& term : node.guard) {
        if (!movesWithLane(term.expr)) continue;
        Value* holds = inRange(guardLanes(term, piece), term);
        mask = mask == nullptr ? holds : b_.CreateAnd(mask, holds);
        masked = true;
      }
      if (mask != nullptr && llvm::isa<llvm::Constant>(mask)) {
        if (llvm::cast<llvm::Constant>(mask)->isAllOnesValue()) mask = nullptr;
      }
      lanes_->masks[c] = mask;
      possible = possible || mask == nullptr || !llvm::isa<llvm::Constant>(mask) ||
                 !llvm::cast<llvm::Constant>(mask)->isNullValue();
    }
    if (!masked) {
      unguarded(node);
    } else if (possible) {
      Value* some = nullptr;
      if (needsSomeLane(node)) {
        for (const Piece& piece : pieces()) {
          const bool all = piece.guardMask == nullptr;
          Value* mask = all || !piece.chunk->scalable ? piece.guardMask : maskOf(piece);
          Value* any = all ? static_cast<Value*>(b_.getTrue()) : b_.CreateOrReduce(mask);
          some = some == nullptr ? any : b_.CreateOr(some, any);
        }
      }
      branch(some, [&] { unguarded(node); });
    }
    lanes_->masks = outer;
  });
}

/// Under a mask that may turn every lane off: scopes are skipped then, and so are leaves with an
/// element that no lane moves and that may then lie outside its buffer.
bool Emitter::needsSomeLane(const ir::Node& node) const {
  if (node.isScope()) return true;
  bool needed = false;
  ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) {
    const auto& plan = plan_.buffers[static_cast<std::size_t>(access.buffer)];
    if (plan.kind != BufferPlan::Kind::registers && !alwaysInside(access)) needed = true;
  });
  return needed;
}

bool Emitter::alwaysInside(const ir::Access& access) const {
  const ir::Buffer& buffer = program_.buffer(access.buffer);
  const std::vector<ir::Interval> ranges = variableRanges();
  bool uniform = true;
  for (const ir::Index& index : access.indices) {
    if (index.isGather()) return false;
    uniform = uniform && !movesWithLane(index.affine);
  }
  if (!uniform) return true;  // Read and written under the mask.
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Interval values = ir::valueRange(access.indices[d].affine, ranges);
    if (values.lo < 0 || values.hi > buffer.dims[d].extent) return false;
  }
  return true;
}

void Emitter::unguarded(const ir::Node& node) {
  if (transfer_) {
    node.isLeaf() ? transferCall() : transferScope(node);
  } else if (node.instruction >= 0) {
    instruction(node);
  } else if (node.isLeaf()) {
    leaf(node.leaf());
  } else {
    scope(node);
  }
}

void Emitter::scope(const ir::Node& node) {
  const ir::Scope& scope = node.scope();
  if (const auto found = plan_.regions.find(&node); found != plan_.regions.end()) {
    return region(found->second);
  }
  if (scope.mapping.has(ir::MapKind::dma)) return transfer(node);
  const bool vector = scope.mapping.has(ir::MapKind::vector);
  if (vector && plan_.chunks.at(&node).front().scalable) return strips(node);
  if (!scope.extent.isConstant()) {
    const auto limit = [&](const ir::Access& access) {
      return b_.CreateSExtOrTrunc(read(access, nullptr), word_);
    };
    Value* first = limit(scope.extent.range->first);
    Value* last = limit(scope.extent.range->last);
    return sequential(scope, first, last, true);
  }
  const std::int64_t count = scope.extent.count;
  if (count <= 0) return;
  if (vector) return vectorized(node);
  if (scope.mapping.has(ir::MapKind::parallel)) return parallel(node);
  if (scope.mapping.has(ir::MapKind::unroll) || count == 1) return unrolled(scope);
  sequential(scope, integer(0), integer(count), false);
}

void Emitter::body(const ir::Scope& scope, Variable variable) {
  variable.range = variable.kind == Variable::Kind::constant
                       ? ir::Interval{variable.value, variable.value + 1}
                       : ir::variableRange(program_, scope);
  variables_.push_back(variable);
  nodes(scope.body);
  variables_.pop_back();
}

void Emitter::unrolled(const ir::Scope& scope) {
  for (std::int64_t i = 0; i < scope.extent.count && failure_.ok(); ++i) {
    Variable variable;
    variable.value = i;
    body(scope, variable);
  }
}

void Emitter::vectorized(const ir::Node& node) {
  Lanes lanes;
  lanes.depth = static_cast<int>(variables_.size());
  lanes.chunks = &plan_.chunks.at(&node);
  lanes.masks.resize(lanes.chunks->size());
  lanes.most = node.scope().extent.count;
  lanes_ = std::move(lanes);
  Variable variable;
  variable.kind = Variable::Kind::lane;
  body(node.scope(), variable);
  lanes_.reset();
}

void Emitter::sequential(const ir::Scope& scope, Value* first, Value* last, bool mayBeEmpty) {
  const auto loop = [&] {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* block = llvm::BasicBlock::Create(b_.getContext(), "loop", state_.function);
    b_.CreateBr(block);
    b_.SetInsertPoint(block);
    llvm::PHINode* i = b_.CreatePHI(word_, 2, "i" + std::to_string(variables_.size()));
    i->addIncoming(first, before);
    Variable variable;
    variable.kind = Variable::Kind::scalar;
    variable.scalar = i;
    variable.frame = state_.frames.size();
    Frame frame;
    frame.block = block;
    frame.before = before;
    frame.first = first;
    state_.frames.push_back(std::move(frame));
    body(scope, variable);
    closeLoop(i, last);
    state_.frames.pop_back();
  };
  branch(mayBeEmpty ? b_.CreateICmpSLT(first, last) : nullptr, loop);
}

void Emitter::closeLoop(llvm::PHINode* variable, Value* last) {
  const Frame& frame = state_.frames.back();
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  const auto scaled = [&](std::int64_t by) -> Value* {
    return frame.stride == nullptr ? integer(by) : b_.CreateMul(frame.stride, integer(by));
  };
  const auto advance = [&](llvm::PHINode* phi, std::int64_t by) {
    Value* next = b_.CreateAdd(phi, scaled(by));
    phi->addIncoming(next, latch);
    return next;
  };
  for (const auto& [phi, by] : frame.pointers) {
    phi->addIncoming(b_.CreateGEP(b_.getInt8Ty(), phi, scaled(by)), latch);
  }
  Value* ended = nullptr;
  for (const auto& [factor, phi] : frame.multiples) {
    Value* next = advance(phi, factor);
    // One count is enough where nothing else asks for the variable.
    if (ended == nullptr && variable->use_empty()) {
      ended = b_.CreateICmpEQ(next, b_.CreateMul(last, integer(factor), "", false, true));
    }
  }
  if (ended == nullptr) {
    ended = b_.CreateICmpEQ(advance(variable, 1), last);
  } else {
    variable->eraseFromParent();
  }
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "end", state_.function);
  b_.CreateCondBr(ended, after, frame.block);
  b_.SetInsertPoint(after);
}

}  // namespace dojo::codegen
