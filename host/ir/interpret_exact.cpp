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

constexpr int kBits = 21;
constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;

/// The coefficients of 1, e and e^2.
struct Series {
  std::uint64_t at[3];
};

Series unpack(std::uint64_t a) { return {{a & kMask, a >> kBits & kMask, a >> 2 * kBits}}; }
std::uint64_t pack(std::uint64_t c0, std::uint64_t c1, std::uint64_t c2) {
  return c0 % kPrime | c1 % kPrime << kBits | c2 % kPrime << 2 * kBits;
}

/// Of one coefficient.
std::uint64_t inverseModulo(std::uint64_t a) {
  std::uint64_t out = 1;
  for (std::uint64_t exponent = kPrime - 2; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = out * a % kPrime;
    a = a * a % kPrime;
  }
  return out;
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

/// The one below infinity: its rank differs in the last coefficient by 1.
std::uint64_t largest() {
  const Series top = unpack(infinity());
  return pack(top.at[0], top.at[1], top.at[2] * 3);
}

std::uint64_t inverse(std::uint64_t a) {
  return unpack(a).at[0] == 0 ? named(Named::inverseOfZero) : fieldInverse(a);
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
  if (std::abs(value) == formatOf(type).largest) {
    return value > 0 ? largest() : fieldNegate(largest());
  }
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
    case Op::exp:
      return fieldExp(a);
    default:
      break;
  }
  const auto which = static_cast<std::uint64_t>(Named::op) + static_cast<std::uint64_t>(op);
  return fieldHash(which, a, info(op).arity > 1 ? b : 0);
}

}  // namespace

std::uint64_t fieldAdd(std::uint64_t a, std::uint64_t b) {
  const Series x = unpack(a);
  const Series y = unpack(b);
  return pack(x.at[0] + y.at[0], x.at[1] + y.at[1], x.at[2] + y.at[2]);
}

std::uint64_t fieldNegate(std::uint64_t a) {
  const Series x = unpack(a);
  return pack(kPrime - x.at[0], kPrime - x.at[1], kPrime - x.at[2]);
}

std::uint64_t fieldMultiply(std::uint64_t a, std::uint64_t b) {
  const auto& x = unpack(a).at;
  const auto& y = unpack(b).at;
  return pack(x[0] * y[0], x[0] * y[1] + x[1] * y[0], x[0] * y[2] + x[1] * y[1] + x[2] * y[0]);
}

std::uint64_t fieldInverse(std::uint64_t a) {
  // 1 / (c (1 + u)) = (1 - u + u^2) / c.
  const Series x = unpack(a);
  const std::uint64_t c = inverseModulo(x.at[0]);
  const std::uint64_t u1 = x.at[1] * c % kPrime;
  const std::uint64_t u2 = x.at[2] * c % kPrime;
  return pack(c, (kPrime - u1) * c, (u1 * u1 % kPrime + kPrime - u2) * c);
}

std::uint64_t fieldExp(std::uint64_t a) {
  static const std::uint64_t half = inverseModulo(2);
  const Series x = unpack(a);
  return pack(1, x.at[0], x.at[1] + x.at[0] * x.at[0] % kPrime * half);
}

std::uint64_t fieldOf(std::int64_t value) {
  if (value >= 0) return static_cast<std::uint64_t>(value) % kPrime;
  return fieldNegate((0 - static_cast<std::uint64_t>(value)) % kPrime);
}

std::uint64_t fieldHash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const std::uint64_t hash = mix(mix(a, b), c);
  return pack(hash & kMask, hash >> kBits & kMask, hash >> 2 * kBits);
}

std::uint64_t fieldRank(std::uint64_t a) {
  static const std::uint64_t half = inverseModulo(2);
  static const Series scale = [] {
    const Series top = unpack(infinity());
    Series out{};
    for (int i = 0; i < 3; ++i) out.at[i] = inverseModulo(top.at[i]);
    return out;
  }();
  const Series x = unpack(a);
  std::uint64_t rank = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t relative = x.at[i] * scale.at[i] % kPrime;
    rank = rank << kBits | (kPrime - (relative + 1) * half % kPrime) % kPrime;
  }
  return rank;
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
