// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/shrink.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ir/canonical.h"
#include "ir/check.h"
#include "ir/tree.h"

namespace dojo::proof {

namespace {

using ir::Node;
using ir::Program;

std::size_t at(int position) { return static_cast<std::size_t>(position); }

/// Calls fn on each node with its siblings and position; stops where fn returns true.
bool eachNode(std::vector<Node>& body,
              const std::function<bool(std::vector<Node>&, std::size_t)>& fn) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (fn(body, i)) return true;
    if (body[i].isScope() && eachNode(body[i].scope().body, fn)) return true;
  }
  return false;
}

void dropEmptyScopes(std::vector<Node>& body) {
  for (Node& node : body) {
    if (node.isScope()) dropEmptyScopes(node.scope().body);
  }
  std::erase_if(body, [](const Node& node) { return node.isScope() && node.scope().body.empty(); });
}

void eraseWrites(std::vector<Node>& body, ir::BufferId id) {
  for (Node& node : body) {
    if (node.isScope()) eraseWrites(node.scope().body, id);
  }
  std::erase_if(body,
                [&](const Node& node) { return node.isLeaf() && node.leaf().dst.buffer == id; });
}

/// All simpler neighbours of a program, the simplest first.
class Simpler {
 public:
  explicit Simpler(const Program& program) : program_(program) {}

  std::vector<Program> all() {
    dropNodes();
    dropBuffers();
    unwrapScopes();
    lowerExtents();
    plainerNodes();
    plainerBuffers();
    return std::move(out_);
  }

 private:
  void add(Program changed) {
    dropEmptyScopes(changed.body);
    if (!changed.body.empty()) out_.push_back(std::move(changed));
  }

  void dropNodes() {
    for (const ir::Path& path : ir::allPaths(program_)) {
      Program changed = program_;
      auto* level = ir::siblings(changed, path);
      level->erase(level->begin() + path.back());
      add(std::move(changed));
    }
  }

  /// A computed buffer becomes an input, or goes with all that is written to it.
  void dropBuffers() {
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const ir::Buffer& buffer = program_.buffers[id];
      if (buffer.role == ir::Role::in) continue;
      Program changed = program_;
      eraseWrites(changed.body, static_cast<ir::BufferId>(id));
      ir::Buffer& now = changed.buffers[id];
      now.role = ir::Role::in;
      now.location = "heap";
      for (ir::Dim& dim : now.dims) dim.fold = 0;
      orderByRole(changed);
      add(std::move(changed));
    }
  }

  /// Arguments stand before tmp buffers, by role.
  static void orderByRole(Program& program) {
    std::vector<ir::BufferId> position(program.buffers.size());
    std::vector<ir::Buffer> buffers;
    for (const ir::Role role : {ir::Role::in, ir::Role::out, ir::Role::inout, ir::Role::tmp}) {
      for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        if (program.buffers[i].role != role) continue;
        position[i] = static_cast<ir::BufferId>(buffers.size());
        buffers.push_back(program.buffers[i]);
      }
    }
    program.buffers = std::move(buffers);
    for (ir::Buffer& buffer : program.buffers) {
      if (buffer.shares >= 0) buffer.shares = position[at(buffer.shares)];
    }
    for (Node& node : program.body) {
      ir::renameBuffers(node, [&](ir::BufferId old) { return position[at(old)]; });
    }
  }

  /// The body of a scope in its place, the variable being 0.
  void unwrapScopes() {
    for (const ir::Path& path : ir::allPaths(program_)) {
      if (!ir::find(program_, path)->isScope()) continue;
      Program changed = program_;
      const auto depth = static_cast<int>(path.size()) - 1;
      Node node = *ir::find(changed, path);
      std::vector<Node> body = std::move(node.scope().body);
      for (Node& child : body) {
        ir::substitute(child, depth, ir::Affine(0));
        ir::shiftVariables(child, depth + 1, -1);
      }
      auto* level = ir::siblings(changed, path);
      level->erase(level->begin() + path.back());
      level->insert(level->begin() + path.back(), body.begin(), body.end());
      add(std::move(changed));
    }
  }

  /// One number of iterations and elements becomes smaller wherever it stands; then one by one.
  void lowerExtents() {
    std::set<std::int64_t> sizes;
    ir::walk(program_, [&](const ir::Visit& visit) {
      if (visit.node->isScope()) sizes.insert(visit.node->scope().extent.count);
      return true;
    });
    for (const ir::Buffer& buffer : program_.buffers) {
      for (const ir::Dim& dim : buffer.dims) sizes.insert(dim.extent);
    }
    for (const std::int64_t size : sizes) {
      for (const std::int64_t smaller : {std::int64_t{1}, std::int64_t{2}, size / 2, size - 1}) {
        if (smaller < 1 || smaller >= size) continue;
        Program changed = program_;
        for (ir::Buffer& buffer : changed.buffers) {
          for (ir::Dim& dim : buffer.dims) {
            if (dim.extent == size) dim.extent = smaller;
          }
        }
        eachNode(changed.body, [&](std::vector<Node>& body, std::size_t i) {
          if (body[i].isScope() && body[i].scope().extent.count == size) {
            body[i].scope().extent.count = smaller;
          }
          return false;
        });
        add(std::move(changed));
      }
    }
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      for (std::size_t d = 0; d < program_.buffers[id].dims.size(); ++d) {
        Program changed = program_;
        if (--changed.buffers[id].dims[d].extent >= 1) add(std::move(changed));
      }
    }
    eachCopy([](Node& node) {
      return node.isScope() && node.scope().extent.isConstant() && node.scope().extent.count-- > 1;
    });
  }

  /// One changed program for each node where `change` does something.
  void eachCopy(const std::function<bool(Node&)>& change) {
    for (const ir::Path& path : ir::allPaths(program_)) {
      Program changed = program_;
      if (change(*ir::find(changed, path))) add(std::move(changed));
    }
  }

  void plainerNodes() {
    eachCopy([](Node& node) {
      const bool guarded = !node.guard.empty();
      node.guard.clear();
      return guarded;
    });
    eachCopy([](Node& node) {
      if (!node.isScope() || node.scope().mapping.none()) return false;
      node.scope().mapping = {};
      return true;
    });
    for (std::size_t i = 0; i < 3; ++i) {
      // One operand alone, and one operand as a constant.
      eachCopy([&](Node& node) {
        if (!node.isLeaf() || node.leaf().op == ir::Op::copy) return false;
        ir::Leaf& leaf = node.leaf();
        if (i >= leaf.operands.size() || leaf.assign == ir::Assign::fma) return false;
        leaf.operands = {leaf.operands[i]};
        leaf.op = ir::Op::copy;
        return true;
      });
      eachCopy([&](Node& node) {
        if (!node.isLeaf() || i >= node.leaf().operands.size()) return false;
        ir::Operand& operand = node.leaf().operands[i];
        if (std::holds_alternative<ir::Constant>(operand)) return false;
        operand = ir::Constant(1.0);
        return true;
      });
    }
    eachCopy([](Node& node) {
      if (!node.isLeaf() || !node.leaf().isReduction()) return false;
      node.leaf().assign = ir::Assign::set;
      return true;
    });
    eachCopy([](Node& node) {
      bool changed = false;
      const auto plain = [&](ir::Access& access) {
        for (ir::Index& index : access.indices) {
          if (!index.isGather()) continue;
          index = ir::Index(ir::Affine(0));
          changed = true;
        }
      };
      if (node.isLeaf()) ir::forEachAccessMutable(node, plain);
      return changed;
    });
  }

  void plainerBuffers() {
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const ir::Buffer& buffer = program_.buffers[id];
      if (buffer.shares >= 0) {
        Program changed = program_;
        changed.buffers[id].shares = -1;
        add(std::move(changed));
      }
      if (buffer.role == ir::Role::tmp && buffer.location != "heap") {
        Program changed = program_;
        changed.buffers[id].location = "heap";
        add(std::move(changed));
      }
      for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
        if (buffer.dims[d].pad != 0 || buffer.dims[d].fold != 0) {
          Program changed = program_;
          changed.buffers[id].dims[d].pad = changed.buffers[id].dims[d].fold = 0;
          add(std::move(changed));
        }
        Program changed = program_;
        changed.buffers[id].packing.clear();
        changed.buffers[id].dims.erase(changed.buffers[id].dims.begin() +
                                       static_cast<std::ptrdiff_t>(d));
        if (changed.buffers[id].values) continue;
        for (Node& node : changed.body) {
          ir::forEachAccessMutable(node, [&](ir::Access& access) {
            if (access.buffer == static_cast<ir::BufferId>(id)) {
              access.indices.erase(access.indices.begin() + static_cast<std::ptrdiff_t>(d));
            }
          });
        }
        add(std::move(changed));
      }
    }
  }

  const Program& program_;
  std::vector<Program> out_;
};

bool isUsed(const Program& program, std::size_t id) {
  return std::any_of(program.body.begin(), program.body.end(), [&](const Node& node) {
    return ir::mentionsBuffer(node, static_cast<ir::BufferId>(id));
  });
}

/// Arguments that nothing mentions go too (canonicalize keeps them).
void dropUnusedArguments(Program& program) {
  for (std::size_t id = program.buffers.size(); id-- > 0;) {
    if (program.buffers[id].role != ir::Role::in || isUsed(program, id)) continue;
    program.buffers.erase(program.buffers.begin() + static_cast<std::ptrdiff_t>(id));
    for (ir::Buffer& buffer : program.buffers) {
      if (buffer.shares > static_cast<ir::BufferId>(id)) --buffer.shares;
    }
    for (Node& node : program.body) {
      ir::renameBuffers(node, [&](ir::BufferId old) {
        return old > static_cast<ir::BufferId>(id) ? old - 1 : old;
      });
    }
  }
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& holds, int budget) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Program& candidate : Simpler(program).all()) {
      dropUnusedArguments(candidate);
      if (!ir::checkStructure(candidate)) continue;
      ir::canonicalize(candidate);
      if (!ir::check(candidate)) continue;
      if (--budget < 0) return program;
      if (!holds(candidate)) continue;
      program = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return program;
}

}  // namespace dojo::proof
