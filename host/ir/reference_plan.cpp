// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/reference_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dojo::ir {
namespace {

class Planner {
 public:
  Planner(const Program& program, bool hasNaN) : program_(program), hasNaN_(hasNaN) {}

  ReferencePlan run() {
    ReferencePlan out;
    for (const Buffer& buffer : program_.buffers) {
      Cells& cells = out.cells.emplace_back();
      cells.type = buffer.dtype;
      cells.kind = kindOf(buffer.dtype);
    }
    findExact(out.cells);
    Path path;
    out.body = plan(program_.body, path, out.depth);
    allocate(out.cells);
    return out;
  }

 private:
  // --- Which buffers are exact: all that is ever written to them is.

  bool operandExact(const Operand& operand, const std::vector<Cells>& cells) const {
    if (const auto* access = std::get_if<Access>(&operand)) {
      return cells[static_cast<std::size_t>(access->buffer)].exact;
    }
    const auto* constant = std::get_if<Constant>(&operand);
    const auto* real = constant == nullptr ? nullptr : std::get_if<double>(constant);
    return real == nullptr || !std::isnan(*real);
  }

  bool writesExactly(const Leaf& leaf, const std::vector<Cells>& cells) const {
    for (const Operand& operand : leaf.operands) {
      if (!operandExact(operand, cells)) return false;
    }
    const DType type = program_.buffer(leaf.dst.buffer).dtype;
    if (!isFloat(type)) return true;
    const bool maximum = leaf.op == Op::max || leaf.op == Op::min || leaf.assign == Assign::max ||
                         leaf.assign == Assign::min;
    if (maximum && hasNaN_) return false;
    if (leaf.isReduction() && leaf.assign != Assign::max && leaf.assign != Assign::min) {
      return false;
    }
    switch (leaf.op) {
      case Op::copy:
      case Op::neg:
      case Op::abs:
      case Op::max:
      case Op::min:
      case Op::select:
      case Op::round:
      case Op::floor:
      case Op::ceil:
      case Op::trunc:
        return true;
      case Op::cast:
      case Op::satCast: {
        const DType from = computeType(program_, leaf);
        return from == DType::boolean || convertsExactly(from, type);
      }
      default:
        return false;
    }
  }

  void findExact(std::vector<Cells>& cells) const {
    std::vector<const Leaf*> leaves;
    walk(program_, [&](const Visit& visit) {
      if (visit.node->isLeaf()) leaves.push_back(&visit.node->leaf());
      return true;
    });
    for (bool changed = true; changed;) {
      changed = false;
      for (const Leaf* leaf : leaves) {
        bool& exact = cells[static_cast<std::size_t>(leaf->dst.buffer)].exact;
        if (!exact || writesExactly(*leaf, cells)) continue;
        exact = false;
        changed = true;
      }
    }
  }

  void allocate(std::vector<Cells>& cells) const {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<char> sums(cells.size(), 0);
    std::vector<char> products(cells.size(), 0);
    walk(program_, [&](const Visit& visit) {
      if (!visit.node->isLeaf()) return true;
      const Leaf& leaf = visit.node->leaf();
      const auto id = static_cast<std::size_t>(leaf.dst.buffer);
      if (leaf.assign == Assign::add || leaf.assign == Assign::fma) sums[id] = 1;
      if (leaf.assign == Assign::mul) products[id] = 1;
      return true;
    });
    for (std::size_t i = 0; i < cells.size(); ++i) {
      Cells& c = cells[i];
      const auto size = static_cast<std::size_t>(program_.buffers[i].storageElements());
      if (!c.exact) c.bound.assign(size, kInfinity);
      if (c.kind == Kind::integer) {
        c.integer.assign(size, 0);
        continue;
      }
      c.high.assign(size, kNaN);
      if (c.kind == Kind::wide && !c.exact) c.low.assign(size, 0);
      if (sums[i] != 0) {
        c.mass.assign(size, 0);
        c.count.assign(size, 0);
        c.quantum.assign(size, 0);
      }
      if (products[i] != 0) {
        c.most.assign(size, 1);
        c.least.assign(size, 1);
      }
    }
  }

  // --- Nodes

  ReferenceAccess plan(const Access& access) const {
    ReferenceAccess out;
    out.buffer = access.buffer;
    out.inside = true;
    const Buffer& buffer = program_.buffer(access.buffer);
    const std::vector<std::int64_t> strides = buffer.strides();
    DOJO_CHECK(access.indices.size() == buffer.dims.size(), "an access has one index a dim");
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      const Index& index = access.indices[d];
      ReferenceAccess::Index& next = out.indices.emplace_back();
      next.affine = index.affine;
      next.extent = buffer.dims[d].extent;
      next.stride = strides[d];
      next.fold = buffer.dims[d].fold;
      if (index.isGather()) {
        Access inner;
        inner.buffer = index.gather;
        inner.indices.assign(index.gatherIndices.begin(), index.gatherIndices.end());
        next.gather.push_back(plan(inner));
        out.affine = false;
        out.inside = false;
        continue;
      }
      if (next.fold > 1) out.affine = false;
      out.offset += next.affine * next.stride;
      const Interval range = valueRange(next.affine, ranges_);
      if (range.lo < 0 || range.hi > next.extent) out.inside = false;
    }
    return out;
  }

  ReferenceOperand plan(const Operand& operand, DType to) const {
    ReferenceOperand out;
    out.to = to;
    if (const auto* access = std::get_if<Access>(&operand)) {
      out.what = ReferenceOperand::What::element;
      out.access = plan(*access);
      out.from = program_.buffer(access->buffer).dtype;
    } else if (const auto* affine = std::get_if<Affine>(&operand)) {
      out.what = ReferenceOperand::What::index;
      out.affine = *affine;
      out.from = DType::i64;
    } else {
      out.from = to;
      auto block = std::make_shared<Block>();
      const Number value = numberOf(std::get<Constant>(operand), to);
      std::fill_n(block->high, kBlock, isFloat(to) ? value.real : 0);
      std::fill_n(block->low, kBlock, 0.0);
      std::fill_n(block->bound, kBlock, 0.0);
      std::fill_n(block->integer, kBlock, isFloat(to) ? 0 : value.integer);
      out.constant = std::move(block);
    }
    return out;
  }

  void planLeaf(ReferenceNode& out, const Leaf& leaf) const {
    out.dst = plan(leaf.dst);
    out.type = program_.buffer(leaf.dst.buffer).dtype;
    out.compute = computeType(program_, leaf);
    out.result = info(leaf.op).comparison ? DType::boolean : out.compute;
    for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
      const bool condition = leaf.op == Op::select && i == 0;
      out.operands.push_back(plan(leaf.operands[i], condition ? DType::boolean : out.compute));
    }
    const int innermost = out.depth - 1;
    for (const Operand& operand : leaf.operands) {
      const auto* access = std::get_if<Access>(&operand);
      if (access == nullptr || access->buffer != leaf.dst.buffer) continue;
      const bool own = *access == leaf.dst && out.dst.affine && out.dst.offset.uses(innermost);
      if (!own) out.serial = true;
    }
  }

  // --- The order of loops. Reductions may run in any order: the bound covers them all.

  static bool reorders(const Leaf& leaf) {
    return leaf.isReduction() &&
           std::none_of(leaf.operands.begin(), leaf.operands.end(), [&](const Operand& operand) {
             const auto* access = std::get_if<Access>(&operand);
             return access != nullptr && access->buffer == leaf.dst.buffer;
           });
  }

  /// A rough cost of one iteration where `variable` is innermost.
  static double costOf(const ReferenceNode& leaf, int variable, std::int64_t extent) {
    constexpr double kElsewhere = 20;
    double cost = 60.0 / static_cast<double>(std::clamp<std::int64_t>(extent, 1, kBlock));
    for (const ReferenceOperand& operand : leaf.operands) {
      if (operand.what != ReferenceOperand::What::element) continue;
      const std::int64_t stride = operand.access.offset.coef(variable);
      if (!operand.access.affine) {
        cost += kElsewhere;
      } else if (stride != 0 && stride != 1) {
        cost += stride % kBlock == 0 ? 6 : 2;
      }
    }
    const std::int64_t stride = leaf.dst.offset.coef(variable);
    if (!leaf.dst.affine) return cost + kElsewhere;
    return cost + (stride == 0 ? 0 : stride == 1 ? 3 : kElsewhere);
  }

  static int innermostOf(const ReferenceNode& scope) {
    if (scope.body.size() != 1) return ReferenceNode::kNoNest;
    const ReferenceNode& only = scope.body.front();
    if (only.node->isLeaf()) return scope.depth;
    if (only.innermost == ReferenceNode::kNoNest || !only.node->guard.empty()) {
      return ReferenceNode::kNoNest;
    }
    const ReferenceNode* leaf = &only;
    int best = only.innermost;
    double bestCost = 0;
    const auto consider = [&](const ReferenceNode& candidate) {
      const double cost = costOf(*leaf, candidate.depth, candidate.node->scope().extent.count);
      if (bestCost == 0 || cost < bestCost) {
        best = candidate.depth;
        bestCost = cost;
      }
    };
    bool constant = scope.node->scope().extent.isConstant();
    for (; leaf->node->isScope(); leaf = &leaf->body.front()) {
      constant = constant && leaf->node->scope().extent.isConstant();
    }
    if (!constant || !reorders(leaf->node->leaf())) return ReferenceNode::kNoNest;
    for (const ReferenceNode* at = &scope; at->node->isScope(); at = &at->body.front()) {
      consider(*at);
    }
    return best;
  }

  std::vector<ReferenceNode> plan(const std::vector<Node>& nodes, Path& path, std::size_t& depth) {
    std::vector<ReferenceNode> out(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      path.push_back(static_cast<int>(i));
      ReferenceNode& next = out[i];
      next.node = &nodes[i];
      next.path = path;
      next.depth = static_cast<int>(path.size()) - 1;
      if (nodes[i].isLeaf()) {
        planLeaf(next, nodes[i].leaf());
      } else {
        const Scope& scope = nodes[i].scope();
        if (scope.extent.range) {
          next.first = plan(scope.extent.range->first);
          next.last = plan(scope.extent.range->last);
        }
        depth = std::max(depth, path.size());
        ranges_.push_back(variableRange(program_, scope));
        next.body = plan(scope.body, path, depth);
        ranges_.pop_back();
        next.innermost = innermostOf(next);
      }
      path.pop_back();
    }
    return out;
  }

  const Program& program_;
  bool hasNaN_;
  std::vector<Interval> ranges_;
};

}  // namespace

ReferencePlan planReference(const Program& program, bool hasNaN) {
  return Planner(program, hasNaN).run();
}

}  // namespace dojo::ir
