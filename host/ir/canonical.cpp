// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>

#include "ir/affine.h"
#include "ir/numeric.h"
#include "ir/tree.h"

namespace dojo::ir {

namespace {

/// The order in which buffers are first written and first mentioned.
struct BufferOrder {
  std::vector<BufferId> written, mentioned;
  std::vector<bool> isWritten, isMentioned;

  explicit BufferOrder(std::size_t count) : isWritten(count), isMentioned(count) {}

  void mention(BufferId id) {
    if (isMentioned[static_cast<std::size_t>(id)]) return;
    isMentioned[static_cast<std::size_t>(id)] = true;
    mentioned.push_back(id);
  }
  void write(BufferId id) {
    mention(id);
    if (isWritten[static_cast<std::size_t>(id)]) return;
    isWritten[static_cast<std::size_t>(id)] = true;
    written.push_back(id);
  }
  void access(const Access& access) {
    mention(access.buffer);
    for (const Index& index : access.indices) {
      if (index.isGather()) mention(index.gather);
    }
  }
  void nodes(const std::vector<Node>& body) {
    for (const Node& node : body) {
      if (node.isScope()) {
        const Scope& scope = node.scope();
        if (scope.extent.range) {
          access(scope.extent.range->first);
          access(scope.extent.range->last);
        }
        for (const BufferId id : scope.mapping.streams) mention(id);
        nodes(scope.body);
      } else {
        for (const Operand& operand : node.leaf().operands) {
          if (const auto* element = std::get_if<Access>(&operand)) access(*element);
        }
        access(node.leaf().dst);
        write(node.leaf().dst.buffer);
      }
    }
  }
};

/// For each buffer the first of those that share its storage.
std::vector<BufferId> rootsOf(const Program& program) {
  std::vector<BufferId> roots;
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    roots.push_back(static_cast<BufferId>(id));
  }
  const auto rootOf = [&](BufferId id) {
    while (roots[static_cast<std::size_t>(id)] != id) id = roots[static_cast<std::size_t>(id)];
    return id;
  };
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    if (program.buffers[id].shares < 0) continue;
    const BufferId a = rootOf(static_cast<BufferId>(id));
    const BufferId b = rootOf(program.buffers[id].shares);
    roots[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (BufferId& root : roots) root = rootOf(root);
  return roots;
}

/// The tmps of one storage name the first declared. `roots` says for each which storage it is in,
/// by any buffer of it, also one that is gone.
void orderSharing(Program& program, const std::vector<BufferId>& roots) {
  std::map<BufferId, BufferId> firsts;
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const auto [first, fresh] = firsts.emplace(roots[id], static_cast<BufferId>(id));
    program.buffers[id].shares = fresh ? -1 : first->second;
  }
}

/// Arguments by role, then tmps by first write, then tmps that are only read, by first mention.
void orderBuffers(Program& program) {
  const std::size_t count = program.buffers.size();
  BufferOrder order(count);
  order.nodes(program.body);

  std::vector<BufferId> chosen;
  chosen.reserve(count);
  for (const Role role : {Role::in, Role::out, Role::inout}) {
    for (std::size_t id = 0; id < count; ++id) {
      if (program.buffers[id].role == role) chosen.push_back(static_cast<BufferId>(id));
    }
  }
  const auto isTmp = [&](BufferId id) { return program.buffer(id).role == Role::tmp; };
  std::copy_if(order.written.begin(), order.written.end(), std::back_inserter(chosen), isTmp);
  for (const BufferId id : order.mentioned) {
    if (isTmp(id) && !order.isWritten[static_cast<std::size_t>(id)]) chosen.push_back(id);
  }

  std::vector<BufferId> roots;
  if (program.hasSharing()) roots = rootsOf(program);
  bool same = chosen.size() == count;
  for (std::size_t i = 0; same && i < count; ++i) same = chosen[i] == static_cast<BufferId>(i);
  if (same) {
    if (!roots.empty()) orderSharing(program, roots);
    return;
  }

  std::vector<BufferId> renamed(count, -1);
  std::vector<Buffer> buffers;
  buffers.reserve(chosen.size());
  for (const BufferId id : chosen) {
    renamed[static_cast<std::size_t>(id)] = static_cast<BufferId>(buffers.size());
    buffers.push_back(std::move(program.buffer(id)));
  }
  program.buffers = std::move(buffers);
  if (!roots.empty()) {
    std::vector<BufferId> ordered;
    for (const BufferId id : chosen) ordered.push_back(roots[static_cast<std::size_t>(id)]);
    orderSharing(program, ordered);
  }
  const auto rename = [&](BufferId id) { return renamed[static_cast<std::size_t>(id)]; };
  for (Node& node : program.body) renameBuffers(node, rename);
}

std::strong_ordering compare(const Affine& a, const Affine& b) {
  const auto terms = std::lexicographical_compare_three_way(
      a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
      [](const Term& x, const Term& y) {
        return x.var != y.var ? x.var <=> y.var : x.coef <=> y.coef;
      });
  return terms != 0 ? terms : a.constant() <=> b.constant();
}

std::strong_ordering compare(const std::vector<Affine>& a, const std::vector<Affine>& b) {
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Affine& x, const Affine& y) { return compare(x, y); });
}

std::strong_ordering compare(const Access& a, const Access& b) {
  if (a.buffer != b.buffer) return a.buffer <=> b.buffer;
  return std::lexicographical_compare_three_way(
      a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
      [](const Index& x, const Index& y) {
        if (x.gather != y.gather) return x.gather <=> y.gather;
        const auto inner = compare(x.gatherIndices, y.gatherIndices);
        return inner != 0 ? inner : compare(x.affine, y.affine);
      });
}

std::strong_ordering compare(const Constant& a, const Constant& b) {
  if (a.index() != b.index()) return a.index() <=> b.index();
  if (const auto* whole = std::get_if<std::int64_t>(&a)) return *whole <=> std::get<1>(b);
  return std::strong_order(std::get<0>(a), std::get<0>(b));
}

/// Elements, then index values, then constants.
bool operandBefore(const Operand& a, const Operand& b) {
  const auto rank = [](const Operand& operand) {
    return std::holds_alternative<Access>(operand)   ? 0
           : std::holds_alternative<Affine>(operand) ? 1
                                                     : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (const auto* element = std::get_if<Access>(&a)) {
    return compare(*element, std::get<Access>(b)) < 0;
  }
  if (const auto* value = std::get_if<Affine>(&a)) return compare(*value, std::get<Affine>(b)) < 0;
  return compare(std::get<Constant>(a), std::get<Constant>(b)) < 0;
}

/// The operand as an affine expression, where it is an index value or a whole constant.
std::optional<Affine> asIndexValue(const Operand& operand) {
  if (const auto* value = std::get_if<Affine>(&operand)) return *value;
  const auto* constant = std::get_if<Constant>(&operand);
  if (constant == nullptr || constant->index() != 1) return std::nullopt;
  return Affine(std::get<std::int64_t>(*constant));
}

/// `{0} + 1` is one index value, not an addition. True where the leaf was changed.
bool foldIndexValues(Leaf& leaf) {
  if (leaf.assign == Assign::fma) return false;
  const bool binary = leaf.op == Op::add || leaf.op == Op::sub || leaf.op == Op::mul;
  if (!binary && leaf.op != Op::neg) return false;
  std::vector<Affine> values;
  bool anyVariable = false;
  for (const Operand& operand : leaf.operands) {
    const std::optional<Affine> value = asIndexValue(operand);
    if (!value) return false;
    anyVariable = anyVariable || !value->isConstant();
    values.push_back(*value);
  }
  if (!anyVariable) return false;
  std::optional<Affine> folded;
  switch (leaf.op) {
    case Op::add:
      folded = checkedAdd(values[0], values[1]);
      break;
    case Op::sub:
      folded = checkedSubtract(values[0], values[1]);
      break;
    case Op::neg:
      folded = checkedMultiply(values[0], -1);
      break;
    default:
      if (values[0].isConstant()) std::swap(values[0], values[1]);
      if (values[1].isConstant()) folded = checkedMultiply(values[0], values[1].constant());
  }
  if (!folded) return false;
  leaf.op = Op::copy;
  leaf.operands = {Operand(*folded)};
  return true;
}

/// The value of `x OP constant`, where no value of x's type lies beyond the constant.
bool compareBeyond(Op op, bool constantIsGreater) {
  switch (op) {
    case Op::lt:
    case Op::le:
      return constantIsGreater;
    case Op::gt:
    case Op::ge:
      return !constantIsGreater;
    default:
      return op == Op::ne;
  }
}

/// An index value without a variable is a constant of the type that the leaf computes in.
void settleIndexValue(const Program& program, Leaf& leaf, std::size_t at) {
  const std::int64_t value = std::get<Affine>(leaf.operands[at]).constant();
  leaf.operands[at] = Constant(value);
  const DType type = computeType(program, leaf);
  if (isFloat(type)) return;
  if (leaf.op == Op::cast) {
    leaf.operands[at] = Constant(wrapTo(type, value));
  } else if (leaf.op == Op::satCast) {
    leaf.operands[at] = Constant(saturateTo(type, value));
  } else if (info(leaf.op).comparison && (value < lowest(type) || value > highest(type))) {
    const bool right = compareBeyond(leaf.op, (value > 0) == (at == 1));
    leaf.op = Op::copy;
    leaf.operands = {Operand(Constant(std::int64_t{right ? 1 : 0}))};
  }
}

/// Constants have the kind (float or integer) that the leaf computes in.
void settleConstants(const Program& program, Leaf& leaf) {
  for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
    const auto* value = std::get_if<Affine>(&leaf.operands[i]);
    if (value != nullptr && value->isConstant()) settleIndexValue(program, leaf, i);
  }
  std::optional<DType> type;
  for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
    auto* constant = std::get_if<Constant>(&leaf.operands[i]);
    if (constant == nullptr) continue;
    if (!type) type = computeType(program, leaf);
    const bool wantsFloat = isFloat(*type) && !(leaf.op == Op::select && i == 0);
    if (const auto* whole = std::get_if<std::int64_t>(constant)) {
      if (wantsFloat) *constant = roundTo(*type, *whole);
    } else if (const double real = std::get<double>(*constant);
               !wantsFloat && std::fabs(real) < 0x1p53 && real == std::trunc(real)) {
      *constant = static_cast<std::int64_t>(real);
    }
  }
}

void canonicalGuard(Guard& guard) {
  if (guard.size() < 2) return;
  std::stable_sort(guard.begin(), guard.end(), [](const GuardTerm& a, const GuardTerm& b) {
    return compare(a.expr, b.expr) < 0;
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < guard.size(); ++i) {
    if (guard[i].expr == guard[kept].expr) {
      guard[kept].lo = std::max(guard[kept].lo, guard[i].lo);
      guard[kept].hi = std::min(guard[kept].hi, guard[i].hi);
    } else {
      guard[++kept] = guard[i];
    }
  }
  guard.resize(kept + 1);
}

/// A packing is only said where it isn't the row-major one.
void canonicalPacking(Buffer& buffer) {
  if (buffer.packing.size() != buffer.dims.size()) return;
  Buffer plain = buffer;
  plain.packing.clear();
  const std::vector<std::int64_t> rowMajor = plain.callerStrides();
  bool same = true;
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    if (buffer.dims[d].extent == 1) {
      buffer.packing[d] = 0;
    } else {
      same = same && buffer.packing[d] == rowMajor[d];
    }
  }
  if (same) buffer.packing.clear();
}

void canonicalNodes(const Program& program, std::vector<Node>& body) {
  for (Node& node : body) {
    canonicalGuard(node.guard);
    if (node.isScope()) {
      std::vector<BufferId>& streams = node.scope().mapping.streams;
      std::sort(streams.begin(), streams.end());
      streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
      if (node.scope().extent.range) node.scope().extent.count = 0;
      canonicalNodes(program, node.scope().body);
      continue;
    }
    Leaf& leaf = node.leaf();
    settleConstants(program, leaf);
    if (foldIndexValues(leaf)) settleConstants(program, leaf);
    if (info(leaf.op).commutative && operandBefore(leaf.operands[1], leaf.operands[0])) {
      std::swap(leaf.operands[0], leaf.operands[1]);
    }
  }
}

/// Those that the tree uses, by name.
void orderInstructions(Program& program) {
  if (program.instructions.empty()) return;
  std::vector<bool> used(program.instructions.size());
  const std::function<void(std::vector<Node>&, const std::function<void(Node&)>&)> each =
      [&each](std::vector<Node>& body, const std::function<void(Node&)>& fn) {
        for (Node& node : body) {
          if (node.instruction >= 0) {
            fn(node);
          } else if (node.isScope()) {
            each(node.scope().body, fn);
          }
        }
      };
  each(program.body, [&](Node& node) { used[static_cast<std::size_t>(node.instruction)] = true; });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return program.instructions[a].name < program.instructions[b].name;
  });
  std::vector<int> renamed(used.size(), -1);
  std::vector<Instruction> kept;
  for (const std::size_t i : order) {
    renamed[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(program.instructions[i]));
  }
  program.instructions = std::move(kept);
  each(program.body,
       [&](Node& node) { node.instruction = renamed[static_cast<std::size_t>(node.instruction)]; });
}

}  // namespace

void canonicalize(Program& program) {
  orderInstructions(program);
  orderBuffers(program);
  for (Buffer& buffer : program.buffers) {
    if (!buffer.packing.empty()) canonicalPacking(buffer);
  }
  canonicalNodes(program, program.body);
}

}  // namespace dojo::ir
