// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/streams.h"

#include <algorithm>

#include "ir/tree.h"
#include "region/inverse.h"

namespace dojo::moves {
namespace {

/// Calls `fn(access, touch)` for all that the node and what is in it touches.
template <class F>
void forEachBelow(const ir::Node& node, const F& fn) {
  ir::forEachAccess(node, fn);
  if (!node.isScope()) return;
  for (const ir::Node& inner : node.scope().body) forEachBelow(inner, fn);
}

/// An extent inside that data decides.
bool irregular(const ir::Node& node, ir::BufferId buffer) {
  if (!node.isScope() || !ir::mentionsBuffer(node, buffer)) return false;
  const std::vector<ir::Node>& body = node.scope().body;
  return !node.scope().extent.isConstant() ||
         std::any_of(body.begin(), body.end(),
                     [&](const ir::Node& inner) { return irregular(inner, buffer); });
}

bool isFloatOperand(const ir::Program& program, const ir::Operand& operand) {
  if (const auto* access = std::get_if<ir::Access>(&operand)) {
    return ir::isFloat(program.buffer(access->buffer).dtype);
  }
  return std::holds_alternative<ir::Constant>(operand);
}

/// 0: not an instruction of the FPU alone.
std::int64_t instructionsOf(const ir::Program& program, const ir::Leaf& leaf) {
  const ir::DType type = program.buffer(leaf.dst.buffer).dtype;
  const auto native = [](ir::DType t) { return t == ir::DType::f64 || t == ir::DType::f32; };
  if (!native(type) || !native(ir::computeType(program, leaf))) return 0;
  if (!std::all_of(leaf.operands.begin(), leaf.operands.end(),
                   [&](const ir::Operand& operand) { return isFloatOperand(program, operand); })) {
    return 0;
  }
  switch (leaf.op) {
    case ir::Op::div:
      if (const auto inverse = region::inverseOf(leaf, type)) {
        return (inverse->low == 0 ? 1 : 2) + (leaf.isReduction() ? 1 : 0);
      }
      return 0;
    case ir::Op::copy:
      return 1;
    case ir::Op::cast:
    case ir::Op::add:
    case ir::Op::sub:
    case ir::Op::mul:
    case ir::Op::fma:
    case ir::Op::neg:
    case ir::Op::abs:
    case ir::Op::min:
    case ir::Op::max:
      break;
    default:
      return 0;
  }
  return leaf.isReduction() && leaf.assign != ir::Assign::fma ? 2 : 1;
}

}  // namespace

int moversFor(const ir::Node& scope, const std::vector<ir::BufferId>& buffers) {
  int out = 0;
  for (const ir::BufferId id : buffers) {
    bool reads = false, writes = false;
    forEachBelow(scope, [&](const ir::Access& access, ir::Touch touch) {
      if (access.buffer == id) (touch == ir::Touch::read ? reads : writes) = true;
    });
    out += (reads ? 1 : 0) + (writes ? 1 : 0);
  }
  return out;
}

bool reachedByStreams(const ir::Buffer& buffer, const target::Target& target) {
  return buffer.location == "heap" || buffer.location == "stack" ||
         buffer.location == target.streams.memory;
}

std::string notStreamable(const ir::Program& program, const ir::Node& scope, ir::BufferId id,
                          const target::Target& target) {
  const ir::Buffer& buffer = program.buffer(id);
  if (!ir::isFloat(buffer.dtype)) return buffer.name + " has no floats";
  if (!reachedByStreams(buffer, target)) {
    return buffer.name + " is in '" + buffer.location + "', which streams don't reach";
  }
  bool touched = false, indexes = false;
  int gathers = 0;
  forEachBelow(scope, [&](const ir::Access& access, ir::Touch) {
    for (const ir::Index& index : access.indices) indexes = indexes || index.gather == id;
    if (access.buffer != id) return;
    touched = true;
    gathers = std::max(gathers, static_cast<int>(std::count_if(
                                    access.indices.begin(), access.indices.end(),
                                    [](const ir::Index& index) { return index.isGather(); })));
  });
  if (!touched) return "nothing in the scope touches " + buffer.name;
  if (gathers > 0 && target.streams.indirect == 0) {
    return buffer.name + " is gathered from, and the target has no indirect streams";
  }
  if (gathers > 1) return buffer.name + " is gathered from in several dims";
  if (irregular(scope, id)) return buffer.name + " stands in a scope whose extent data decides";
  return "";
}

std::vector<ir::BufferId> streamableIn(const ir::Program& program, const ir::Node& scope,
                                       const target::Target& target) {
  std::vector<ir::BufferId> out;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const auto id = static_cast<ir::BufferId>(i);
    if (notStreamable(program, scope, id, target).empty()) out.push_back(id);
  }
  return out;
}

std::int64_t loopInstructions(const ir::Program& program, const ir::Node& node,
                              const target::Target& target) {
  if (node.isLeaf()) return instructionsOf(program, node.leaf());
  std::int64_t sum = 0;
  for (const ir::Node& inner : node.scope().body) {
    const std::int64_t some = loopInstructions(program, inner, target);
    if (some == 0) return 0;
    sum = std::min(sum + some, ir::kMaxElements);
  }
  if (!node.scope().mapping.has(ir::MapKind::unroll)) return sum;
  const std::int64_t n = std::max<std::int64_t>(node.scope().extent.count, 1);
  return sum > ir::kMaxElements / n ? ir::kMaxElements : sum * n;
}

int loopNesting(const ir::Node& node) {
  if (node.isLeaf()) return 0;
  int most = 0;
  for (const ir::Node& inner : node.scope().body) most = std::max(most, loopNesting(inner));
  return most + (node.scope().mapping.has(ir::MapKind::frep) ? 1 : 0);
}

}  // namespace dojo::moves
