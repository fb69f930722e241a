// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector scopes of any number of iterations on machines whose registers are as long as they are:
// strips of as many lanes as the device has, the last of as many as are left. On RISC-V the number
// of lanes is an operand of what touches memory, else it is a mask.
#include "codegen/emit_branch.h"
#include "codegen/emitter.h"

namespace dojo::codegen {

void Emitter::strips(const ir::Node& node) {
  const ir::Scope& scope = node.scope();
  if (scope.extent.isConstant()) return strip(node, integer(0), integer(scope.extent.count));
  const auto limit = [&](const ir::Access& access) {
    return b_.CreateSExtOrTrunc(read(access, nullptr), word_);
  };
  Value* first = limit(scope.extent.range->first);
  Value* last = limit(scope.extent.range->last);
  branch(b_.CreateICmpSLT(first, last), [&] { strip(node, first, last); });
}

void Emitter::strip(const ir::Node& node, Value* first, Value* last) {
  const ir::Scope& scope = node.scope();
  Lanes lanes;
  lanes.depth = static_cast<int>(variables_.size());
  lanes.chunks = &plan_.chunks.at(&node);
  lanes.masks.resize(1);
  lanes.most = ir::variableRange(program_, scope).hi;
  const Chunk& chunk = lanes.chunks->front();
  const auto count = llvm::ElementCount::getScalable(chunk.width);
  for (const ir::Leaf* leaf : apart(scope)) {
    const ir::DType type = program_.buffer(leaf->dst.buffer).dtype;
    Value* identity = numbers_.splat(numbers_.identity(leaf->assign, type), count);
    llvm::AllocaInst*& sum = lanes.sums[leaf];
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = state_.function->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    sum = b_.CreateAlloca(identity->getType(), nullptr, "sum");
    state_.sums.push_back(sum);
  }
  for (const auto& [leaf, sum] : lanes.sums) {
    const ir::DType type = program_.buffer(leaf->dst.buffer).dtype;
    b_.CreateStore(numbers_.splat(numbers_.identity(leaf->assign, type), count), sum);
  }

  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* block = llvm::BasicBlock::Create(b_.getContext(), "strip", state_.function);
  b_.CreateBr(block);
  b_.SetInsertPoint(block);
  llvm::PHINode* start = b_.CreatePHI(word_, 2, "i" + std::to_string(variables_.size()));
  start->addIncoming(first, before);
  Value* left = b_.CreateSub(last, start);
  Frame frame;
  frame.block = block;
  frame.before = before;
  frame.first = first;
  Value* length = nullptr;
  if (facts_.vectorLengths) {
    length = b_.CreateIntrinsic(llvm::Intrinsic::experimental_get_vector_length, {word_},
                                {left, b_.getInt32(chunk.width), b_.getTrue()});
    frame.stride = b_.CreateZExtOrTrunc(length, word_);
  } else {
    Value* whole = b_.CreateElementCount(word_, count);
    frame.stride = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, whole);
    lanes.active =
        b_.CreateIntrinsic(llvm::Intrinsic::get_active_lane_mask,
                           {Numbers::withLanes(b_.getInt1Ty(), count), word_}, {start, last});
  }
  // Partial addresses follow what was computed here.
  frame.last = &block->back();
  lanes.length = length;
  lanes_ = std::move(lanes);
  Variable variable;
  variable.kind = Variable::Kind::lane;
  variable.scalar = start;
  variable.frame = state_.frames.size();
  state_.frames.push_back(std::move(frame));
  body(scope, variable);
  closeLoop(start, last);
  state_.frames.pop_back();

  const auto sums = std::move(lanes_->sums);
  lanes_.reset();
  // The variable is in no element that is left: nothing reads it.
  variable = Variable{};
  variables_.push_back(variable);
  for (const auto& [leaf, sum] : sums) {
    const ir::DType type = program_.buffer(leaf->dst.buffer).dtype;
    Value* all = b_.CreateLoad(sum->getAllocatedType(), sum);
    Value* value = numbers_.horizontal(leaf->assign, all, type);
    Value* old = numbers_.compute(read(leaf->dst, nullptr), type);
    write(leaf->dst, nullptr,
          numbers_.hold(numbers_.combine(leaf->assign, old, value, type), type));
  }
  variables_.pop_back();
}

/// The reductions of a scope, outside of further scopes, into elements that no lane moves and
/// nothing else in the scope mentions.
std::vector<const ir::Leaf*> Emitter::apart(const ir::Scope& scope) const {
  std::vector<const ir::Leaf*> found;
  const auto depth = static_cast<int>(variables_.size());
  for (const ir::Node& node : scope.body) {
    if (!node.isLeaf() || !node.leaf().isReduction()) continue;
    const ir::Leaf& leaf = node.leaf();
    const auto& home = plan_.buffers[static_cast<std::size_t>(leaf.dst.buffer)].home;
    const std::int64_t most = ir::variableRange(program_, scope).hi;
    if (home.vector != nullptr ||
        moves::laneRelation(program_, leaf.dst, depth, most) != moves::LaneRelation::none) {
      continue;
    }
    bool alone = true;
    for (const ir::BufferId id : program_.sharing(leaf.dst.buffer)) {
      for (const ir::Node& other : scope.body) {
        if (&other != &node && ir::mentionsBuffer(other, id)) alone = false;
      }
      for (const ir::Operand& operand : leaf.operands) {
        const auto* access = std::get_if<ir::Access>(&operand);
        if (access == nullptr) continue;
        if (access->buffer == id) alone = false;
        for (const ir::Index& index : access->indices) alone = alone && index.gather != id;
      }
    }
    if (alone) found.push_back(&leaf);
  }
  return found;
}

Emitter::Value* Emitter::active() {
  if (lanes_->active != nullptr) return lanes_->active;
  // Of RISC-V; where it's asked for, not everywhere.
  const auto count = llvm::ElementCount::getScalable(lanes_->chunks->front().width);
  Value* numbers = b_.CreateStepVector(Numbers::withLanes(b_.getInt32Ty(), count));
  return b_.CreateICmpULT(numbers, numbers_.splat(lanes_->length, count));
}

void Emitter::addUp(const ir::Leaf& leaf, const Piece& piece, llvm::AllocaInst* sum) {
  const ir::DType type = program_.buffer(leaf.dst.buffer).dtype;
  Value* old = b_.CreateLoad(sum->getAllocatedType(), sum);
  Value* next = nullptr;
  if (leaf.assign == ir::Assign::fma) {
    Value* a = operand(leaf.operands[0], type, &piece);
    Value* b = operand(leaf.operands[1], type, &piece);
    next = numbers_.operate(ir::Op::fma, type, {a, b, old}, nullptr);
  } else {
    Value* value = numbers_.compute(numbers_.hold(rightSide(leaf, &piece), type), type);
    next = numbers_.combine(leaf.assign, old, value, type);
  }
  if (facts_.vectorLengths) {
    next = b_.CreateIntrinsic(llvm::Intrinsic::vp_merge, {next->getType()},
                              {laneMask(piece), next, old, length(piece)});
  } else {
    next = b_.CreateSelect(maskOf(piece), next, old);
  }
  b_.CreateStore(next, sum);
}

/// Lanes that no guard turns off, of those within the length.
Emitter::Value* Emitter::laneMask(const Piece& piece) {
  if (piece.guardMask != nullptr) return piece.guardMask;
  return llvm::Constant::getAllOnesValue(Numbers::withLanes(b_.getInt1Ty(), countOf(&piece)));
}

Emitter::Value* Emitter::length(const Piece& piece) {
  return piece.chunk->scalable ? lanes_->length : b_.getInt32(piece.chunk->active);
}

Emitter::Value* Emitter::readStrip(ir::BufferId buffer, const Offset& offset, const Piece& piece) {
  const ir::DType dtype = program_.buffer(buffer).dtype;
  const llvm::Align natural(static_cast<std::uint64_t>(ir::sizeBytes(dtype)));
  llvm::Type* type = Numbers::withLanes(numbers_.memory(dtype), countOf(&piece));
  llvm::Type* pointers = b_.getPtrTy();
  const bool affine = offset.laneOffsets == nullptr;
  if (!facts_.vectorLengths) {
    Value* zero = llvm::Constant::getNullValue(type);
    if (affine && offset.laneStride == 1) {
      return tag(b_.CreateMaskedLoad(type, pointer(buffer, offset), natural, maskOf(piece), zero),
                 buffer);
    }
    return tag(b_.CreateMaskedGather(type, lanePointers(buffer, offset, piece), natural,
                                     maskOf(piece), zero),
               buffer);
  }
  llvm::CallInst* load = nullptr;
  if (affine && offset.laneStride == 1) {
    load = b_.CreateIntrinsic(llvm::Intrinsic::vp_load, {type, pointers},
                              {pointer(buffer, offset), laneMask(piece), length(piece)});
  } else if (affine) {
    load = b_.CreateIntrinsic(
        llvm::Intrinsic::experimental_vp_strided_load, {type, pointers, word_},
        {pointer(buffer, offset), integer(offset.laneStride * ir::sizeBytes(dtype)),
         laneMask(piece), length(piece)});
  } else {
    Value* lanes = lanePointers(buffer, offset, piece);
    load = b_.CreateIntrinsic(llvm::Intrinsic::vp_gather, {type, lanes->getType()},
                              {lanes, laneMask(piece), length(piece)});
  }
  load->addParamAttr(0, llvm::Attribute::getWithAlignment(b_.getContext(), natural));
  return tag(load, buffer);
}

void Emitter::writeStrip(ir::BufferId buffer, const Offset& offset, const Piece& piece,
                         Value* value) {
  const ir::DType dtype = program_.buffer(buffer).dtype;
  const llvm::Align natural(static_cast<std::uint64_t>(ir::sizeBytes(dtype)));
  llvm::Type* type = value->getType();
  llvm::Type* pointers = b_.getPtrTy();
  const bool affine = offset.laneOffsets == nullptr;
  if (!facts_.vectorLengths) {
    if (affine && offset.laneStride == 1) {
      tag(b_.CreateMaskedStore(value, pointer(buffer, offset), natural, maskOf(piece)), buffer);
      return;
    }
    tag(b_.CreateMaskedScatter(value, lanePointers(buffer, offset, piece), natural, maskOf(piece)),
        buffer);
    return;
  }
  llvm::CallInst* store = nullptr;
  if (affine && offset.laneStride == 1) {
    store = b_.CreateIntrinsic(llvm::Intrinsic::vp_store, {type, pointers},
                               {value, pointer(buffer, offset), laneMask(piece), length(piece)});
  } else if (affine) {
    store = b_.CreateIntrinsic(
        llvm::Intrinsic::experimental_vp_strided_store, {type, pointers, word_},
        {value, pointer(buffer, offset), integer(offset.laneStride * ir::sizeBytes(dtype)),
         laneMask(piece), length(piece)});
  } else {
    Value* lanes = lanePointers(buffer, offset, piece);
    store = b_.CreateIntrinsic(llvm::Intrinsic::vp_scatter, {type, lanes->getType()},
                               {value, lanes, laneMask(piece), length(piece)});
  }
  store->addParamAttr(1, llvm::Attribute::getWithAlignment(b_.getContext(), natural));
  tag(store, buffer);
}

}  // namespace dojo::codegen
