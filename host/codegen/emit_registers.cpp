// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "codegen/emitter.h"

namespace dojo::codegen {

/// Stands for an SSA variable until the function is complete.
llvm::AllocaInst* Emitter::slot(ir::BufferId buffer, int index) {
  const auto id = static_cast<std::size_t>(buffer);
  llvm::AllocaInst*& known = state_.slots[id][static_cast<std::size_t>(index)];
  if (known != nullptr) return known;
  const Slot& shape = plan_.buffers[id].slots[static_cast<std::size_t>(index)];
  const ir::Buffer& declared = program_.buffers[id];
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = state_.function->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  return known = b_.CreateAlloca(
             Numbers::withLanes(numbers_.held(declared.dtype),
                                llvm::ElementCount::get(shape.width, shape.scalable)),
             nullptr, declared.name);
}

/// Where the accessed element of each iteration lives; one place for scalar code.
llvm::SmallVector<ElementPlace, 16> Emitter::placesOf(const ir::Access& access,
                                                      const Piece* piece) {
  const Offset offset = offsetOf(access, piece);
  DOJO_CHECK(offset.terms.empty() && offset.extra.empty(),
             "a register buffer is indexed by a loop");
  const BufferPlan& plan = plan_.buffers[static_cast<std::size_t>(access.buffer)];
  llvm::SmallVector<ElementPlace, 16> places;
  // All lanes of a strip are in one slot.
  const unsigned count = piece == nullptr || piece->chunk->scalable ? 1 : piece->chunk->active;
  for (unsigned lane = 0; lane < count; ++lane) {
    std::int64_t element = offset.constant + offset.laneStride * lane;
    if (offset.laneOffsets != nullptr) {
      auto* lanes = llvm::cast<llvm::Constant>(offset.laneOffsets);
      element += llvm::cast<llvm::ConstantInt>(lanes->getAggregateElement(lane))->getSExtValue();
    }
    // Only an iteration that a guard turns off is outside.
    const auto last = static_cast<std::int64_t>(plan.places.size()) - 1;
    places.push_back(
        plan.places[static_cast<std::size_t>(std::clamp<std::int64_t>(element, 0, last))]);
  }
  return places;
}

namespace {

/// Element i of the vector in lane i of the slot: the slot's value as it is.
bool inPlace(const llvm::SmallVector<ElementPlace, 16>& places, const Slot& slot, unsigned width) {
  if (slot.width != width) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].slot != places[0].slot || places[i].lane != static_cast<int>(i)) return false;
  }
  return true;
}

bool allSame(const llvm::SmallVector<ElementPlace, 16>& places) {
  return std::all_of(places.begin(), places.end(), [&](const ElementPlace& place) {
    return place.slot == places[0].slot && place.lane == places[0].lane;
  });
}

}  // namespace

Emitter::Value* Emitter::loadSlot(ir::BufferId buffer, int index) {
  llvm::AllocaInst* from = slot(buffer, index);
  return b_.CreateLoad(from->getAllocatedType(), from);
}

Emitter::Value* Emitter::readRegister(const ir::Access& access, const Piece* piece) {
  const auto places = placesOf(access, piece);
  const BufferPlan& plan = plan_.buffers[static_cast<std::size_t>(access.buffer)];
  const Slot& first = plan.slots[static_cast<std::size_t>(places[0].slot)];
  if (plan.byStrip) return loadSlot(access.buffer, places[0].slot);
  const bool moves = piece != nullptr && !piece->chunk->scalable &&
                     (piece->chunk->active > 1 || plan.home.vector != nullptr) &&
                     (!allSame(places) || plan.home.vector != nullptr);
  if (!moves) {
    Value* value = loadSlot(access.buffer, places[0].slot);
    return first.width == 0
               ? value
               : b_.CreateExtractElement(value, static_cast<std::uint64_t>(places[0].lane));
  }
  const unsigned width = piece->chunk->width;
  if (inPlace(places, first, width)) return loadSlot(access.buffer, places[0].slot);

  if (Value* found = column(access.buffer, places, width)) return found;
  Value* result = llvm::PoisonValue::get(
      llvm::FixedVectorType::get(numbers_.held(program_.buffer(access.buffer).dtype), width));
  std::vector<bool> done(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (done[i]) continue;
    const int from = places[i].slot;
    Value* value = loadSlot(access.buffer, from);
    const unsigned slotWidth = plan.slots[static_cast<std::size_t>(from)].width;
    llvm::SmallVector<int, 64> pick(width, -1);
    llvm::SmallVector<int, 64> blend(width);
    for (unsigned k = 0; k < width; ++k) blend[k] = static_cast<int>(k);
    for (std::size_t k = i; k < places.size(); ++k) {
      if (places[k].slot != from) continue;
      done[k] = true;
      const int lane = places[k].lane;
      pick[k] = lane;
      blend[k] = static_cast<int>(width) + (slotWidth == width ? lane : static_cast<int>(k));
      if (slotWidth == 0) {
        result = b_.CreateInsertElement(result, value, static_cast<std::uint64_t>(k));
      }
    }
    if (slotWidth == 0) continue;
    if (slotWidth != width) value = b_.CreateShuffleVector(value, pick);
    result = b_.CreateShuffleVector(result, value, blend);
  }
  return result;
}

void Emitter::writeRegister(const ir::Access& access, const Piece* piece, Value* held) {
  const auto places = placesOf(access, piece);
  const BufferPlan& plan = plan_.buffers[static_cast<std::size_t>(access.buffer)];
  if (state_.interleaved.buffer == access.buffer) state_.interleaved = {};
  if (piece == nullptr) {
    llvm::AllocaInst* to = slot(access.buffer, places[0].slot);
    if (plan.slots[static_cast<std::size_t>(places[0].slot)].width != 0) {
      held = b_.CreateInsertElement(b_.CreateLoad(to->getAllocatedType(), to), held,
                                    static_cast<std::uint64_t>(places[0].lane));
    }
    b_.CreateStore(held, to);
    return;
  }
  const unsigned width = piece->chunk->width;
  const Slot& first = plan.slots[static_cast<std::size_t>(places[0].slot)];
  if (plan.byStrip || (inPlace(places, first, width) && places.size() >= first.active)) {
    llvm::AllocaInst* to = slot(access.buffer, places[0].slot);
    if (piece->guardMask != nullptr) {
      held = b_.CreateSelect(piece->guardMask, held, b_.CreateLoad(to->getAllocatedType(), to));
    }
    b_.CreateStore(held, to);
    return;
  }
  std::vector<bool> done(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (done[i]) continue;
    const int index = places[i].slot;
    const Slot& shape = plan.slots[static_cast<std::size_t>(index)];
    llvm::AllocaInst* to = slot(access.buffer, index);
    Value* old = b_.CreateLoad(to->getAllocatedType(), to);
    Value* fresh = old;
    if (shape.width == 0) {
      done[i] = true;
      fresh = b_.CreateExtractElement(held, static_cast<std::uint64_t>(i));
      if (piece->guardMask != nullptr) {
        Value* on = b_.CreateExtractElement(piece->guardMask, static_cast<std::uint64_t>(i));
        fresh = b_.CreateSelect(on, fresh, old);
      }
      b_.CreateStore(fresh, to);
      continue;
    }
    llvm::SmallVector<int, 64> pick(shape.width, -1);
    llvm::SmallVector<int, 64> blend(shape.width);
    for (unsigned k = 0; k < shape.width; ++k) blend[k] = static_cast<int>(k);
    for (std::size_t k = i; k < places.size(); ++k) {
      if (places[k].slot != index) continue;
      done[k] = true;
      const auto lane = static_cast<std::size_t>(places[k].lane);
      pick[lane] = static_cast<int>(k);
      blend[lane] = static_cast<int>(shape.width + lane);
    }
    Value* moved = b_.CreateShuffleVector(held, pick);
    if (piece->guardMask != nullptr) {
      Value* no = llvm::Constant::getNullValue(piece->guardMask->getType());
      llvm::SmallVector<int, 64> on(pick.begin(), pick.end());
      for (int& lane : on) lane = lane < 0 ? static_cast<int>(width) : lane;
      fresh = b_.CreateSelect(b_.CreateShuffleVector(piece->guardMask, no, on), moved, old);
    } else {
      fresh = b_.CreateShuffleVector(old, moved, blend);
    }
    b_.CreateStore(fresh, to);
  }
}

}  // namespace dojo::codegen
