// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/instruction.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ir/check.h"
#include "ir/check_internal.h"
#include "ir/tree.h"

namespace dojo::ir {
namespace {

constexpr std::int64_t kMostExecutions = 1 << 16;

Error fragmentError(std::string message) {
  return Error{"instruction.fragment", std::move(message), "", ""};
}

bool writes(const Buffer& operand) { return operand.role != Role::in; }

/// What a fragment may not hold; nothing where it's good.
class FragmentCheck {
 public:
  explicit FragmentCheck(const Program& program)
      : program_(program), used_(program.buffers.size()) {}

  std::optional<std::string> run() {
    if (program_.body.size() != 1) return "the fragment must be one scope or one operation";
    if (!program_.instructions.empty()) return "a fragment can't use other instructions";
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.role == Role::tmp) {
        return fmt::format("'{}' is a tmp, or a line holds more than one operation", buffer.name);
      }
      if (buffer.location != "heap" || buffer.packed || buffer.values || buffer.finite) {
        return fmt::format("operand '{}' has nothing but a role, a dtype and dims", buffer.name);
      }
      for (const Dim& dim : buffer.dims) {
        if (dim.pad != 0) return fmt::format("operand '{}' can't be padded", buffer.name);
      }
      if (buffer.logicalElements() > kMostBoxElements) {
        return fmt::format("operand '{}' has more than {} elements", buffer.name, kMostBoxElements);
      }
    }
    node(program_.body.front());
    for (std::size_t i = 0; i < used_.size() && !problem_; ++i) {
      if (!used_[i]) problem_ = fmt::format("operand '{}' isn't used", program_.buffers[i].name);
    }
    return problem_;
  }

 private:
  void node(const Node& at) {
    if (!at.guard.empty()) problem_ = "a fragment can't hold guards";
    if (at.isLeaf()) return leaf(at.leaf());
    const Scope& scope = at.scope();
    if (!scope.mapping.none()) problem_ = "a fragment can't hold mappings";
    if (!scope.extent.isConstant()) problem_ = "a fragment can't hold extents that are read";
    if (problem_) return;
    executions_ *= scope.extent.count;
    if (executions_ > kMostExecutions) problem_ = "the fragment is too large";
    extents_.push_back(scope.extent.count);
    for (const Node& child : scope.body) {
      if (!problem_) node(child);
    }
    extents_.pop_back();
    executions_ /= scope.extent.count;
  }

  void leaf(const Leaf& leaf) {
    access(leaf.dst);
    for (const Operand& operand : leaf.operands) {
      if (const auto* element = std::get_if<Access>(&operand)) access(*element);
    }
  }

  void access(const Access& access) {
    const Buffer& buffer = program_.buffer(access.buffer);
    used_[static_cast<std::size_t>(access.buffer)] = true;
    std::set<int> vars;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const Affine& index = access.indices[d].affine;
      const bool plain = !access.indices[d].isGather() && index.constant() == 0 &&
                         index.terms().size() == 1 && index.terms()[0].coef == 1;
      if (!plain || !vars.insert(index.terms()[0].var).second ||
          extents_[static_cast<std::size_t>(index.terms()[0].var)] != buffer.dims[d].extent) {
        problem_ = fmt::format(
            "index {} of operand '{}' must be the variable of a scope of {} iterations, of its own",
            d, buffer.name, buffer.dims[d].extent);
        return;
      }
    }
  }

  const Program& program_;
  std::vector<bool> used_;
  std::vector<std::int64_t> extents_;
  std::int64_t executions_ = 1;
  std::optional<std::string> problem_;
};

/// Node against fragment, leaf by leaf.
class Match {
 public:
  Match(const Program& program, const Instruction& instruction, int depth)
      : program_(program),
        instruction_(instruction),
        depth_(depth),
        boxes_(instruction.operands.size()) {}

  std::optional<std::vector<Access>> run(const Node& node) {
    if (!pair(instruction_.body.front(), node, true) || !leaves(0)) return std::nullopt;
    std::vector<Access> out;
    for (const std::optional<Access>& box : boxes_) out.push_back(*box);
    return out;
  }

 private:
  bool pair(const Node& fragment, const Node& node, bool root) {
    if (!root && (!node.guard.empty() || node.instruction >= 0)) return false;
    if (fragment.isLeaf() != node.isLeaf()) return false;
    if (node.isLeaf()) {
      const Leaf& a = fragment.leaf();
      const Leaf& b = node.leaf();
      if (a.assign != b.assign || a.op != b.op) return false;
      pairs_.emplace_back(&a, &b);
      return true;
    }
    const Scope& a = fragment.scope();
    const Scope& b = node.scope();
    if (!(a.extent == b.extent) || !b.mapping.none() || a.body.size() != b.body.size()) {
      return false;
    }
    for (std::size_t i = 0; i < a.body.size(); ++i) {
      if (!pair(a.body[i], b.body[i], false)) return false;
    }
    return true;
  }

  bool leaves(std::size_t at) {
    if (at == pairs_.size()) return true;
    const auto& [a, b] = pairs_[at];
    const std::vector<std::optional<Access>> saved = boxes_;
    std::vector<Operand> operands = b->operands;
    for (const bool swapped : {false, true}) {
      if (swapped && !info(a->op).commutative) break;
      if (swapped) std::swap(operands[0], operands[1]);
      bool fits = bind(a->dst, b->dst);
      for (std::size_t i = 0; fits && i < operands.size(); ++i) {
        fits = operand(a->operands[i], operands[i]);
      }
      if (fits && leaves(at + 1)) return true;
      boxes_ = saved;
    }
    return false;
  }

  bool operand(const Operand& fragment, const Operand& here) {
    if (fragment.index() != here.index()) return false;
    if (const auto* access = std::get_if<Access>(&fragment)) {
      return bind(*access, std::get<Access>(here));
    }
    if (const auto* value = std::get_if<Affine>(&fragment)) {
      return value->renamed([this](int var) { return var + depth_; }) == std::get<Affine>(here);
    }
    return fragment == here;
  }

  bool bind(const Access& fragment, const Access& here) {
    const auto id = static_cast<std::size_t>(fragment.buffer);
    if (instruction_.operands[id].dtype != program_.buffer(here.buffer).dtype) return false;
    Access box = here;
    for (Index& index : box.indices) {
      if (index.isGather()) return false;
      Affine renamed = index.affine.constant();
      for (const Term& term : index.affine.terms()) {
        int var = term.var;
        if (var >= depth_) {
          var = -1;
          for (std::size_t d = 0; d < fragment.indices.size(); ++d) {
            if (fragment.indices[d].affine.terms()[0].var == term.var - depth_) {
              var = depth_ + static_cast<int>(d);
            }
          }
          if (var < 0) return false;
        }
        renamed += Affine::variable(var, term.coef);
      }
      index.affine = std::move(renamed);
    }
    if (boxes_[id]) return *boxes_[id] == box;
    boxes_[id] = std::move(box);
    return true;
  }

  const Program& program_;
  const Instruction& instruction_;
  int depth_;
  std::vector<std::optional<Access>> boxes_;
  std::vector<std::pair<const Leaf*, const Leaf*>> pairs_;
};

/// The access of a fragment on the operand's box.
Access onBox(const Access& fragment, const Access& box, int depth) {
  Access out = box;
  for (Index& index : out.indices) {
    Affine made = index.affine.constant();
    for (const Term& term : index.affine.terms()) {
      int var = term.var;
      if (var >= depth) {
        const auto d = static_cast<std::size_t>(var - depth);
        var = depth + fragment.indices[d].affine.terms()[0].var;
      }
      made += Affine::variable(var, term.coef);
    }
    index.affine = std::move(made);
  }
  return out;
}

void place(Node& node, const std::vector<Access>& boxes, int depth) {
  if (node.isScope()) {
    for (Node& child : node.scope().body) place(child, boxes, depth);
    return;
  }
  const auto placed = [&](const Access& access) {
    return onBox(access, boxes[static_cast<std::size_t>(access.buffer)], depth);
  };
  Leaf& leaf = node.leaf();
  leaf.dst = placed(leaf.dst);
  for (Operand& operand : leaf.operands) {
    if (const auto* access = std::get_if<Access>(&operand)) {
      operand = placed(*access);
    } else if (auto* value = std::get_if<Affine>(&operand)) {
      *value = value->renamed([depth](int var) { return var + depth; });
    }
  }
}

bool elementsDistinct(const Program& program, const Buffer& operand, const Access& box, int depth) {
  const Buffer& buffer = program.buffer(box.buffer);
  std::set<std::vector<std::int64_t>> seen;
  std::vector<std::int64_t> position(operand.dims.size());
  for (std::int64_t n = operand.logicalElements(); n-- > 0;) {
    std::int64_t rest = n;
    for (std::size_t d = position.size(); d-- > 0;) {
      position[d] = rest % operand.dims[d].extent;
      rest /= operand.dims[d].extent;
    }
    std::vector<std::int64_t> place;
    for (std::size_t d = 0; d < box.indices.size(); ++d) {
      std::int64_t at = 0;
      for (const Term& term : box.indices[d].affine.terms()) {
        if (term.var >= depth)
          at += term.coef * position[static_cast<std::size_t>(term.var - depth)];
      }
      const std::int64_t fold = buffer.dims[d].fold;
      place.push_back(fold == 0 ? at : (at % fold + fold) % fold);
    }
    if (!seen.insert(std::move(place)).second) return false;
  }
  return true;
}

int depthBelow(const Node& node) {
  if (node.isLeaf()) return 0;
  int most = 0;
  for (const Node& child : node.scope().body) most = std::max(most, depthBelow(child));
  return most + 1;
}

std::int64_t executionsBelow(const Node& node) {
  if (node.isLeaf()) return 1;
  std::int64_t sum = 0;
  for (const Node& child : node.scope().body) sum += executionsBelow(child);
  return sum * node.scope().extent.count;
}

}  // namespace

Result<Instruction> toInstruction(const Program& fragment) {
  if (const auto problem = FragmentCheck(fragment).run()) return fragmentError(*problem);
  if (Status status = check(fragment); !status) return status.error();
  Instruction out;
  out.name = fragment.name;
  std::vector<BufferId> renamed(fragment.buffers.size());
  for (const bool written : {true, false}) {
    for (std::size_t i = 0; i < fragment.buffers.size(); ++i) {
      if (writes(fragment.buffers[i]) != written) continue;
      renamed[i] = static_cast<BufferId>(out.operands.size());
      out.operands.push_back(fragment.buffers[i]);
    }
  }
  if (out.operands.empty() || !writes(out.operands.front())) {
    return fragmentError("the fragment writes nothing: it needs an out or inout operand");
  }
  out.body = fragment.body;
  renameBuffers(out.body.front(),
                [&](BufferId id) { return renamed[static_cast<std::size_t>(id)]; });
  return out;
}

std::optional<std::vector<Access>> boxesOf(const Program& program, const Instruction& instruction,
                                           const Node& node, int depth) {
  return Match(program, instruction, depth).run(node);
}

Node instantiate(const Instruction& instruction, int index, const std::vector<Access>& boxes,
                 int depth) {
  Node out = instruction.body.front();
  place(out, boxes, depth);
  out.instruction = index;
  return out;
}

std::string boxesProblem(const Program& program, const Instruction& instruction,
                         const std::vector<Access>& boxes, int depth) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Buffer& operand = instruction.operands[i];
    if (!writes(operand)) continue;
    for (std::size_t k = 0; k < boxes.size(); ++k) {
      if (k == i || program.storageOf(boxes[k].buffer) != program.storageOf(boxes[i].buffer)) {
        continue;
      }
      return fmt::format("{} is written as operand {} and in the storage of operand {}",
                         program.buffer(boxes[i].buffer).name, operand.name,
                         instruction.operands[k].name);
    }
    if (!elementsDistinct(program, operand, boxes[i], depth)) {
      return fmt::format("elements of operand {}, which is written, fall on one element of {}",
                         operand.name, program.buffer(boxes[i].buffer).name);
    }
  }
  return {};
}

Status checkInstructions(const Program& program) {
  Status out;
  walk(program, [&](const Visit& at) {
    const int index = at.node->instruction;
    if (index < 0 || !out) return out.ok();
    const auto refuse = [&](std::string message) {
      out = errorAt(program, at.path, "check.instruction", std::move(message));
      return false;
    };
    if (index >= static_cast<int>(program.instructions.size())) {
      return refuse("the program doesn't declare this instruction");
    }
    const Instruction& instruction = program.instructions[static_cast<std::size_t>(index)];
    const auto depth = static_cast<int>(at.enclosing.size());
    const auto boxes = boxesOf(program, instruction, *at.node, depth);
    if (!boxes) {
      return refuse(fmt::format("this isn't any more what instruction {} does", instruction.name));
    }
    const std::string problem = boxesProblem(program, instruction, *boxes, depth);
    return problem.empty() ? false : refuse(problem);
  });
  return out;
}

int depthOf(const Instruction& instruction) { return depthBelow(instruction.body.front()); }

std::int64_t executionsOf(const Instruction& instruction) {
  return executionsBelow(instruction.body.front());
}

}  // namespace dojo::ir
