// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/dependence_system.h"

#include <algorithm>

namespace dojo::ir {

void Sum::add(const Affine& expr, const Instance& instance, std::int64_t factor) {
  constant += factor * expr.constant();
  for (const Term& term : expr.terms()) {
    terms.push_back({instance.variable(term.var), factor * term.coef});
  }
}

void Sum::add(const Sum& other, std::int64_t factor) {
  constant += factor * other.constant;
  for (const System::Coef& term : other.terms) terms.push_back({term.var, factor * term.coef});
}

void Sum::constrain(System& system, std::int64_t lo, std::int64_t hi) const {
  system.constrain(terms, lo <= -System::kInfinity ? lo : lo - constant,
                   hi >= System::kInfinity ? hi : hi - constant);
}

std::pair<std::int64_t, std::int64_t> Sum::bounds(const System& system) const {
  std::int64_t lo = constant;
  std::int64_t hi = constant;
  for (const System::Coef& term : terms) {
    const System::Variable& var = system.variables()[static_cast<std::size_t>(term.var)];
    lo += term.coef * (term.coef > 0 ? var.lo : var.hi);
    hi += term.coef * (term.coef > 0 ? var.hi : var.lo);
  }
  return {lo, hi};
}

void addVariables(System& system, const Program& program, Instance& instance, int from) {
  const auto& scopes = instance.site->enclosing;
  for (std::size_t k = static_cast<std::size_t>(from); k < scopes.size(); ++k) {
    const Interval range = variableRange(program, scopes[k]->scope());
    instance.variables[k] = system.variable(range.lo, range.hi - 1);
  }
}

void addGuards(System& system, const Instance& instance, int from) {
  thread_local Sum sum;
  const auto addOf = [&](const Node& node) {
    for (const GuardTerm& term : node.guard) {
      sum.clear();
      sum.add(term.expr, instance);
      sum.constrain(system, term.lo, term.hi - 1);
    }
  };
  const auto& scopes = instance.site->enclosing;
  for (std::size_t k = static_cast<std::size_t>(from); k < scopes.size(); ++k) addOf(*scopes[k]);
  addOf(*instance.site->node);
}

void addIndex(System& system, const Program& program, const Instance& instance, std::size_t dim,
              Sum& out, std::int64_t factor) {
  const Access& access = instance.site->access;
  const Index& index = access.indices[dim];
  if (!index.isGather()) {
    out.add(index.affine, instance, factor);
    return;
  }
  const auto& declared = program.buffer(index.gather).values;
  const std::int64_t extent = program.buffer(access.buffer).dims[dim].extent;
  const int value =
      declared ? system.variable(declared->lo, declared->hi - 1) : system.variable(0, extent - 1);
  out.add(value, factor);
}

namespace {

/// Indices that say the same in both buffers fall on the same element.
bool sameLayout(const Buffer& a, const Buffer& b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const Dim& x, const Dim& y) {
                      return x.fold == y.fold && x.stored() + x.pad == y.stored() + y.pad;
                    });
}

/// One index, where it wasn't added before.
void addIndex(System& system, const Program& program, const Instance& instance, std::size_t dim,
              const std::vector<Sum>* indices, Sum& out, std::int64_t factor) {
  if (indices == nullptr) {
    addIndex(system, program, instance, dim, out, factor);
  } else {
    out.add((*indices)[dim], factor);
  }
}

/// The offset of an access in its storage.
Sum offsetOf(System& system, const Program& program, const Instance& instance,
             const std::vector<Sum>* indices) {
  const Buffer& buffer = program.buffer(instance.site->access.buffer);
  const std::vector<std::int64_t> strides = buffer.strides();
  Sum out;
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    const Dim& dim = buffer.dims[d];
    if (dim.fold == 1) continue;
    Sum index;
    addIndex(system, program, instance, d, indices, index, 1);
    if (dim.fold > 1 && dim.fold < dim.extent) {
      index.add(system.variable(0, (dim.extent - 1) / dim.fold), -dim.fold);
      index.constrain(system, 0, dim.fold - 1);
    }
    out.add(index, strides[d]);
  }
  return out;
}

}  // namespace

bool addSameStorage(System& system, const Program& program, const Instance& a, const Instance& b,
                    const std::vector<Sum>* indices) {
  const Buffer& first = program.buffer(a.site->access.buffer);
  const Buffer& second = program.buffer(b.site->access.buffer);
  thread_local Sum difference;
  if (!sameLayout(first, second)) {
    difference = offsetOf(system, program, a, nullptr);
    difference.add(offsetOf(system, program, b, indices), -1);
    difference.equals(system, 0);
    return !system.refuted();
  }
  for (std::size_t d = 0; d < first.dims.size(); ++d) {
    const Dim& dim = first.dims[d];
    if (dim.fold == 1) continue;
    difference.clear();
    addIndex(system, program, a, d, difference);
    addIndex(system, program, b, d, indices, difference, -1);
    if (const std::int64_t extent = std::max(dim.extent, second.dims[d].extent);
        dim.fold > 1 && dim.fold < extent) {
      const std::int64_t turns = (extent - 1) / dim.fold;
      difference.add(system.variable(-turns, turns), dim.fold);
    }
    difference.equals(system, 0);
    if (system.refuted()) return false;
  }
  return true;
}

}  // namespace dojo::ir
