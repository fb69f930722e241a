// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the interpreter works out once a program: accesses, conversions, private storage.
#include <algorithm>
#include <optional>

#include "ir/interpret_machine.h"

namespace dojo::ir {

Machine::AccessPlan Machine::plan(const Access& access) const {
  AccessPlan out;
  out.buffer = access.buffer;
  out.storage = program_.storageOf(access.buffer);
  out.tag = (access.buffer - out.storage) * kMaxElements;
  const Buffer& buffer = program_.buffer(access.buffer);
  const std::vector<std::int64_t> strides = buffer.strides();
  DOJO_CHECK(access.indices.size() == buffer.dims.size(), "an access has one index a dim");
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    const Index& index = access.indices[d];
    const Dim& dim = buffer.dims[d];
    IndexPlan& next = out.indices.emplace_back();
    next.affine = index.affine;
    if (index.isGather()) {
      Access inner;
      inner.buffer = index.gather;
      inner.indices.assign(index.gatherIndices.begin(), index.gatherIndices.end());
      next.gather.push_back(plan(inner));
    }
    next.extent = dim.extent;
    next.stride = strides[d];
    next.fold = dim.fold;
    out.folded = out.folded || dim.fold > 0;
  }
  return out;
}

Machine::OperandPlan Machine::plan(const Operand& operand, DType to) const {
  OperandPlan out;
  out.to = to;
  if (const auto* access = std::get_if<Access>(&operand)) {
    out.kind = OperandPlan::Kind::element;
    out.access = plan(*access);
    out.from = program_.buffer(access->buffer).dtype;
  } else if (const auto* affine = std::get_if<Affine>(&operand)) {
    out.kind = OperandPlan::Kind::index;
    out.affine = *affine;
    out.from = DType::i64;
  } else {
    out.value = arithmetic_.constant(std::get<Constant>(operand), to);
  }
  return out;
}

void Machine::planLeaf(NodePlan& out, const Leaf& leaf) const {
  out.dst = plan(leaf.dst);
  out.type = program_.buffer(leaf.dst.buffer).dtype;
  out.compute = computeType(program_, leaf);
  out.result = info(leaf.op).comparison ? DType::boolean : out.compute;
  for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
    const bool condition = leaf.op == Op::select && i == 0;
    out.operands.push_back(plan(leaf.operands[i], condition ? DType::boolean : out.compute));
  }
}

std::vector<Machine::NodePlan> Machine::plan(const std::vector<Node>& nodes, Path& path,
                                             bool transfer) {
  std::vector<NodePlan> out(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    path.push_back(static_cast<int>(i));
    NodePlan& next = out[i];
    next.node = &nodes[i];
    next.path = path;
    next.depth = static_cast<int>(path.size()) - 1;
    if (nodes[i].isLeaf()) {
      planLeaf(next, nodes[i].leaf());
    } else {
      const Scope& scope = nodes[i].scope();
      const bool copied = transfer || scope.mapping.has(MapKind::dma);
      next.concurrent = scope.mapping.concurrent() || copied;
      next.streams = scope.mapping.has(MapKind::stream);
      next.vector = scope.mapping.has(MapKind::vector);
      if (scope.extent.range) {
        next.first = plan(scope.extent.range->first);
        next.last = plan(scope.extent.range->last);
      }
      maxDepth_ = std::max(maxDepth_, path.size());
      next.body = plan(scope.body, path, copied);
    }
    path.pop_back();
  }
  return out;
}

/// Register or stack storage is private to the innermost concurrent scope around all of its uses.
void Machine::findPrivates() {
  std::vector<std::optional<Path>> common(program_.buffers.size());
  const auto use = [&](BufferId id, const Path& place) {
    auto& shared = common[static_cast<std::size_t>(id)];
    if (!shared) {
      shared = place;
      return;
    }
    const auto differ = std::mismatch(shared->begin(), shared->end(), place.begin(), place.end());
    shared->erase(differ.first, shared->end());
  };
  walk(program_, [&](const Visit& visit) {
    // Only scopes strictly around the node count, also for the extent of a scope.
    const Path around(visit.path.begin(), visit.path.end() - 1);
    forEachAccess(*visit.node, [&](const Access& access, Touch) {
      use(program_.storageOf(access.buffer), around);
    });
    return true;
  });
  for (std::size_t i = 0; i < common.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (!common[i] || !buffer.isLocal() || buffer.role != Role::tmp) continue;
    std::vector<NodePlan>* level = &body_;
    NodePlan* innermost = nullptr;
    for (const int position : *common[i]) {
      NodePlan& node = (*level)[static_cast<std::size_t>(position)];
      if (node.concurrent) innermost = &node;
      level = &node.body;
    }
    if (innermost != nullptr) innermost->privates.push_back(static_cast<BufferId>(i));
  }
}

}  // namespace dojo::ir
