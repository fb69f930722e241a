// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Operations that take more than the floating-point unit: exponentials, and division and roots by
/// Newton's iteration. Several elements are under way at once, so that none waits for another.
///
/// The way here is for ordinary operands. The integer core makes powers of two and first guesses in
/// the upper words of numbers, in the region's own memory; it finds out which operands aren't
/// ordinary, and calls a function for them (Operation::patch).
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/math_tables.h"
#include "region/build.h"

namespace dojo::region {
namespace {

/// So many elements side by side: each can start when the one before in its chain is done.
constexpr std::size_t kSide = 4;

constexpr double kMagic = 0x1.8p52;  ///< Adding and subtracting it rounds to an integer.
constexpr double kLog2e = 1.44269504088896340736;
constexpr double kLn2High = 6.93147180369123816490e-01;  ///< Its products with exponents are exact.
constexpr double kLn2Low = 1.90821492927058770002e-10;

/// Exponents from which powers of two are normal numbers, and products with them, too.
constexpr std::int64_t kLeastPower = -1021;
constexpr std::int64_t kMostPower = 1023;
/// Past it 1 + e^x is too large for the iteration.
constexpr std::int64_t kMostSigmoid = 1000;

/// The upper word of 2^exponent.
constexpr std::int64_t upperOf(std::int64_t exponent) { return (exponent + 1023) << 20; }
constexpr std::int64_t kFar = 500;

}  // namespace

/// What a copy of a leaf reads and writes.
struct Builder::Access {
  std::vector<Operand> in;
  std::vector<Form> held;
  Operand out, old;
};

bool Builder::isRoutine(const ir::Leaf& leaf) const {
  const ir::DType type = program_.buffer(leaf.dst.buffer).dtype;
  if (type != ir::DType::f64 && type != ir::DType::f32) return false;
  switch (leaf.op) {
    case ir::Op::div:
      return !inverseOf(leaf, type);
    case ir::Op::exp:
    case ir::Op::sigmoid:
    case ir::Op::sqrt:
    case ir::Op::rsqrt:
      return true;
    default:
      return false;
  }
}

Builder::Access Builder::gather(const ir::Leaf& leaf) {
  leaf_ = &leaf;
  Access out;
  for (std::size_t i = 0; i < leaf.operands.size() && !failure_; ++i) {
    const auto* element = std::get_if<ir::Access>(&leaf.operands[i]);
    if (element == nullptr) {
      out.in.push_back(operand(leaf, i, Form::f64));
      out.held.push_back(Form::f64);
      continue;
    }
    const bool wide = program_.buffer(element->buffer).dtype == ir::DType::f64;
    out.held.push_back(wide ? Form::f64 : Form::f32);
    out.in.push_back(access(*element, out.held.back(), static_cast<int>(i)));
  }
  const bool wide = program_.buffer(leaf.dst.buffer).dtype == ir::DType::f64;
  const Form form = wide ? Form::f64 : Form::f32;
  if (leaf.isReduction()) out.old = access(leaf.dst, form, -1);
  out.out = access(leaf.dst, form, -2);
  return out;
}

void Builder::routine(const ir::Leaf& leaf, std::int64_t count) {
  std::vector<Access> copies;
  if (count == 0) copies.push_back(gather(leaf));
  for (std::int64_t i = 0; i < count && !failure_; ++i) {
    Variable variable;
    variable.kind = Variable::Kind::constant;
    variable.value = i;
    variable.range = {i, i + 1};
    variables_.push_back(variable);
    copies.push_back(gather(leaf));
    variables_.pop_back();
  }
  if (failure_) return;
  // What a copy writes may be what a later one reads.
  const auto meet = [&](const Operand& out, const Operand& in) {
    if (out.kind != Operand::Kind::site || in.kind != Operand::Kind::site) return out == in;
    const Site& first = tree_.sites[static_cast<std::size_t>(out.index)];
    const Site& second = tree_.sites[static_cast<std::size_t>(in.index)];
    if (first.storage != second.storage) return false;
    const ir::Affine gap = second.bytes - first.bytes;
    return !gap.isConstant() || (gap.constant() > -8 && gap.constant() < 8);
  };
  bool apart = true;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    for (std::size_t k = i + 1; k < copies.size(); ++k) {
      for (const Operand& in : copies[k].in) apart = apart && !meet(copies[i].out, in);
    }
  }
  const std::size_t side = apart ? kSide : 1;
  for (std::size_t begin = 0; begin < copies.size() && !failure_; begin += side) {
    together(leaf, std::span(copies).subspan(begin, std::min(side, copies.size() - begin)));
  }
}

void Builder::together(const ir::Leaf& leaf, std::span<Access> accesses) {
  const bool wide = program_.buffer(leaf.dst.buffer).dtype == ir::DType::f64;
  const Form form = wide ? Form::f64 : Form::f32;
  std::vector<Copy> copies;
  for (Access& access : accesses) {
    Copy copy;
    copy.slot = static_cast<int>(copies.size());
    for (std::size_t i = 0; i < access.in.size(); ++i) {
      Operand in = access.in[i];
      const bool narrow = access.held[i] != Form::f64;
      if (narrow || in.kind == Operand::Kind::site) {
        const Operand cell = temporary(Form::f64);
        emit(narrow ? Operation::widen : Operation::move, Form::f64, cell, in);
        in = cell;
      }
      copy.in.push_back(in);
    }
    const bool direct = wide && !leaf.isReduction();
    copy.value = direct ? access.out : temporary(Form::f64);
    copies.push_back(std::move(copy));
  }
  switch (leaf.op) {
    case ir::Op::exp:
      exponential(copies, wide);
      break;
    case ir::Op::sigmoid:
      sigmoid(copies, wide);
      break;
    case ir::Op::div:
      quotient(copies);
      break;
    default:
      inverseRoot(leaf, copies);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    Operand value = copies[i].value;
    const Access& access = accesses[i];
    if (!wide) {
      const Operand narrow = leaf.isReduction() ? temporary(form) : access.out;
      emit(Operation::narrow, form, narrow, value);
      value = narrow;
    }
    if (!leaf.isReduction()) continue;
    const Operation combine = leaf.assign == ir::Assign::mul   ? Operation::mul
                              : leaf.assign == ir::Assign::max ? Operation::max
                              : leaf.assign == ir::Assign::min ? Operation::min
                                                               : Operation::add;
    emit(combine, form, access.out, access.old, value);
  }
}

std::int64_t Builder::memoryFor(std::size_t index, bool zero) {
  std::vector<std::int64_t>& all = zero ? powers_ : numbers_;
  while (all.size() <= index) {
    all.push_back(tree_.reserve(8));
    if (!zero) continue;
    const Operand at = siteOperand(tree_.scratchSite(all.back(), Form::f64, true));
    tree_.before.push_back({Instruction{Operation::move, Form::f64, at, {real(0)}}});
  }
  return all[index];
}

void Builder::patch(const Copy& copy, Operand value, ir::Op op, int slot, const Bounds& bounds) {
  Instruction check;
  check.operation = Operation::patch;
  check.out = value;
  check.in = {copy.in[0], copy.in.size() > 1 ? copy.in[1] : Operand{}, value};
  check.slot = slot;
  check.routine = op;
  check.bounds = bounds;
  into_->push_back({check});
}

/// e^x or e^-x without its power of two, and that. Exponents are in the slots.
std::vector<Operand> Builder::powers(std::vector<Copy>& copies, bool negative, bool wide,
                                     std::vector<Operand>& scales) {
  const auto each = [&](const auto& fn) {
    std::vector<Operand> out;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      out.push_back(temporary(Form::f64));
      fn(i, out.back());
    }
    return out;
  };
  const auto make = [&](Operation operation, auto a, auto b, auto c) {
    return each(
        [&](std::size_t i, Operand out) { emit(operation, Form::f64, out, a(i), b(i), c(i)); });
  };
  const auto x = [&](std::size_t i) { return copies[i].in[0]; };
  const auto all = [&](double value) { return [this, value](std::size_t) { return real(value); }; };
  const auto none = [](std::size_t) { return Operand{}; };
  const auto of = [](const std::vector<Operand>& values) {
    return [&values](std::size_t i) { return values[i]; };
  };
  const Operation first = negative ? Operation::fnmsub : Operation::fmadd;
  const std::vector<Operand> shifted = make(first, x, all(kLog2e), all(kMagic));
  const std::vector<Operand> n = make(Operation::sub, of(shifted), all(kMagic), none);
  tree_.slots = std::max(tree_.slots, static_cast<int>(copies.size()));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    Instruction exponent;
    exponent.operation = Operation::exponent;
    exponent.in = {n[i]};
    exponent.slot = copies[i].slot;
    into_->push_back({exponent});
  }
  const Operation rest = negative ? Operation::fnmadd : Operation::fnmsub;
  const std::vector<Operand> near = make(rest, of(n), all(kLn2High), x);
  const std::vector<Operand> r = make(Operation::fnmsub, of(n), all(kLn2Low), of(near));
  Polynomial polynomial;
  polynomial.coefficients = {1, 1};
  const auto coefficients = [&](const auto& table) {
    polynomial.coefficients.insert(polynomial.coefficients.end(), table.begin(), table.end());
  };
  if (wide) {
    coefficients(tables::kExpQuickF64);
  } else {
    coefficients(tables::kExpQuickF32);
  }
  const std::vector<Operand> p = each([&](std::size_t i, Operand out) {
    polynomial.all.push_back({out, r[i]});
  });
  instructions_ += static_cast<std::int64_t>(copies.size() * polynomial.coefficients.size());
  into_->push_back({std::move(polynomial)});
  if (!negative) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      patch(copies[i], p[i], ir::Op::exp, copies[i].slot,
            {-kLeastPower, kMostPower - kLeastPower + 1, false});
    }
  }
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    Instruction power;
    power.operation = Operation::power;
    power.slot = copies[i].slot;
    places.push_back(memoryFor(i, true));
    power.site = tree_.scratchSite(places.back() + 4, Form::f32, true);
    into_->push_back({power});
  }
  scales = each([&](std::size_t i, Operand out) {
    emit(Operation::move, Form::f64, out,
         siteOperand(tree_.scratchSite(places[i], Form::f64, false)));
  });
  return p;
}

void Builder::exponential(std::vector<Copy>& copies, bool wide) {
  std::vector<Operand> scales;
  const std::vector<Operand> p = powers(copies, false, wide, scales);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    emit(Operation::mul, Form::f64, copies[i].value, p[i], scales[i]);
  }
}

/// The upper words of numbers come to slots from `slot` on, and what `operation` makes of them to
/// registers.
std::vector<Operand> Builder::guesses(const std::vector<Operand>& of, int slot,
                                      std::optional<Operation> operation) {
  const auto count = static_cast<int>(of.size());
  tree_.slots = std::max(tree_.slots, slot + count);
  const auto place = [&](int i) {
    return memoryFor(static_cast<std::size_t>(slot) + static_cast<std::size_t>(i), false);
  };
  const auto whole = [&](int i, bool write) {
    return siteOperand(tree_.scratchSite(place(i), Form::f64, write));
  };
  const auto upper = [&](Operation step) {
    for (int i = 0; i < count; ++i) {
      Instruction word;
      word.operation = step;
      word.slot = slot + i;
      word.site = tree_.scratchSite(place(i) + 4, Form::f32, step != Operation::upper);
      into_->push_back({word});
    }
  };
  for (int i = 0; i < count; ++i) {
    emit(Operation::move, Form::f64, whole(i, true), of[static_cast<std::size_t>(i)]);
  }
  upper(Operation::upper);
  std::vector<Operand> out;
  if (!operation) return out;
  upper(*operation);
  for (int i = 0; i < count; ++i) {
    out.push_back(temporary(Form::f64));
    emit(Operation::move, Form::f64, out.back(), whole(i, false));
  }
  return out;
}

/// About 1 / of, with an error of 5e-9 where the guess had one of 12%: e, then e^3 in each step.
std::vector<Operand> Builder::inverses(const std::vector<Operand>& of, int slot) {
  std::vector<Operand> inverse = guesses(of, slot, Operation::inverse);
  for (int step = 0; step < 2; ++step) {
    std::vector<Operand> error, more;
    for (std::size_t i = 0; i < of.size(); ++i) {
      error.push_back(temporary(Form::f64));
      emit(Operation::fnmsub, Form::f64, error[i], of[i], inverse[i], real(1));
    }
    for (std::size_t i = 0; i < of.size(); ++i) {
      more.push_back(temporary(Form::f64));
      emit(Operation::fmadd, Form::f64, more[i], error[i], error[i], error[i]);
    }
    for (std::size_t i = 0; i < of.size(); ++i) {
      const Operand better = temporary(Form::f64);
      emit(Operation::fmadd, Form::f64, better, inverse[i], more[i], inverse[i]);
      inverse[i] = better;
    }
  }
  return inverse;
}

/// Where the value can be corrected by a patch; settle() brings it where it belongs.
Operand Builder::patchable(const Copy& copy) {
  const bool read = std::find(copy.in.begin(), copy.in.end(), copy.value) != copy.in.end();
  return copy.value.kind == Operand::Kind::cell && !read ? copy.value : temporary(Form::f64);
}
void Builder::settle(const Copy& copy, Operand value) {
  if (value != copy.value) emit(Operation::move, Form::f64, copy.value, value);
}

/// 1 / (1 + e^-x).
void Builder::sigmoid(std::vector<Copy>& copies, bool wide) {
  std::vector<Operand> scales, sums, out, rest;
  const std::vector<Operand> p = powers(copies, true, wide, scales);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    sums.push_back(temporary(Form::f64));
    emit(Operation::fmadd, Form::f64, sums[i], p[i], scales[i], real(1));
  }
  const std::vector<Operand> inverse = inverses(sums, static_cast<int>(copies.size()));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    rest.push_back(temporary(Form::f64));
    emit(Operation::fnmsub, Form::f64, rest[i], sums[i], inverse[i], real(1));
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    out.push_back(patchable(copies[i]));
    emit(Operation::fmadd, Form::f64, out[i], rest[i], inverse[i], inverse[i]);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    patch(copies[i], out[i], ir::Op::sigmoid, copies[i].slot,
          {-kLeastPower, kMostSigmoid - kLeastPower, false});
  }
  for (std::size_t i = 0; i < copies.size(); ++i) settle(copies[i], out[i]);
}

void Builder::quotient(std::vector<Copy>& copies) {
  const auto count = static_cast<int>(copies.size());
  std::vector<Operand> a, b, q, rest, out;
  for (const Copy& copy : copies) {
    a.push_back(copy.in[0]);
    b.push_back(copy.in[1]);
  }
  const Bounds bounds = {-2 * upperOf(-kFar), 2 * (upperOf(kFar) - upperOf(-kFar)), true};
  const std::vector<Operand> inverse = inverses(b, 0);
  const auto& constant = tree_.cells[static_cast<std::size_t>(a.front().index)].constant;
  const bool ordinary = constant && std::fabs(constant->value) < std::ldexp(1, kFar) &&
                        std::fabs(constant->value) > std::ldexp(1, -kFar);
  if (!ordinary) (void)guesses(a, count, std::nullopt);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    q.push_back(temporary(Form::f64));
    emit(Operation::mul, Form::f64, q[i], a[i], inverse[i]);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    rest.push_back(temporary(Form::f64));
    emit(Operation::fnmsub, Form::f64, rest[i], b[i], q[i], a[i]);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    out.push_back(patchable(copies[i]));
    emit(Operation::fmadd, Form::f64, out[i], rest[i], inverse[i], q[i]);
  }
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    patch(copies[at], out[at], ir::Op::div, i, bounds);
    if (!ordinary) patch(copies[at], out[at], ir::Op::div, count + i, bounds);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) settle(copies[i], out[i]);
}

/// rsqrt or sqrt. With e = 1 - x g^2, g (1 + e/2 + 3/8 e^2) has an error of 5/16 e^3: 3.5% become
/// 1e-4 and 3e-12.
void Builder::inverseRoot(const ir::Leaf& leaf, std::vector<Copy>& copies) {
  std::vector<Operand> x, out;
  for (const Copy& copy : copies) x.push_back(copy.in[0]);
  std::vector<Operand> g = guesses(x, 0, Operation::root);
  const auto all = [&](Operation operation, const auto& a, const auto& b, const auto& c) {
    std::vector<Operand> made;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      made.push_back(temporary(Form::f64));
      emit(operation, Form::f64, made[i], a(i), b(i), c(i));
    }
    return made;
  };
  const auto of = [](const std::vector<Operand>& values) {
    return [&values](std::size_t i) { return values[i]; };
  };
  const auto constant = [this](double value) {
    return [this, value](std::size_t) { return real(value); };
  };
  const auto none = [](std::size_t) { return Operand{}; };
  const auto errorOf = [&] {
    const std::vector<Operand> product = all(Operation::mul, of(x), of(g), none);
    return all(Operation::fnmsub, of(product), of(g), constant(1));
  };
  for (int step = 0; step < 2; ++step) {
    const std::vector<Operand> error = errorOf();
    const std::vector<Operand> slope =
        all(Operation::fmadd, of(error), constant(0.375), constant(0.5));
    const std::vector<Operand> part = all(Operation::mul, of(g), of(error), none);
    g = all(Operation::fmadd, of(part), of(slope), of(g));
  }
  for (const Copy& copy : copies) out.push_back(patchable(copy));
  const bool inverse = leaf.op == ir::Op::rsqrt;
  const std::vector<Operand> root = inverse ? g : all(Operation::mul, of(x), of(g), none);
  const std::vector<Operand> rest =
      inverse ? errorOf() : all(Operation::fnmsub, of(root), of(root), of(x));
  const std::vector<Operand> half = all(Operation::mul, of(g), constant(0.5), none);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    emit(Operation::fmadd, Form::f64, out[i], rest[i], half[i], root[i]);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Bounds bounds = {-upperOf(-kFar), upperOf(1024) - upperOf(-kFar), false};
    patch(copies[i], out[i], leaf.op, static_cast<int>(i), bounds);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) settle(copies[i], out[i]);
}

}  // namespace dojo::region
