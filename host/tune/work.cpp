// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/work.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ir/tree.h"

namespace dojo::tune {
namespace {

/// Combinations of variables in guards that are counted one by one.
constexpr double kMostCounted = 2e6;

/// The part of the iterations of the scopes in which the guards hold; nullopt: too many to count.
std::optional<double> holding(const ir::Program& program, const ir::Visit& visit) {
  std::vector<const ir::Guard*> guards = {&visit.node->guard};
  for (const ir::Node* scope : visit.enclosing) guards.push_back(&scope->guard);
  std::set<int> used;
  std::vector<const ir::GuardTerm*> terms;
  for (const ir::Guard* guard : guards) {
    for (const ir::GuardTerm& term : *guard) {
      terms.push_back(&term);
      for (const ir::Term& t : term.expr.terms()) used.insert(t.var);
    }
  }
  if (terms.empty()) return 1.0;
  std::vector<int> vars(used.begin(), used.end());
  std::vector<ir::Interval> ranges;
  double combinations = 1;
  for (const int var : vars) {
    const ir::Interval range =
        ir::variableRange(program, visit.enclosing[static_cast<std::size_t>(var)]->scope());
    ranges.push_back(range);
    combinations *= static_cast<double>(std::max<std::int64_t>(range.hi - range.lo, 0));
  }
  if (combinations > kMostCounted) return std::nullopt;
  if (combinations == 0) return 0.0;
  std::vector<std::int64_t> values(visit.enclosing.size(), 0);
  for (std::size_t k = 0; k < vars.size(); ++k) {
    values[static_cast<std::size_t>(vars[k])] = ranges[k].lo;
  }
  double good = 0;
  while (true) {
    good += std::all_of(terms.begin(), terms.end(), [&](const ir::GuardTerm* term) {
      const std::int64_t value = term->expr.evaluate(values);
      return value >= term->lo && value < term->hi;
    });
    std::size_t k = 0;
    for (; k < vars.size(); ++k) {
      std::int64_t& value = values[static_cast<std::size_t>(vars[k])];
      if (++value < ranges[k].hi) break;
      value = ranges[k].lo;
    }
    if (k == vars.size()) return good / combinations;
  }
}

double operations(const ir::Leaf& leaf) {
  double count = leaf.isReduction() ? 1 : 0;
  switch (leaf.op) {
    case ir::Op::copy:
    case ir::Op::cast:
    case ir::Op::satCast:
    case ir::Op::select:
      return count;
    case ir::Op::fma:
      return count + 2;
    default:
      return count + 1;
  }
}

}  // namespace

Work countWork(const ir::Program& program) {
  Work work;
  work.flops = 0;
  work.terms = 0;
  std::vector<double> touches(program.buffers.size(), 0);
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!visit.node->isLeaf()) return true;
    double executions = 1;
    bool known = true;
    for (const ir::Node* scope : visit.enclosing) {
      const ir::Interval range = ir::variableRange(program, scope->scope());
      executions *= static_cast<double>(std::max<std::int64_t>(range.hi - range.lo, 0));
      known = known && scope->scope().extent.isConstant();
    }
    work.executions += executions;
    ir::forEachAccess(*visit.node, [&](const ir::Access& access, ir::Touch) {
      touches[static_cast<std::size_t>(access.buffer)] += executions;
    });
    const ir::Leaf& leaf = visit.node->leaf();
    if (!ir::isFloat(program.buffer(leaf.dst.buffer).dtype)) return true;
    const double each = operations(leaf);
    if (each == 0) return true;
    const std::optional<double> part = holding(program, visit);
    if (!known || !part) {
      work.flops.reset();
      work.terms.reset();
      return true;
    }
    if (work.flops) *work.flops += executions * *part * each;
    const bool sums = leaf.assign == ir::Assign::add || leaf.assign == ir::Assign::fma;
    if (work.terms && sums) *work.terms += executions * *part;
    return true;
  });
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const ir::Buffer& buffer = program.buffers[id];
    if (!buffer.isArgument()) continue;
    const double elements = static_cast<double>(buffer.logicalElements());
    const double bytes = elements * ir::sizeBytes(buffer.dtype);
    if (buffer.role == ir::Role::inout) {
      work.bytes += 2 * bytes;
    } else if (buffer.role == ir::Role::out || buffer.values) {
      work.bytes += bytes;
    } else {
      // Of a table, what is gathered from it.
      work.bytes += std::min(elements, touches[id]) * ir::sizeBytes(buffer.dtype);
    }
  }
  return work;
}

}  // namespace dojo::tune
