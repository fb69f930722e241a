// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/updates.h"

#include <algorithm>

namespace dojo::moves {
namespace {

bool mentions(const ir::Operand& operand, ir::BufferId buffer) {
  const auto* access = std::get_if<ir::Access>(&operand);
  return access != nullptr && access->buffer == buffer;
}

struct Spelling {
  ir::Assign assign;
  ir::Op op;
};
constexpr Spelling kSpellings[] = {{ir::Assign::add, ir::Op::add},
                                   {ir::Assign::mul, ir::Op::mul},
                                   {ir::Assign::max, ir::Op::max},
                                   {ir::Assign::min, ir::Op::min}};

}  // namespace

std::optional<ir::Leaf> opened(const ir::Leaf& leaf) {
  ir::Leaf out = leaf;
  out.assign = ir::Assign::set;
  for (const ir::Operand& operand : leaf.operands) {
    if (mentions(operand, leaf.dst.buffer)) return std::nullopt;
  }
  if (leaf.assign == ir::Assign::fma) {
    out.op = ir::Op::fma;
    out.operands.emplace_back(leaf.dst);
    return out;
  }
  if (leaf.op != ir::Op::copy) return std::nullopt;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.assign != leaf.assign) continue;
    out.op = spelling.op;
    out.operands.insert(out.operands.begin(), leaf.dst);
    return out;
  }
  return std::nullopt;
}

std::optional<ir::Leaf> closed(const ir::Leaf& leaf) {
  if (leaf.isReduction()) return std::nullopt;
  const auto own = std::find(leaf.operands.begin(), leaf.operands.end(), ir::Operand(leaf.dst));
  if (own == leaf.operands.end()) return std::nullopt;
  ir::Leaf out = leaf;
  out.operands.erase(out.operands.begin() + (own - leaf.operands.begin()));
  for (const ir::Operand& operand : out.operands) {
    if (mentions(operand, leaf.dst.buffer)) return std::nullopt;
  }
  if (leaf.op == ir::Op::fma) {
    if (own + 1 != leaf.operands.end()) return std::nullopt;
    out.assign = ir::Assign::fma;
    out.op = ir::Op::mul;
    return out;
  }
  for (const Spelling& spelling : kSpellings) {
    if (spelling.op != leaf.op) continue;
    out.assign = spelling.assign;
    out.op = ir::Op::copy;
    return out;
  }
  return std::nullopt;
}

}  // namespace dojo::moves
