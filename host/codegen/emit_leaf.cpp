// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include "codegen/emit_branch.h"
#include "codegen/emitter.h"

namespace dojo::codegen {

std::vector<Emitter::Piece> Emitter::pieces() const {
  std::vector<Piece> result;
  for (std::size_t c = 0; c < lanes_->chunks->size(); ++c) {
    result.push_back({&(*lanes_->chunks)[c], lanes_->masks[c]});
  }
  return result;
}

ir::DType Emitter::operandType(const ir::Leaf& leaf, std::size_t position) const {
  if (leaf.op == ir::Op::select && position == 0) return ir::DType::boolean;
  return ir::computeType(program_, leaf);
}

/// Converted exactly to `type`, computed form, in as many lanes as the piece has.
Emitter::Value* Emitter::operand(const ir::Operand& operand, ir::DType type, const Piece* piece) {
  Value* value = nullptr;
  if (const auto* access = std::get_if<ir::Access>(&operand)) {
    const ir::DType from = program_.buffer(access->buffer).dtype;
    value = numbers_.cast(numbers_.compute(read(*access, piece), from), from, type);
  } else if (const auto* constant = std::get_if<ir::Constant>(&operand)) {
    value = numbers_.constant(*constant, type);
  } else {
    const auto& expr = std::get<ir::Affine>(operand);
    value = piece != nullptr && movesWithLane(expr) ? affineLanes(expr, *piece, b_.getInt64Ty())
                                                    : affine(expr, b_.getInt64Ty());
    value = numbers_.cast(value, ir::DType::i64, type);
  }
  return value->getType()->isVectorTy() ? value : numbers_.splat(value, countOf(piece));
}

/// An index value in 32 bits; nullptr where the operand is none or they don't hold it.
Emitter::Value* Emitter::smallIndex(const ir::Operand& operand, const Piece* piece) {
  const auto* expr = std::get_if<ir::Affine>(&operand);
  constexpr std::int64_t kSmall = std::int64_t{1} << 30;
  if (expr == nullptr) return nullptr;
  const ir::Interval values = ir::valueRange(*expr, variableRanges());
  if (values.lo < -kSmall || values.hi > kSmall) return nullptr;
  Value* index = piece != nullptr && movesWithLane(*expr)
                     ? affineLanes(*expr, *piece, b_.getInt32Ty())
                     : b_.CreateTrunc(affine(*expr), b_.getInt32Ty());
  const bool splat = piece != nullptr && !index->getType()->isVectorTy();
  return splat ? numbers_.splat(index, countOf(piece)) : index;
}

/// The value of the operation in dst's dtype, computed form, rounded.
Emitter::Value* Emitter::rightSide(const ir::Leaf& leaf, const Piece* piece) {
  const ir::DType type = ir::computeType(program_, leaf);
  const ir::DType to = program_.buffer(leaf.dst.buffer).dtype;
  if (leaf.op == ir::Op::cast || leaf.op == ir::Op::satCast) {
    if (Value* index = smallIndex(leaf.operands[0], piece)) {
      return leaf.op == ir::Op::cast ? numbers_.cast(index, ir::DType::i32, to)
                                     : numbers_.satCast(index, ir::DType::i32, to);
    }
  }
  llvm::SmallVector<Value*, 3> args;
  for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
    args.push_back(operand(leaf.operands[i], operandType(leaf, i), piece));
  }
  if (leaf.op == ir::Op::cast) return numbers_.cast(args[0], type, to);
  if (leaf.op == ir::Op::satCast) return numbers_.satCast(args[0], type, to);
  Value* counts = leaf.op == ir::Op::div && piece != nullptr ? maskOf(*piece) : nullptr;
  Value* value = numbers_.operate(leaf.op, type, args, counts);
  if (value == nullptr) {
    failure_ = Error{
        "compile.unsupported",
        fmt::format("no code for operation '{}' in {}", ir::info(leaf.op).spelling, ir::name(type)),
        "", ""};
    return llvm::PoisonValue::get(Numbers::withLanes(numbers_.computed(to), countOf(piece)));
  }
  return ir::info(leaf.op).comparison ? numbers_.cast(value, ir::DType::boolean, to) : value;
}

/// What dst becomes where dst has an element for each lane (or in scalar code), held form.
Emitter::Value* Emitter::reduced(const ir::Leaf& leaf, const Piece* piece) {
  const ir::DType type = program_.buffer(leaf.dst.buffer).dtype;
  if (!leaf.isReduction()) return numbers_.hold(rightSide(leaf, piece), type);
  const auto destination = [&] {
    Value* old = numbers_.compute(read(leaf.dst, piece), type);
    return piece != nullptr && !old->getType()->isVectorTy() ? numbers_.splat(old, countOf(piece))
                                                             : old;
  };
  if (leaf.assign == ir::Assign::fma) {
    Value* a = operand(leaf.operands[0], type, piece);
    Value* b = operand(leaf.operands[1], type, piece);
    return numbers_.hold(numbers_.operate(ir::Op::fma, type, {a, b, destination()}, nullptr), type);
  }
  Value* value = numbers_.compute(numbers_.hold(rightSide(leaf, piece), type), type);
  return numbers_.hold(numbers_.combine(leaf.assign, destination(), value, type), type);
}

void Emitter::leaf(const ir::Leaf& leaf) {
  if (!lanes_) return write(leaf.dst, nullptr, reduced(leaf, nullptr));
  const auto& home = plan_.buffers[static_cast<std::size_t>(leaf.dst.buffer)].home;
  const auto relation = home.vector != nullptr
                            ? moves::LaneRelation::distinct
                            : moves::laneRelation(program_, leaf.dst, lanes_->depth, lanes_->most);
  switch (relation) {
    case moves::LaneRelation::none:
      return leaf.isReduction() ? horizontally(leaf) : laneByLane(leaf);
    case moves::LaneRelation::conflicting:
      return laneByLane(leaf);
    case moves::LaneRelation::distinct:
      break;
  }
  std::vector<Value*> values;
  const std::vector<Piece> all = pieces();
  for (const Piece& piece : all) values.push_back(reduced(leaf, &piece));
  for (std::size_t i = 0; i < all.size(); ++i) write(leaf.dst, &all[i], values[i]);
}

/// Every lane reduces into one element: lanes are combined first, then into dst.
void Emitter::horizontally(const ir::Leaf& leaf) {
  const ir::DType type = program_.buffer(leaf.dst.buffer).dtype;
  const bool fma = leaf.assign == ir::Assign::fma;
  if (const auto sum = lanes_->sums.find(&leaf); sum != lanes_->sums.end()) {
    return addUp(leaf, pieces().front(), sum->second);
  }
  Value* destination = numbers_.compute(read(leaf.dst, nullptr), type);
  Value* identity = numbers_.identity(leaf.assign, type);
  // By width: chunks of one width are combined lane by lane.
  std::map<unsigned, Value*> sums;
  bool first = true;
  for (const Piece& piece : pieces()) {
    const unsigned width = piece.chunk->width;
    Value* start = numbers_.splat(identity, countOf(&piece));
    Value* value = nullptr;
    if (fma) {
      // The contracted sum starts from dst in one lane.
      if (first) start = b_.CreateInsertElement(start, destination, std::uint64_t{0});
      value = numbers_.operate(
          ir::Op::fma, type,
          {operand(leaf.operands[0], type, &piece), operand(leaf.operands[1], type, &piece), start},
          nullptr);
    } else {
      value = numbers_.compute(numbers_.hold(rightSide(leaf, &piece), type), type);
    }
    if (Value* mask = maskOf(piece)) value = b_.CreateSelect(mask, value, start);
    first = false;
    Value*& sum = sums[width];
    sum = sum == nullptr ? value : numbers_.combine(leaf.assign, sum, value, type);
  }
  Value* total = fma ? nullptr : destination;
  for (const auto& [width, sum] : sums) {
    Value* value = numbers_.horizontal(leaf.assign, sum, type);
    total = total == nullptr ? value : numbers_.combine(leaf.assign, total, value, type);
  }
  write(leaf.dst, nullptr, numbers_.hold(total, type));
}

/// The lanes one after another, in scalar code.
void Emitter::laneByLane(const ir::Leaf& leaf) {
  const Lanes lanes = std::move(*lanes_);
  lanes_.reset();
  Variable& variable = variables_[static_cast<std::size_t>(lanes.depth)];
  const Variable saved = variable;
  for (std::size_t c = 0; c < lanes.chunks->size(); ++c) {
    const Chunk& chunk = (*lanes.chunks)[c];
    for (unsigned lane = 0; lane < chunk.active; ++lane) {
      variable.kind = Variable::Kind::constant;
      variable.value = chunk.first + lane;
      Value* on = lanes.masks[c] == nullptr
                      ? nullptr
                      : b_.CreateExtractElement(lanes.masks[c], std::uint64_t{lane});
      branch(on, [&] { write(leaf.dst, nullptr, reduced(leaf, nullptr)); });
    }
  }
  variable = saved;
  lanes_ = lanes;
}

}  // namespace dojo::codegen
