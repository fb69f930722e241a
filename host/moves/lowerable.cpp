// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/lowerable.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "ir/instruction.h"
#include "ir/print.h"
#include "ir/storage.h"
#include "ir/tree.h"
#include "moves/instructions.h"
#include "moves/placement.h"
#include "region/region.h"

namespace dojo::moves {
namespace {

/// Register buffers beyond this many elements can't be meant.
constexpr std::int64_t kMostRegisterElements = 1 << 16;

class Lowerable {
 public:
  Lowerable(const ir::Program& program, const target::Target& target)
      : program_(program), target_(target), homes_(homes(program)) {}

  Status run() {
    checkBuffers();
    visit(program_.body);
    if (!failure_ && instances_ > target_.unrollLimit) {
      refuse("lower.unroll",
             fmt::format("the program has {} leaves after unrolling, more than the {} that target "
                         "{} allows",
                         instances_, target_.unrollLimit, target_.name),
             "");
    }
    return failure_ ? Status(*failure_) : Status();
  }

 private:
  void refuse(std::string code, std::string message, std::string where) {
    if (!failure_) failure_ = Error{std::move(code), std::move(message), std::move(where), ""};
  }
  void refuseHere(std::string code, std::string message) {
    refuse(std::move(code), std::move(message),
           fmt::format("line {}", ir::lineOf(program_, path_)));
  }

  void checkBuffers() {
    std::int64_t stack = 0;
    const std::vector<std::int64_t> sizes = ir::storageSizes(program_);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const ir::Buffer& buffer = program_.buffers[i];
      if (!target_.offersLocation(buffer.location)) {
        refuse("lower.location",
               fmt::format("{} is in '{}', which target {} doesn't have", buffer.name,
                           buffer.location, target_.name),
               buffer.name);
      }
      const ir::Node* vector = homes_[i].vector;
      const std::int64_t lanes = vector != nullptr && vector->scope().extent.isConstant()
                                     ? vector->scope().extent.count
                                     : 1;
      if (buffer.location == "stack" && buffer.shares < 0) {
        stack += sizes[i] * lanes * ir::sizeBytes(buffer.dtype);
      }
      if (buffer.location == "register" &&
          buffer.storageElements() * lanes > kMostRegisterElements) {
        refuse("lower.register",
               fmt::format("{} has {} elements, too many for registers", buffer.name,
                           buffer.storageElements() * lanes),
               buffer.name);
      }
    }
    if (stack > target_.stackBytes) {
      refuse("lower.stack",
             fmt::format("stack buffers take {} bytes, more than the {} of target {}", stack,
                         target_.stackBytes, target_.name),
             "");
    }
  }

  void visit(const std::vector<ir::Node>& body) {
    for (std::size_t i = 0; i < body.size() && !failure_; ++i) {
      path_.push_back(static_cast<int>(i));
      const ir::Node& node = body[i];
      if (node.instruction >= 0) {
        checkInstruction(node);
        path_.pop_back();
        continue;
      }
      if (node.isScope() && region::isRegion(node.scope(), target_)) {
        const Status admitted = region::admits(program_, path_, target_);
        if (!admitted && !failure_) failure_ = admitted.error();
        path_.pop_back();
        continue;
      }
      ir::forEachAccess(
          node, [&](const ir::Access& access, ir::Touch touch) { checkAccess(access, touch); });
      if (node.isLeaf()) {
        checkLeaf(node.leaf());
      } else {
        checkScope(node);
      }
      path_.pop_back();
    }
  }

  void checkInstruction(const ir::Node& node) {
    const ir::Instruction& instruction =
        program_.instructions[static_cast<std::size_t>(node.instruction)];
    if (Status status = usable(program_, instruction, target_, node, enclosing_); !status) {
      return refuseHere("lower.instruction", status.error().message);
    }
    const auto depth = static_cast<int>(enclosing_.size());
    const auto boxes = ir::boxesOf(program_, instruction, node, depth);
    for (std::size_t i = 0; i < boxes->size(); ++i) {
      ir::Access start = (*boxes)[i];
      const ir::Buffer& operand = instruction.operands[i];
      for (ir::Index& index : start.indices) {
        for (int k = 0; k < operand.rank(); ++k)
          index.affine = index.affine.substitute(depth + k, 0);
      }
      if (operand.role != ir::Role::out) checkAccess(start, ir::Touch::read);
      if (operand.role != ir::Role::in) checkAccess(start, ir::Touch::write);
    }
    instances_ = std::min(instances_ + unrolled_, ir::kMaxElements);
  }

  void checkLeaf(const ir::Leaf& leaf) {
    const bool fused = leaf.assign == ir::Assign::fma || leaf.op == ir::Op::fma;
    if (fused && !target_.vector.fma && ir::isFloat(program_.buffer(leaf.dst.buffer).dtype)) {
      refuseHere("lower.fma", fmt::format("target {} has no fused multiply-add", target_.name));
    }
    std::int64_t copies = 1;
    if (vector_ != nullptr && !strips_) {
      const std::int64_t lanes = vector_->scope().extent.count;
      const bool split =
          homes_[static_cast<std::size_t>(leaf.dst.buffer)].vector == nullptr &&
          laneRelation(program_, leaf.dst, vectorDepth_, lanes) == LaneRelation::conflicting;
      copies = split ? lanes : (lanes + valueLanes_ - 1) / valueLanes_;
    }
    instances_ = std::min(instances_ + unrolled_ * copies, ir::kMaxElements);
  }

  void checkAccess(const ir::Access& access, ir::Touch touch) {
    const ir::Buffer& buffer = program_.buffer(access.buffer);
    if (buffer.location != "register") return;
    const Home& home = homes_[static_cast<std::size_t>(access.buffer)];
    if (touch == ir::Touch::write && parallel_ != nullptr && home.parallel != parallel_) {
      refuseHere("lower.register",
                 fmt::format("{} is in registers and written inside a parallel scope that it "
                             "outlives",
                             buffer.name));
    }
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const std::int64_t fold = buffer.dims[d].fold;
      if (fold == 1) continue;
      if (access.indices[d].isGather()) {
        refuseHere("lower.register",
                   fmt::format("{} is in registers and can't be gathered from", buffer.name));
      }
      for (const ir::Term& term : access.indices[d].affine.terms()) {
        if (fold != 0 && term.coef % fold == 0) continue;
        if (!isConstant(*enclosing_[static_cast<std::size_t>(term.var)])) {
          refuseHere("lower.register",
                     fmt::format("{} is in registers and indexed by {{{}}}, which is neither "
                                 "unrolled nor a vector",
                                 buffer.name, term.var));
        }
      }
    }
  }

  /// True where the variable of the scope is a constant, or one for each lane, in the code.
  static bool isConstant(const ir::Node& node) {
    const ir::Scope& scope = node.scope();
    if (!scope.extent.isConstant() || scope.mapping.has(ir::MapKind::parallel)) return false;
    return scope.extent.count == 1 || scope.mapping.has(ir::MapKind::unroll) ||
           scope.mapping.has(ir::MapKind::vector);
  }

  void checkMapping(const ir::Scope& scope) {
    for (const ir::MapKind kind : ir::allMapKinds()) {
      if (scope.mapping.has(kind) && !target_.offersMapping(std::string(ir::name(kind)))) {
        refuseHere("lower.mapping",
                   fmt::format("target {} has no mapping '{}'", target_.name, ir::name(kind)));
      }
    }
    if (std::popcount(scope.mapping.bits) > 1) {
      refuseHere("lower.mapping", "these mappings can't stand together on one scope");
    }
    // Vectors of any length: see enterVector().
    const bool anyLength = scope.mapping.has(ir::MapKind::vector) && target_.vector.scalable;
    if (!scope.mapping.none() && !scope.extent.isConstant() && !anyLength) {
      refuseHere("lower.extent", "a scope whose extent is read at run time can't be mapped");
    }
  }

  void checkScope(const ir::Node& node) {
    const ir::Scope& scope = node.scope();
    checkMapping(scope);
    if (failure_) return;
    if (!scope.extent.isConstant() && vector_ != nullptr) {
      for (const ir::Access* limit : {&scope.extent.range->first, &scope.extent.range->last}) {
        for (const ir::Index& index : limit->indices) {
          if (index.affine.uses(vectorDepth_)) {
            refuseHere("lower.lanes", "the extent differs between the lanes of the vector scope");
          }
        }
      }
    }
    const auto saved =
        std::tuple(vector_, vectorDepth_, valueLanes_, strips_, parallel_, unrolled_);
    if (scope.mapping.has(ir::MapKind::vector)) enterVector(node);
    if (scope.mapping.has(ir::MapKind::parallel)) enterParallel(node);
    if (scope.mapping.has(ir::MapKind::unroll)) {
      unrolled_ = std::min(unrolled_ * std::min(scope.extent.count, ir::kMaxElements / unrolled_),
                           ir::kMaxElements);
    }
    enclosing_.push_back(&node);
    visit(scope.body);
    enclosing_.pop_back();
    std::tie(vector_, vectorDepth_, valueLanes_, strips_, parallel_, unrolled_) = saved;
  }

  void enterVector(const ir::Node& node) {
    if (vector_ != nullptr) refuseHere("lower.vector", "a vector scope inside a vector scope");
    vector_ = &node;
    vectorDepth_ = static_cast<int>(enclosing_.size());
    valueLanes_ = valueLanes(program_, node, target_);
    if (const auto missing = notInVectors(program_, node, target_)) {
      refuseHere("lower.vector", fmt::format("the vectors of target {} don't compute with {}",
                                             target_.name, ir::name(*missing)));
    }
    strips_ = inStrips(program_, node, vectorDepth_, target_, homes_);
    if (strips_) return;
    const std::int64_t most =
        std::int64_t{registerLanes(program_, node, target_)} * std::max(target_.vector.grouping, 1);
    const bool constant = node.scope().extent.isConstant();
    const auto why = [&] { return notInStrips(program_, node, vectorDepth_, target_, homes_); };
    if (!constant) refuseHere("lower.extent", "lanes can't be read at run time here: " + why());
    if (constant && node.scope().extent.count > most && target_.vector.scalable) {
      refuseHere("lower.vector", fmt::format("{} lanes are more than {}, and {}",
                                             node.scope().extent.count, most, why()));
    } else if (constant && node.scope().extent.count > most) {
      refuseHere(
          "lower.vector",
          fmt::format("{} lanes are more than the {} that target {} has for the dtypes inside",
                      node.scope().extent.count, most, target_.name));
    }
  }

  void enterParallel(const ir::Node& node) {
    if (parallel_ != nullptr) {
      refuseHere("lower.parallel", "a parallel scope inside a parallel scope");
    }
    if (vector_ != nullptr) refuseHere("lower.parallel", "a parallel scope inside a vector scope");
    parallel_ = &node;
  }

  const ir::Program& program_;
  const target::Target& target_;
  std::vector<Home> homes_;
  ir::Path path_;
  std::vector<const ir::Node*> enclosing_;
  const ir::Node* vector_ = nullptr;
  int vectorDepth_ = -1;
  int valueLanes_ = 1;
  bool strips_ = false;  ///< See inStrips().
  const ir::Node* parallel_ = nullptr;
  std::int64_t unrolled_ = 1;
  std::int64_t instances_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Status lowerable(const ir::Program& program, const target::Target& target) {
  return Lowerable(program, target).run();
}

}  // namespace dojo::moves
