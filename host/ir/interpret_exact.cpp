// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <string>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/interpret_field.h"
#include "ir/interpret_storage.h"
#include "ir/print.h"

namespace dojo::ir {
namespace {

constexpr std::uint64_t reduce(std::uint64_t value) {
  value = (value & kPrime) + (value >> 61);
  return value >= kPrime ? value - kPrime : value;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t out = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = fieldMultiply(out, base);
    base = fieldMultiply(base, base);
  }
  return out;
}

enum class Named : std::uint64_t { infinity = 1, nan, inverseOfZero, narrow, toInteger, input, op };

std::uint64_t named(Named what) { return fieldHash(static_cast<std::uint64_t>(what), 0); }

std::uint64_t infinity() {
  static const std::uint64_t value = named(Named::infinity);
  return value;
}

std::uint64_t inverse(std::uint64_t a) {
  return a == 0 ? named(Named::inverseOfZero) : fieldInverse(a);
}

/// "-1.25e-3" as a fraction.
std::uint64_t fromDecimal(const std::string& text) {
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool fraction = false;
  std::size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++i;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    digits = fieldAdd(fieldMultiply(digits, 10), static_cast<std::uint64_t>(text[i] - '0'));
    if (fraction) --exponent;
  }
  if (i < text.size()) exponent += std::stoll(text.substr(i + 1));
  const std::uint64_t ten = power(10, static_cast<std::uint64_t>(std::abs(exponent)));
  const std::uint64_t value = fieldMultiply(digits, exponent < 0 ? fieldInverse(ten) : ten);
  return negative ? fieldNegate(value) : value;
}

std::uint64_t constantOf(double value, DType type) {
  if (std::isnan(value)) return named(Named::nan);
  if (std::isinf(value)) return value > 0 ? infinity() : fieldNegate(infinity());
  return fromDecimal(printConstant(value, type));
}

std::uint64_t residue(Number number) { return static_cast<std::uint64_t>(number.integer); }
Number toNumber(std::uint64_t residue) { return Number::of(static_cast<std::int64_t>(residue)); }

bool compares(Op op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::eq:
      return a == b;
    default:
      return a != b;
  }
}

std::uint64_t evaluateField(Op op, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  switch (op) {
    case Op::add:
      return fieldAdd(a, b);
    case Op::sub:
      return fieldAdd(a, fieldNegate(b));
    case Op::mul:
      return fieldMultiply(a, b);
    case Op::div:
      return fieldMultiply(a, inverse(b));
    case Op::fma:
      return fieldAdd(fieldMultiply(a, b), c);
    case Op::neg:
      return fieldNegate(a);
    case Op::abs:
      return fieldRank(a) >= fieldRank(fieldNegate(a)) ? a : fieldNegate(a);
    case Op::max:
      return fieldRank(a) >= fieldRank(b) ? a : b;
    case Op::min:
      return fieldRank(a) <= fieldRank(b) ? a : b;
    default:
      break;
  }
  const auto which = static_cast<std::uint64_t>(Named::op) + static_cast<std::uint64_t>(op);
  return fieldHash(which, a, info(op).arity > 1 ? b : 0);
}

}  // namespace

std::uint64_t fieldAdd(std::uint64_t a, std::uint64_t b) { return reduce(a + b); }
std::uint64_t fieldNegate(std::uint64_t a) { return a == 0 ? 0 : kPrime - a; }

std::uint64_t fieldMultiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const auto low = static_cast<std::uint64_t>(product) & kPrime;
  return reduce(low + static_cast<std::uint64_t>(product >> 61));
}

std::uint64_t fieldInverse(std::uint64_t a) { return power(a, kPrime - 2); }

std::uint64_t fieldOf(std::int64_t value) {
  if (value >= 0) return reduce(static_cast<std::uint64_t>(value));
  return fieldNegate(reduce(0 - static_cast<std::uint64_t>(value)));
}

std::uint64_t fieldHash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return reduce(mix(mix(a, b), c));
}

std::uint64_t fieldRank(std::uint64_t a) {
  static const std::uint64_t scale = fieldInverse(infinity());
  static const std::uint64_t half = fieldInverse(2);
  return fieldNegate(fieldMultiply(fieldAdd(fieldMultiply(a, scale), 1), half));
}

Number Field::constant(const Constant& constant, DType type) const {
  if (!isFloat(type)) return numberOf(constant, type);
  if (const auto* real = std::get_if<double>(&constant)) return toNumber(constantOf(*real, type));
  return toNumber(fieldOf(std::get<std::int64_t>(constant)));
}

Number Field::cast(Number value, DType from, DType to) const {
  if (!isFloat(from)) {
    return isFloat(to) ? toNumber(fieldOf(value.integer)) : castNumber(value, from, to);
  }
  const std::uint64_t a = residue(value);
  if (!isFloat(to)) {
    const std::uint64_t hash = fieldHash(static_cast<std::uint64_t>(Named::toInteger), a);
    return Number::of(wrapTo(to, static_cast<std::int64_t>(hash)));
  }
  const bool fixed = a == 0 || a == 1 || a == infinity() || a == fieldNegate(infinity());
  if (fixed || convertsExactly(from, to)) return value;
  return toNumber(
      fieldHash(static_cast<std::uint64_t>(Named::narrow), a, static_cast<std::uint64_t>(to)));
}

Number Field::saturatingCast(Number value, DType from, DType to) const {
  if (isFloat(from) || isFloat(to)) return cast(value, from, to);
  return ir::saturatingCast(value, from, to);
}

std::optional<Number> Field::evaluate(Op op, DType type, Number a, Number b, Number c) const {
  if (op == Op::select || !isFloat(type)) return ir::evaluate(op, type, a, b, c);
  if (info(op).comparison) {
    const bool holds = compares(op, fieldRank(residue(a)), fieldRank(residue(b)));
    return Number::of(std::int64_t{holds});
  }
  return toNumber(evaluateField(op, residue(a), residue(b), residue(c)));
}

Result<std::vector<std::vector<std::uint64_t>>> interpretExact(const Program& program,
                                                               std::uint64_t inputSeed,
                                                               const InterpretOptions& options) {
  if (Status status = checkStructure(program); !status) return status.error();
  const Field arithmetic;
  Machine machine(program, arithmetic, options);
  const std::vector<BufferId> ids = argumentsOf(program);
  const std::vector<Tensor> integers = makeInputs(program, InputSet::uniform, inputSeed);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::out) continue;
    const std::uint64_t key = mix(mix(inputSeed, static_cast<std::uint64_t>(Named::input)), i);
    forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
      machine.set(ids[i], offset,
                  isFloat(buffer.dtype)
                      ? toNumber(fieldHash(key, static_cast<std::uint64_t>(logical)))
                      : Number::of(loadAsInteger(integers[i], offset)));
    });
  }
  if (Status status = machine.run(); !status) return status.error();
  std::vector<std::vector<std::uint64_t>> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::in) continue;
    out[i].resize(static_cast<std::size_t>(buffer.logicalElements()));
    forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
      out[i][static_cast<std::size_t>(logical)] = residue(machine.get(ids[i], offset));
    });
  }
  return out;
}

}  // namespace dojo::ir
