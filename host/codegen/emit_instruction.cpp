// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vendors' instructions: operands into registers, the assembly, results back.
#include <llvm/IR/InlineAsm.h>

#include "codegen/emit_branch.h"
#include "codegen/emitter.h"
#include "ir/instruction.h"
#include "moves/instructions.h"

namespace dojo::codegen {
namespace {

using llvm::Type;

/// The access at one position of a box.
ir::Access elementOf(const ir::Access& box, int depth, const std::vector<std::int64_t>& position) {
  ir::Access out = box;
  for (ir::Index& index : out.indices) {
    for (std::size_t k = 0; k < position.size(); ++k) {
      index.affine = index.affine.substitute(depth + static_cast<int>(k), position[k]);
    }
  }
  return out;
}

/// Calls `fn` on every position of the operand in the order of its dims.
template <class Fn>
void forEachPosition(const ir::Buffer& operand, const Fn& fn) {
  std::vector<std::int64_t> position(operand.dims.size());
  for (std::int64_t n = 0; n < operand.logicalElements(); ++n) {
    std::int64_t rest = n;
    for (std::size_t k = position.size(); k-- > 0;) {
      position[k] = rest % operand.dims[k].extent;
      rest /= operand.dims[k].extent;
    }
    fn(position);
  }
}

/// {name} becomes the number that `numbers` has for it; what means something to LLVM is escaped.
std::string assemblyFor(const std::string& text, const std::map<std::string, unsigned>& numbers) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool twice = at + 1 < text.size() && text[at + 1] == c;
    if (c == '{' && !twice) {
      const std::size_t end = text.find('}', at);
      out += '$' + std::to_string(numbers.at(text.substr(at + 1, end - at - 1)));
      at = end;
    } else {
      out += c == '$' ? "$$" : std::string(1, c);
      if ((c == '{' || c == '}') && twice) ++at;
    }
  }
  return out;
}

}  // namespace

/// What holds the operand while the instruction runs.
Type* Emitter::passedType(const ir::Buffer& operand, const std::string& constraint) {
  Type* element = numbers_.memory(operand.dtype);
  const std::int64_t count = operand.logicalElements();
  const auto bits = static_cast<unsigned>(count * ir::sizeBytes(operand.dtype) * 8);
  if (constraint == "r") return b_.getIntNTy(std::max(facts_.registerBits, bits));
  if (constraint == "f" && count > 1) return bits > 32 ? b_.getDoubleTy() : b_.getFloatTy();
  return count == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
}

/// All elements of a box in the order of its dims, as they lie in memory: a vector, or a scalar
/// where there is one; of a word the integer.
Emitter::Value* Emitter::readBox(const Box& box) {
  const auto count = static_cast<unsigned>(box.operand->logicalElements());
  const ir::DType dtype = box.operand->dtype;
  Type* element = numbers_.memory(dtype);
  const auto size = static_cast<unsigned>(ir::sizeBytes(dtype)) * 8;
  if (plan_.buffers[static_cast<std::size_t>(box.access.buffer)].kind !=
      BufferPlan::Kind::registers) {
    const moves::BoxLayout layout = *moves::layoutOf(program_, *box.operand, box.access, box.depth);
    const auto run = static_cast<unsigned>(layout.run);
    const Offset offset =
        offsetOf(elementOf(box.access, box.depth, std::vector<std::int64_t>(layout.strides.size())),
                 nullptr);
    const auto load = [&](Type* type) {
      return tag(b_.CreateAlignedLoad(type, pointer(box.access.buffer, offset),
                                      alignment(box.access.buffer, offset)),
                 box.access.buffer);
    };
    if (run == count) {
      if (box.word) return load(b_.getIntNTy(count * size));
      return load(count == 1 ? element : llvm::FixedVectorType::get(element, count));
    }
    llvm::SmallVector<int, 64> pick;
    bool again = true;  // The same run, over and over.
    forEachPosition(*box.operand, [&](const std::vector<std::int64_t>& position) {
      std::int64_t at = 0;
      for (std::size_t k = 0; k < position.size(); ++k) at += position[k] * layout.strides[k];
      again = again && at == static_cast<std::int64_t>(pick.size()) % layout.run;
      pick.push_back(static_cast<int>(at));
    });
    Value* value = nullptr;
    auto* type = llvm::FixedVectorType::get(element, count);
    if (again && (run == 1 || run * size <= 64)) {
      // One word in all lanes is what machines have instructions for.
      value =
          b_.CreateVectorSplat(count / run, load(run == 1 ? element : b_.getIntNTy(run * size)));
      value = b_.CreateBitCast(value, type);
    } else {
      value = b_.CreateShuffleVector(load(llvm::FixedVectorType::get(element, run)), pick);
    }
    return box.word ? b_.CreateBitCast(value, b_.getIntNTy(count * size)) : value;
  }
  const BufferPlan& plan = plan_.buffers[static_cast<std::size_t>(box.access.buffer)];
  const std::vector<ElementPlace> places = placesOf(box);
  const Slot& first = plan.slots[static_cast<std::size_t>(places[0].slot)];
  if (count > 1 && wholeSlot(places, first)) {
    Value* value = numbers_.toMemory(loadSlot(box.access.buffer, places[0].slot), dtype);
    return box.word ? b_.CreateBitCast(value, b_.getIntNTy(count * size)) : value;
  }
  const auto scalar = [&](const ElementPlace& place) {
    Value* value = loadSlot(box.access.buffer, place.slot);
    if (plan.slots[static_cast<std::size_t>(place.slot)].width != 0) {
      value = b_.CreateExtractElement(value, static_cast<std::uint64_t>(place.lane));
    }
    return numbers_.toMemory(value, dtype);
  };
  if (count == 1) return scalar(places[0]);
  if (box.word) {
    Type* word = b_.getIntNTy(count * size);
    Value* out = llvm::ConstantInt::get(word, 0);
    for (unsigned i = 0; i < count; ++i) {
      Value* bits = b_.CreateZExt(b_.CreateBitCast(scalar(places[i]), b_.getIntNTy(size)), word);
      out = b_.CreateOr(out, b_.CreateShl(bits, std::uint64_t{i} * size));
    }
    return out;
  }
  Value* out = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, count));
  for (unsigned i = 0; i < count; ++i) {
    out = b_.CreateInsertElement(out, scalar(places[i]), std::uint64_t{i});
  }
  return out;
}

void Emitter::writeBox(const Box& box, Value* value) {
  const auto count = static_cast<unsigned>(box.operand->logicalElements());
  const ir::DType dtype = box.operand->dtype;
  Type* element = numbers_.memory(dtype);
  BufferPlan const& plan = plan_.buffers[static_cast<std::size_t>(box.access.buffer)];
  if (plan.kind != BufferPlan::Kind::registers) {
    const Offset offset = offsetOf(
        elementOf(box.access, box.depth, std::vector<std::int64_t>(box.operand->dims.size())),
        nullptr);
    tag(b_.CreateAlignedStore(value, pointer(box.access.buffer, offset),
                              alignment(box.access.buffer, offset)),
        box.access.buffer);
    return;
  }
  if (state_.interleaved.buffer == box.access.buffer) state_.interleaved = {};
  const std::vector<ElementPlace> places = placesOf(box);
  const Slot& first = plan.slots[static_cast<std::size_t>(places[0].slot)];
  if (box.word) {
    value = b_.CreateBitCast(value, llvm::FixedVectorType::get(element, count));
  }
  if (count > 1 && wholeSlot(places, first)) {
    b_.CreateStore(numbers_.fromMemory(value, dtype), slot(box.access.buffer, places[0].slot));
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    Value* held = numbers_.fromMemory(
        count == 1 ? value : b_.CreateExtractElement(value, std::uint64_t{i}), dtype);
    llvm::AllocaInst* to = slot(box.access.buffer, places[i].slot);
    if (plan.slots[static_cast<std::size_t>(places[i].slot)].width != 0) {
      held = b_.CreateInsertElement(b_.CreateLoad(to->getAllocatedType(), to), held,
                                    static_cast<std::uint64_t>(places[i].lane));
    }
    b_.CreateStore(held, to);
  }
}

std::vector<ElementPlace> Emitter::placesOf(const Box& box) {
  std::vector<ElementPlace> out;
  forEachPosition(*box.operand, [&](const std::vector<std::int64_t>& position) {
    out.push_back(placesOf(elementOf(box.access, box.depth, position), nullptr)[0]);
  });
  return out;
}

bool Emitter::wholeSlot(const std::vector<ElementPlace>& places, const Slot& slot) {
  if (slot.width != places.size() || slot.active != places.size()) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].slot != places[0].slot || places[i].lane != static_cast<int>(i)) return false;
  }
  return true;
}

/// From what readBox gives to what the register holds.
Emitter::Value* Emitter::passed(const Box& box, const std::string& constraint) {
  Value* value = readBox(box);
  Type* type = passedType(*box.operand, constraint);
  if (value->getType() == type) return value;
  if (constraint != "r") return b_.CreateBitCast(value, type);
  if (!value->getType()->isIntegerTy()) {
    value = b_.CreateBitCast(value, b_.getIntNTy(value->getType()->getScalarSizeInBits()));
  }
  const bool isSigned = box.operand->dtype != ir::DType::u8 && ir::isInteger(box.operand->dtype);
  return isSigned ? b_.CreateSExtOrTrunc(value, type) : b_.CreateZExtOrTrunc(value, type);
}

void Emitter::instruction(const ir::Node& node) {
  const auto index = static_cast<std::size_t>(node.instruction);
  const ir::Instruction& fragment = program_.instructions[index];
  const target::VendorInstruction& vendor = *plan_.instructions[index];
  const auto depth = static_cast<int>(variables_.size());
  const std::vector<ir::Access> accesses = *ir::boxesOf(program_, fragment, node, depth);
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const ir::Buffer& operand = fragment.operands[i];
    boxes.push_back({&operand, accesses[i], depth, moves::isWord(operand, vendor.constraints[i])});
  }

  // Results first, then what is read; what is both is read in the place of its result.
  const bool several = vendor.assembly.find_first_of("\n;") != std::string::npos;
  std::map<std::string, unsigned> numbers;
  std::vector<Type*> results;
  std::vector<Value*> args;
  std::string constraints;
  std::vector<std::pair<unsigned, Type*>> pointed;  // By argument.
  const auto add = [&](const std::string& constraint) {
    constraints += (constraints.empty() ? "" : ",") + constraint;
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].operand->role == ir::Role::in) continue;
    numbers[boxes[i].operand->name] = static_cast<unsigned>(results.size());
    results.push_back(passedType(*boxes[i].operand, vendor.constraints[i]));
    add((several ? "=&" : "=") + vendor.constraints[i]);
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].operand->role != ir::Role::in) continue;
    numbers[boxes[i].operand->name] = static_cast<unsigned>(results.size() + args.size());
    if (vendor.constraints[i] == "m") {
      pointed.emplace_back(args.size(), passedType(*boxes[i].operand, "m"));
      const std::vector<std::int64_t> start(boxes[i].operand->dims.size());
      const Offset offset = offsetOf(elementOf(boxes[i].access, depth, start), nullptr);
      args.push_back(pointer(boxes[i].access.buffer, offset));
      add("*m");
    } else {
      args.push_back(passed(boxes[i], vendor.constraints[i]));
      add(vendor.constraints[i]);
    }
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].operand->role != ir::Role::inout) continue;
    args.push_back(passed(boxes[i], vendor.constraints[i]));
    add(std::to_string(numbers.at(boxes[i].operand->name)));
  }

  std::vector<Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  Type* result = results.size() == 1
                     ? results.front()
                     : static_cast<Type*>(llvm::StructType::get(b_.getContext(), results));
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* code =
      llvm::InlineAsm::get(type, assemblyFor(vendor.assembly, numbers), constraints, false);
  llvm::CallInst* call = b_.CreateCall(type, code, args);
  call->setDoesNotThrow();
  if (pointed.empty()) {
    call->setDoesNotAccessMemory();
  } else {
    call->setOnlyReadsMemory();
  }
  for (const auto& [arg, element] : pointed) {
    call->addParamAttr(
        arg, llvm::Attribute::get(b_.getContext(), llvm::Attribute::ElementType, element));
  }

  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    if (box.operand->role == ir::Role::in) continue;
    Value* value = results.size() == 1 ? static_cast<Value*>(call)
                                       : b_.CreateExtractValue(call, numbers.at(box.operand->name));
    const auto bits = static_cast<unsigned>(box.operand->logicalElements() *
                                            ir::sizeBytes(box.operand->dtype) * 8);
    if (vendor.constraints[i] == "r" || box.word) {
      if (!value->getType()->isIntegerTy()) value = b_.CreateBitCast(value, b_.getIntNTy(bits));
      value = b_.CreateTrunc(value, b_.getIntNTy(bits));
      if (!box.word) value = b_.CreateBitCast(value, numbers_.memory(box.operand->dtype));
    }
    writeBox(box, value);
  }
}

}  // namespace dojo::codegen
