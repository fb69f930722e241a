// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include "ir/print.h"
#include "region/build.h"

namespace dojo::region {
namespace {

std::optional<Operation> plain(ir::Op op) {
  switch (op) {
    case ir::Op::copy:
      return Operation::move;
    case ir::Op::add:
      return Operation::add;
    case ir::Op::sub:
      return Operation::sub;
    case ir::Op::mul:
      return Operation::mul;
    case ir::Op::fma:
      return Operation::fmadd;
    case ir::Op::neg:
      return Operation::neg;
    case ir::Op::abs:
      return Operation::abs;
    case ir::Op::min:
      return Operation::min;
    case ir::Op::max:
      return Operation::max;
    default:
      return std::nullopt;
  }
}

Operation combining(ir::Assign assign) {
  switch (assign) {
    case ir::Assign::mul:
      return Operation::mul;
    case ir::Assign::max:
      return Operation::max;
    case ir::Assign::min:
      return Operation::min;
    default:
      return Operation::add;
  }
}

Form formOf(ir::DType type) { return type == ir::DType::f64 ? Form::f64 : Form::f32; }

}  // namespace

void Builder::emit(Operation operation, Form form, Operand out, Operand a, Operand b, Operand c) {
  if (++instructions_ > target_.unrollLimit) {
    return refuse("lower.unroll", fmt::format("more than the {} instructions that target {} allows",
                                              target_.unrollLimit, target_.name));
  }
  Instruction made{operation, form, out, {a, b, c}};
  made.leaf = leaf_;
  into_->push_back({made});
}

Operand Builder::temporary(Form form) { return cellOperand(tree_.addCell(form, "")); }

void Builder::leaf(const ir::Leaf& leaf) {
  leaf_ = &leaf;
  const ir::DType type = program_.buffer(leaf.dst.buffer).dtype;
  if (type != ir::DType::f64 && type != ir::DType::f32) {
    return refuse("lower.region",
                  fmt::format("{} is {}, and only f64 and f32 are computed beside streams, frep "
                              "and packed vectors",
                              program_.buffer(leaf.dst.buffer).name, ir::name(type)));
  }
  if (!inLanes() && isRoutine(leaf)) return routine(leaf, 0);
  if (!plain(leaf.op) && leaf.op != ir::Op::cast && !inverseOf(leaf, type)) {
    return refuse("lower.region",
                  fmt::format("'{}' takes more than the instructions that can stand beside "
                              "streams, frep and packed vectors",
                              ir::info(leaf.op).spelling));
  }
  const bool across = inLanes() && uniform(leaf.dst);
  if (failure_) return;
  const Form form = inLanes() ? Form::pair : formOf(type);
  if (across && !leaf.isReduction()) {
    return refuse("lower.vector",
                  fmt::format("all lanes write {}", program_.buffer(leaf.dst.buffer).name));
  }
  if (leaf.isReduction()) return reduction(leaf, form, across);
  const Operand out = access(leaf.dst, form, -2);
  compute(leaf, form, out);
}

void Builder::reduction(const ir::Leaf& leaf, Form form, bool acrossLanes) {
  if (acrossLanes && leaf.assign == ir::Assign::fma) return sumLanes(leaf);
  if (leaf.assign == ir::Assign::fma) {
    const Operand a = operand(leaf, 0, form);
    const Operand b = operand(leaf, 1, form);
    const Operand old = access(leaf.dst, form, -1);
    return emit(Operation::fmadd, form, access(leaf.dst, form, -2), a, b, old);
  }
  Operand value;
  if (leaf.op == ir::Op::copy) {
    value = operand(leaf, 0, form);
  } else {
    value = temporary(form);
    compute(leaf, form, value);
  }
  if (acrossLanes) return combineLanes(leaf, value);
  const Operand old = access(leaf.dst, form, -1);
  emit(combining(leaf.assign), form, access(leaf.dst, form, -2), old, value);
}

/// dst fma+= a * b for each lane: dst goes in as one lane's start.
void Builder::sumLanes(const ir::Leaf& leaf) {
  const Operand a = operand(leaf, 0, Form::pair);
  const Operand b = operand(leaf, 1, Form::pair);
  const Operand zero = cellOperand(tree_.constant(0, Form::f32));
  const Operand sums = temporary(Form::pair);
  emit(Operation::pack, Form::pair, sums, access(leaf.dst, Form::f32, -1), zero);
  emit(Operation::fmadd, Form::pair, sums, a, b, sums);
  emit(Operation::sum, Form::f32, access(leaf.dst, Form::f32, -2), sums, {}, zero);
}

void Builder::combineLanes(const ir::Leaf& leaf, Operand values) {
  if (leaf.assign == ir::Assign::add) {
    const Operand old = access(leaf.dst, Form::f32, -1);
    return emit(Operation::sum, Form::f32, access(leaf.dst, Form::f32, -2), values, {}, old);
  }
  const std::int64_t at = memoryFor(0, false);
  const auto scratch = [&](Form form, std::int64_t bytes, bool write) {
    return siteOperand(tree_.scratchSite(at + bytes, form, write));
  };
  emit(Operation::move, Form::pair, scratch(Form::pair, 0, true), values);
  const Operation combine = combining(leaf.assign);
  const Operand both = temporary(Form::f32);
  emit(combine, Form::f32, both, scratch(Form::f32, 0, false), scratch(Form::f32, 4, false));
  const Operand old = access(leaf.dst, Form::f32, -1);
  emit(combine, Form::f32, access(leaf.dst, Form::f32, -2), old, both);
}

void Builder::compute(const ir::Leaf& leaf, Form form, Operand out) {
  if (leaf.op == ir::Op::cast) {
    const ir::DType from = ir::computeType(program_, leaf);
    const bool wide = program_.buffer(leaf.dst.buffer).dtype == ir::DType::f64;
    const bool known = from == ir::DType::f64 || from == ir::DType::f32;
    if (!known || (form == Form::pair && from == ir::DType::f64)) {
      return refuse("lower.region", fmt::format("a conversion from {}", ir::name(from)));
    }
    if (form == Form::pair || wide == (from == ir::DType::f64)) {
      return emit(Operation::move, form, out, operand(leaf, 0, form));
    }
    const Operand a = operand(leaf, 0, formOf(from));
    return emit(wide ? Operation::widen : Operation::narrow, form, out, a);
  }
  if (const auto inverse = inverseOf(leaf, program_.buffer(leaf.dst.buffer).dtype)) {
    return divide(form, out, operand(leaf, 0, form), *inverse);
  }
  std::array<Operand, 3> in;
  for (std::size_t i = 0; i < leaf.operands.size(); ++i) in[i] = operand(leaf, i, form);
  emit(*plain(leaf.op), form, out, in[0], in[1], in[2]);
}

void Builder::divide(Form form, Operand out, Operand a, const Inverse& by) {
  const Operand high = cellOperand(tree_.constant(by.high, form));
  if (by.low == 0) return emit(Operation::mul, form, out, a, high);
  const Operand low = temporary(form);
  if (a.kind == Operand::Kind::site) {
    const Operand once = temporary(form);
    emit(Operation::move, form, once, a);
    a = once;
  }
  emit(Operation::mul, form, low, a, cellOperand(tree_.constant(by.low, form)));
  emit(Operation::fmadd, form, out, a, high, low);
}

Operand Builder::operand(const ir::Leaf& leaf, std::size_t position, Form form) {
  const ir::Operand& operand = leaf.operands[position];
  if (const auto* constant = std::get_if<ir::Constant>(&operand)) {
    const auto* real = std::get_if<double>(constant);
    const auto* integer = std::get_if<std::int64_t>(constant);
    return cellOperand(
        tree_.constant(real != nullptr ? *real : static_cast<double>(*integer), form));
  }
  const auto* element = std::get_if<ir::Access>(&operand);
  if (element == nullptr) {
    refuse("lower.region", "an index value as an operand");
    return {};
  }
  const Form held = form == Form::pair ? form : formOf(program_.buffer(element->buffer).dtype);
  const Operand found = access(*element, held, static_cast<int>(position));
  if (held == form || failure_) return found;
  const Operand wide = temporary(form);
  emit(Operation::widen, form, wide, found);
  return wide;
}

}  // namespace dojo::region
