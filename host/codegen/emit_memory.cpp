// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/emit_branch.h"
#include "codegen/emitter.h"

namespace dojo::codegen {

using llvm::Align;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Type;

namespace {

constexpr std::int64_t kBufferAlign = 64;
constexpr std::int64_t kMostApart = 4;

std::int64_t modulo(std::int64_t value, std::int64_t n) { return ((value % n) + n) % n; }

}  // namespace

llvm::ElementCount Emitter::countOf(const Piece* piece) {
  return piece == nullptr ? llvm::ElementCount::getFixed(0)
                          : llvm::ElementCount::get(piece->chunk->width, piece->chunk->scalable);
}

Emitter::Value* Emitter::progression(Type* element, const Piece& piece, std::int64_t first,
                                     std::int64_t step) {
  if (piece.chunk->scalable) {
    Type* type = Numbers::withLanes(element, countOf(&piece));
    Value* numbers = b_.CreateStepVector(type);
    if (step == 1) return numbers;
    const llvm::APInt factor(64, static_cast<std::uint64_t>(step));
    return b_.CreateMul(numbers,
                        ConstantInt::get(type, factor.trunc(element->getIntegerBitWidth())));
  }
  llvm::SmallVector<Constant*, 64> values;
  for (unsigned i = 0; i < piece.chunk->width; ++i) {
    values.push_back(ConstantInt::get(element, static_cast<std::uint64_t>(first + step * i), true));
  }
  return llvm::ConstantVector::get(values);
}

ConstantInt* Emitter::integer(std::int64_t value) {
  return ConstantInt::get(
      b_.getContext(),
      llvm::APInt(64, static_cast<std::uint64_t>(value)).trunc(word_->getBitWidth()));
}

Type* Emitter::holding(const ir::Affine& expr, std::int64_t lo, std::int64_t hi) const {
  constexpr std::int64_t kSmall = std::int64_t{1} << 30;
  if (word_->getBitWidth() == 64) return word_;
  const ir::Interval values = ir::valueRange(expr, variableRanges());
  const bool small = std::min(values.lo, lo) > -kSmall && std::max(values.hi, hi) < kSmall;
  return llvm::IntegerType::get(word_->getContext(), small ? 32 : 64);
}

/// The address of a buffer, found at the start of the function.
Emitter::Value* Emitter::base(ir::BufferId buffer) {
  const auto id = static_cast<std::size_t>(plan_.buffers[static_cast<std::size_t>(buffer)].storage);
  Value*& known = state_.bases[id];
  if (known != nullptr) return known;
  const BufferPlan& plan = plan_.buffers[id];
  const ir::Buffer& declared = program_.buffers[id];
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = state_.function->getEntryBlock();
  if (plan.kind == BufferPlan::Kind::stack) {
    b_.SetInsertPoint(&entry, entry.begin());
    auto* storage = b_.CreateAlloca(llvm::ArrayType::get(numbers_.memory(declared.dtype),
                                                         static_cast<std::uint64_t>(plan.elements)),
                                    nullptr, declared.name);
    storage->setAlignment(Align(kBufferAlign));
    return known = storage;
  }
  Frame& frame = state_.frames.front();
  b_.SetInsertPoint(&entry, frame.last == nullptr ? entry.getFirstNonPHIOrDbgOrAlloca()
                                                  : std::next(frame.last->getIterator()));
  Value* place = b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), state_.buffers,
                                               static_cast<std::uint64_t>(plan.argument));
  auto* load = b_.CreateLoad(b_.getPtrTy(), place, declared.name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  frame.last = load;
  return known = load;
}

bool Emitter::movesWithLane(const ir::Affine& expr) const {
  return lanes_ && expr.uses(lanes_->depth);
}

Emitter::Value* Emitter::affine(const ir::Affine& expr, Type* type) {
  if (type == nullptr) type = word_;
  const auto number = [&](std::int64_t value) {
    return ConstantInt::get(
        type, llvm::APInt(64, static_cast<std::uint64_t>(value)).trunc(type->getIntegerBitWidth()));
  };
  std::int64_t constant = expr.constant();
  Value* sum = nullptr;
  for (const ir::Term& term : expr.terms()) {
    const Variable& variable = variables_[static_cast<std::size_t>(term.var)];
    if (variable.kind == Variable::Kind::constant) {
      constant += term.coef * variable.value;
      continue;
    }
    if (variable.scalar == nullptr) continue;  // A lane of a fixed number.
    Value* part = b_.CreateSExtOrTrunc(variable.scalar, type);
    if (term.coef != 1) part = b_.CreateMul(part, number(term.coef), "", false, true);
    sum = sum == nullptr ? part : b_.CreateAdd(sum, part);
  }
  if (sum == nullptr) return number(constant);
  return constant == 0 ? sum : b_.CreateAdd(sum, number(constant));
}

Emitter::Value* Emitter::affineLanes(const ir::Affine& expr, const Piece& piece, Type* integer) {
  const std::int64_t coef = expr.coef(lanes_->depth);
  const bool wider = integer->getIntegerBitWidth() > word_->getBitWidth();
  Value* uniform = b_.CreateTrunc(affine(expr, wider ? integer : word_), integer);
  return b_.CreateAdd(numbers_.splat(uniform, countOf(&piece)),
                      progression(integer, piece, coef * piece.chunk->first, coef));
}

Type* Emitter::laneOffsetType(ir::BufferId buffer) {
  const auto elements = plan_.buffers[static_cast<std::size_t>(buffer)].elements;
  return elements < (std::int64_t{1} << 30) ? b_.getInt32Ty() : b_.getInt64Ty();
}

void Emitter::addLanes(Offset& offset, Value* lanes) {
  offset.laneOffsets =
      offset.laneOffsets == nullptr ? lanes : b_.CreateAdd(offset.laneOffsets, lanes);
}

void Emitter::addAffine(Offset& offset, const ir::Affine& expr, std::int64_t scale,
                        const Piece* piece) {
  offset.constant += expr.constant() * scale;
  for (const ir::Term& term : expr.terms()) {
    const Variable& variable = variables_[static_cast<std::size_t>(term.var)];
    const std::int64_t coef = term.coef * scale;
    if (variable.kind == Variable::Kind::constant) {
      offset.constant += coef * variable.value;
    } else if (variable.kind == Variable::Kind::lane) {
      if (piece == nullptr) continue;
      offset.constant += coef * piece->chunk->first;
      offset.laneStride += coef;
    }
    if (variable.scalar != nullptr) {
      auto place = std::lower_bound(
          offset.terms.begin(), offset.terms.end(), term.var,
          [](const std::pair<int, std::int64_t>& known, int var) { return known.first < var; });
      if (place != offset.terms.end() && place->first == term.var) {
        place->second += coef;
      } else {
        offset.terms.insert(place, {term.var, coef});
      }
    }
  }
}

/// Index mod `fold`; multiples of it among the coefficients drop out.
void Emitter::addFolded(Offset& offset, const ir::Affine& expr, std::int64_t fold,
                        std::int64_t scale, const Piece* piece, Type* laneType) {
  std::int64_t constant = modulo(expr.constant(), fold);
  std::int64_t lane = 0;
  bool negative = false;
  ir::Affine scalars;
  for (const ir::Term& term : expr.terms()) {
    const Variable& variable = variables_[static_cast<std::size_t>(term.var)];
    const std::int64_t coef = modulo(term.coef, fold);
    if (coef == 0) continue;
    if (variable.kind == Variable::Kind::constant) {
      constant = modulo(constant + coef * modulo(variable.value, fold), fold);
    } else if (variable.kind == Variable::Kind::lane) {
      lane = coef;
    } else {
      negative = negative || variable.range.lo < 0;
      scalars += ir::Affine::variable(term.var, coef);
    }
  }
  const bool byLane = lane != 0 && piece != nullptr;
  if (scalars.isConstant() && !byLane) {
    offset.constant += constant * scale;
    return;
  }
  if (scalars.isConstant() && !piece->chunk->scalable) {
    llvm::SmallVector<Constant*, 64> values;
    for (unsigned i = 0; i < piece->chunk->width; ++i) {
      const std::int64_t number = lane * (piece->chunk->first + i) + constant;
      values.push_back(ConstantInt::get(
          laneType, static_cast<std::uint64_t>(modulo(number, fold) * scale), true));
    }
    return addLanes(offset, llvm::ConstantVector::get(values));
  }
  const std::int64_t most = byLane ? lane * lanes_->most : 0;
  ir::Affine uniform = scalars + ir::Affine(constant);
  if (byLane && piece->chunk->scalable) uniform += ir::Affine::variable(lanes_->depth, lane);
  Type* counted = holding(uniform + ir::Affine(most), 0, fold * scale);
  Value* number = affine(uniform, counted);
  if (byLane) {
    number = b_.CreateAdd(numbers_.splat(number, countOf(piece)),
                          progression(counted, *piece, lane * piece->chunk->first, lane));
  }
  Type* type = number->getType();
  const auto like = [&](std::int64_t n) {
    return ConstantInt::get(type, static_cast<std::uint64_t>(n), true);
  };
  if (std::has_single_bit(static_cast<std::uint64_t>(fold))) {
    number = b_.CreateAnd(number, like(fold - 1));
  } else {
    if (negative) number = b_.CreateAdd(b_.CreateSRem(number, like(fold)), like(fold));
    number = b_.CreateURem(number, like(fold));
  }
  number = b_.CreateMul(number, like(scale));
  if (!byLane) {
    offset.extra.push_back(b_.CreateSExtOrTrunc(number, word_));
  } else {
    addLanes(offset, b_.CreateSExtOrTrunc(number, type->getWithNewType(laneType)));
  }
}

void Emitter::addGather(Offset& offset, const ir::Index& index, const ir::Dim& dim,
                        std::int64_t scale, const Piece* piece, Type* laneType) {
  ir::Access access;
  access.buffer = index.gather;
  for (const ir::Affine& inner : index.gatherIndices) access.indices.emplace_back(inner);
  Value* number = read(access, piece);
  const bool byLane = number->getType()->isVectorTy();
  Type* element = byLane ? laneType : word_;
  Type* type = number->getType()->getWithNewType(element);
  number = program_.buffer(index.gather).dtype == ir::DType::u8
               ? b_.CreateZExtOrTrunc(number, type)
               : b_.CreateSExtOrTrunc(number, type);
  const auto like = [&](std::int64_t n) {
    return ConstantInt::get(type, static_cast<std::uint64_t>(n), true);
  };
  if (dim.fold > 1) number = b_.CreateURem(number, like(dim.fold));
  if (scale != 1) number = b_.CreateMul(number, like(scale));
  if (byLane) {
    addLanes(offset, number);
  } else {
    offset.extra.push_back(number);
  }
}

Emitter::Offset Emitter::offsetOf(const ir::Access& access, const Piece* piece) {
  const auto id = static_cast<std::size_t>(access.buffer);
  const BufferPlan& plan = plan_.buffers[id];
  const ir::Buffer& buffer = program_.buffers[id];
  Offset offset;
  Type* laneType = laneOffsetType(access.buffer);
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    const ir::Dim& dim = buffer.dims[d];
    if (dim.fold == 1) continue;
    if (index.isGather()) {
      addGather(offset, index, dim, plan.strides[d], piece, laneType);
    } else if (dim.fold == 0) {
      addAffine(offset, index.affine, plan.strides[d], piece);
    } else {
      addFolded(offset, index.affine, dim.fold, plan.strides[d], piece, laneType);
    }
  }
  if (plan.home.vector != nullptr && !plan.byStrip) {
    addAffine(offset, ir::Affine::variable(plan.home.vectorDepth), 1, piece);
  }
  return offset;
}

/// variable * factor where a frame's addresses are computed. Loops count along what an address mode
/// can't scale, so that no pass has to find it again.
Emitter::Value* Emitter::multiple(const Variable& variable, std::int64_t factor) {
  Frame& frame = state_.frames[variable.frame];
  const bool scales = factor == 1 || factor == 2 || factor == 4 || factor == 8;
  if (frame.before == nullptr || scales) {
    return factor == 1 ? variable.scalar
                       : b_.CreateMul(variable.scalar, integer(factor), "", false, true);
  }
  llvm::PHINode*& known = frame.multiples[factor];
  if (known != nullptr) return known;
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(frame.before->getTerminator());
  Value* first = b_.CreateMul(frame.first, integer(factor), "", false, true);
  b_.SetInsertPoint(frame.block, frame.block->begin());
  known = b_.CreatePHI(word_, 2);
  known->addIncoming(first, frame.before);
  return known;
}

/// pointer + variable * bytes, computed once in the variable's frame.
Emitter::Value* Emitter::step(const Variable& variable, Value* pointer, std::int64_t bytes) {
  Frame& frame = state_.frames[variable.frame];
  Value*& known = frame.steps[{pointer, variable.scalar, bytes}];
  if (known != nullptr) return known;
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  if (!facts_.sumsInAddresses && frame.before != nullptr) {
    b_.SetInsertPoint(frame.before->getTerminator());
    Value* offset = b_.CreateMul(frame.first, integer(bytes), "", false, true);
    Value* first = b_.CreateGEP(b_.getInt8Ty(), pointer, offset);
    b_.SetInsertPoint(frame.block, frame.block->begin());
    llvm::PHINode* counted = b_.CreatePHI(b_.getPtrTy(), 2);
    counted->addIncoming(first, frame.before);
    frame.pointers.emplace_back(counted, bytes);
    return known = counted;
  }
  b_.SetInsertPoint(frame.block, frame.last == nullptr ? frame.block->getFirstNonPHIOrDbgOrAlloca()
                                                       : std::next(frame.last->getIterator()));
  known = b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer, multiple(variable, bytes));
  frame.last = llvm::cast<llvm::Instruction>(known);
  return known;
}

Emitter::Value* Emitter::pointer(ir::BufferId buffer, const Offset& offset) {
  const std::int64_t size = ir::sizeBytes(program_.buffer(buffer).dtype);
  Value* result = base(buffer);
  for (const auto& [depth, coef] : offset.terms) {
    const Variable& variable = variables_[static_cast<std::size_t>(depth)];
    if (coef != 0) result = step(variable, result, coef * size);
  }
  for (Value* extra : offset.extra) {
    result = b_.CreateInBoundsGEP(numbers_.memory(program_.buffer(buffer).dtype), result, extra);
  }
  if (offset.constant != 0) {
    result = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), result,
                                           static_cast<std::uint64_t>(offset.constant * size));
  }
  return result;
}

Emitter::Value* Emitter::lanePointers(ir::BufferId buffer, const Offset& offset,
                                      const Piece& piece) {
  Value* lanes = offset.laneOffsets;
  if (offset.laneStride != 0) {
    Value* affinePart = progression(laneOffsetType(buffer), piece, 0, offset.laneStride);
    lanes = lanes == nullptr ? affinePart : b_.CreateAdd(lanes, affinePart);
  }
  return b_.CreateGEP(numbers_.memory(program_.buffer(buffer).dtype), pointer(buffer, offset),
                      lanes);
}

Align Emitter::alignment(ir::BufferId buffer, const Offset& offset) const {
  const std::int64_t size = ir::sizeBytes(program_.buffer(buffer).dtype);
  if (!offset.extra.empty()) return Align(static_cast<std::uint64_t>(size));
  std::int64_t common = std::gcd(kBufferAlign, offset.constant * size);
  for (const auto& [depth, coef] : offset.terms) common = std::gcd(common, coef * size);
  return Align(static_cast<std::uint64_t>(common));
}

Emitter::Value* Emitter::maskOf(const Piece& piece) {
  if (piece.chunk->scalable) {
    return piece.guardMask == nullptr ? active() : b_.CreateLogicalAnd(active(), piece.guardMask);
  }
  if (piece.chunk->active == piece.chunk->width) return piece.guardMask;
  llvm::SmallVector<Constant*, 64> bits;
  for (unsigned i = 0; i < piece.chunk->width; ++i) {
    bits.push_back(b_.getInt1(i < piece.chunk->active));
  }
  Value* tail = llvm::ConstantVector::get(bits);
  return piece.guardMask == nullptr ? tail : b_.CreateAnd(piece.guardMask, tail);
}

Emitter::Value* Emitter::read(const ir::Access& access, const Piece* piece) {
  if (plan_.buffers[static_cast<std::size_t>(access.buffer)].kind == BufferPlan::Kind::registers) {
    return readRegister(access, piece);
  }
  return numbers_.fromMemory(readMemory(access, piece), program_.buffer(access.buffer).dtype);
}

/// Lanes a few elements apart: whole vectors are loaded and the elements between are left out.
Emitter::Value* Emitter::readApart(ir::BufferId buffer, const Offset& offset, const Piece& piece) {
  const unsigned width = piece.chunk->width;
  const auto stride = static_cast<unsigned>(offset.laneStride);
  auto* type =
      llvm::FixedVectorType::get(numbers_.memory(program_.buffer(buffer).dtype), width * stride);
  // Nothing after the last lane, and beside a lane that is off nothing either.
  const unsigned last = (piece.chunk->active - 1) * stride;
  llvm::SmallVector<int, 64> pick;
  llvm::SmallVector<int, 64> spread;
  llvm::SmallVector<Constant*, 64> bits;
  for (unsigned i = 0; i < width; ++i) pick.push_back(static_cast<int>(i * stride));
  for (unsigned i = 0; i < width * stride; ++i) {
    const bool used = i % stride == 0 && i <= last;
    bits.push_back(b_.getInt1(i <= last));
    spread.push_back(static_cast<int>(used ? i / stride : width));
  }
  Value* mask = llvm::ConstantVector::get(bits);
  if (piece.guardMask != nullptr) {
    mask = b_.CreateShuffleVector(piece.guardMask,
                                  Constant::getNullValue(piece.guardMask->getType()), spread);
  }
  Value* whole = tag(b_.CreateMaskedLoad(type, pointer(buffer, offset), alignment(buffer, offset),
                                         mask, Constant::getNullValue(type)),
                     buffer);
  return b_.CreateShuffleVector(whole, pick);
}

Emitter::Value* Emitter::readMemory(const ir::Access& access, const Piece* piece) {
  const ir::DType dtype = program_.buffer(access.buffer).dtype;
  Type* element = numbers_.memory(dtype);
  const Align natural(static_cast<std::uint64_t>(ir::sizeBytes(dtype)));
  const Offset offset = offsetOf(access, piece);
  if (piece == nullptr || !offset.movesWithLane()) {
    return tag(b_.CreateAlignedLoad(element, pointer(access.buffer, offset), natural),
               access.buffer);
  }
  if (piece->chunk->scalable || facts_.vectorLengths) {
    return readStrip(access.buffer, offset, *piece);
  }
  const unsigned width = piece->chunk->width;
  Type* type = llvm::FixedVectorType::get(element, width);
  Value* mask = maskOf(*piece);
  if (offset.laneOffsets == nullptr && offset.laneStride == 1) {
    Value* from = pointer(access.buffer, offset);
    const Align align = alignment(access.buffer, offset);
    if (mask == nullptr) return tag(b_.CreateAlignedLoad(type, from, align), access.buffer);
    return tag(b_.CreateMaskedLoad(type, from, align, mask, Constant::getNullValue(type)),
               access.buffer);
  }
  if (offset.laneOffsets == nullptr && offset.laneStride > 1 && offset.laneStride <= kMostApart) {
    return readApart(access.buffer, offset, *piece);
  }
  if (mask == nullptr)
    mask = Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), width));
  return tag(b_.CreateMaskedGather(type, lanePointers(access.buffer, offset, *piece), natural, mask,
                                   Constant::getNullValue(type)),
             access.buffer);
}

void Emitter::write(const ir::Access& access, const Piece* piece, Value* held) {
  if (plan_.buffers[static_cast<std::size_t>(access.buffer)].kind == BufferPlan::Kind::registers) {
    return writeRegister(access, piece, held);
  }
  const ir::DType dtype = program_.buffer(access.buffer).dtype;
  Value* value = numbers_.toMemory(held, dtype);
  const Align natural(static_cast<std::uint64_t>(ir::sizeBytes(dtype)));
  const Offset offset = offsetOf(access, piece);
  if (piece == nullptr) {
    tag(b_.CreateAlignedStore(value, pointer(access.buffer, offset), natural), access.buffer);
    return;
  }
  if (piece->chunk->scalable || facts_.vectorLengths) {
    return writeStrip(access.buffer, offset, *piece, value);
  }
  const unsigned width = piece->chunk->width;
  Value* mask = maskOf(*piece);
  if (offset.laneOffsets == nullptr && offset.laneStride == 1) {
    Value* to = pointer(access.buffer, offset);
    const Align align = alignment(access.buffer, offset);
    if (mask == nullptr) {
      tag(b_.CreateAlignedStore(value, to, align), access.buffer);
    } else {
      tag(b_.CreateMaskedStore(value, to, align, mask), access.buffer);
    }
    return;
  }
  if (mask == nullptr)
    mask = Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), width));
  tag(b_.CreateMaskedScatter(value, lanePointers(access.buffer, offset, *piece), natural, mask),
      access.buffer);
}

}  // namespace dojo::codegen
