// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include "moves/rule.h"

namespace dojo::moves {

State::State(ir::Program program, const target::Target& target)
    : program_(std::move(program)), target_(&target) {}

State::~State() = default;

const ir::Accesses& State::accesses() const {
  if (!accesses_) accesses_ = std::make_unique<ir::Accesses>(program_);
  return *accesses_;
}

const std::vector<ir::Visit>& State::nodes() const {
  if (nodes_.empty()) {
    ir::walk(program_, [this](const ir::Visit& visit) {
      nodes_.push_back(visit);
      return true;
    });
  }
  return nodes_;
}

const ir::Visit* State::visit(const ir::Path& path) const {
  // Program order is the lexicographic order of places.
  const auto& all = nodes();
  const auto found = std::lower_bound(
      all.begin(), all.end(), path,
      [](const ir::Visit& node, const ir::Path& wanted) { return node.path < wanted; });
  return found != all.end() && found->path == path ? &*found : nullptr;
}

std::vector<ir::BufferId> State::buffersAt(const ir::Visit& visit) const {
  if (!homesKnown_) {
    homesKnown_ = true;
    homes_.resize(program_.buffers.size());
    std::vector<bool> written(program_.buffers.size());
    for (const ir::Visit& node : nodes()) {
      ir::forEachAccess(*node.node, [&](const ir::Access& access, ir::Touch touch) {
        const auto id = static_cast<std::size_t>(access.buffer);
        const bool writes = touch == ir::Touch::write;
        if (homes_[id].empty() || (writes && !written[id])) homes_[id] = node.path;
        if (writes) written[id] = true;
      });
    }
  }
  std::vector<ir::BufferId> out;
  for (std::size_t id = 0; id < homes_.size(); ++id) {
    if (homes_[id] == visit.path) out.push_back(static_cast<ir::BufferId>(id));
  }
  return out;
}

namespace {

bool decides(ir::Op op) {
  switch (op) {
    case ir::Op::satCast:
    case ir::Op::round:
    case ir::Op::floor:
    case ir::Op::ceil:
    case ir::Op::trunc:
      return true;
    default:
      return ir::info(op).comparison;
  }
}

}  // namespace

bool State::reachesDecision(ir::BufferId buffer) const {
  if (!decisionsKnown_) {
    decisionsKnown_ = true;
    decisions_.assign(program_.buffers.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::Visit& node : nodes()) {
        if (!node.node->isLeaf()) continue;
        const ir::Leaf& leaf = node.node->leaf();
        const auto dst = static_cast<std::size_t>(leaf.dst.buffer);
        const bool decided =
            decides(leaf.op) || !ir::isFloat(program_.buffers[dst].dtype) || decisions_[dst];
        if (!decided) continue;
        for (const ir::Operand& operand : leaf.operands) {
          const auto* access = std::get_if<ir::Access>(&operand);
          if (access == nullptr) continue;
          const auto id = static_cast<std::size_t>(access->buffer);
          if (!decisions_[id]) changed = decisions_[id] = true;
        }
      }
    }
  }
  return decisions_[static_cast<std::size_t>(buffer)];
}

}  // namespace dojo::moves
