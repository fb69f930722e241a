// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/plan.h"

#include <algorithm>
#include <bit>

#include "ir/instruction.h"
#include "ir/storage.h"
#include "ir/tree.h"
#include "moves/instructions.h"

namespace dojo::codegen {
namespace {

/// The dim of a register buffer along which vectors run, and their width.
struct LaneDim {
  std::int64_t stride = 1;
  std::int64_t span = 1;    ///< Distance of positions before they repeat, in strides.
  std::int64_t stored = 1;  ///< Positions with storage.
  unsigned width = 0;
};

class Planner {
 public:
  Planner(const ir::Program& program, const target::Target& target)
      : program_(program), target_(target), laneDims_(program.buffers.size()) {}

  Plan run() {
    for (const ir::Instruction& instruction : program_.instructions) {
      plan_.instructions.push_back(target_.instruction(instruction.name));
    }
    for (const ir::Path& path : region::regions(program_, target_)) {
      plan_.regions.emplace(ir::find(program_, path),
                            region::compile(program_, path, target_, true).value());
    }
    place();
    visit(program_.body);
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].kind == BufferPlan::Kind::registers) cutSlots(i);
    }
    return std::move(plan_);
  }

 private:
  void place() {
    const std::vector<moves::Home> homes = moves::homes(program_);
    const std::vector<std::int64_t> sizes = ir::storageSizes(program_);
    int argument = 0;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const ir::Buffer& buffer = program_.buffers[i];
      BufferPlan& plan = plan_.buffers.emplace_back();
      plan.home = homes[i];
      plan.strides = buffer.strides();
      plan.storage = program_.storageOf(static_cast<ir::BufferId>(i));
      plan.elements = sizes[i];
      if (!buffer.isLocal()) {
        if (buffer.shares < 0) plan.argument = argument++;
        continue;
      }
      plan.kind =
          buffer.location == "stack" ? BufferPlan::Kind::stack : BufferPlan::Kind::registers;
      if (plan.home.vector != nullptr && plan.kind == BufferPlan::Kind::registers &&
          strips(*plan.home.vector, plan.home.vectorDepth)) {
        plan.byStrip = true;
        continue;
      }
      if (plan.home.vector != nullptr) {
        const std::int64_t lanes = plan.home.vector->scope().extent.count;
        for (std::int64_t& stride : plan.strides) stride *= lanes;
        plan.elements *= lanes;
        const auto width = cutLanes(lanes, lanesOf(*plan.home.vector)).front().width;
        laneDims_[i] = LaneDim{1, lanes, lanes, width};
      }
    }
  }

  bool strips(const ir::Node& scope, int depth) {
    if (homes_.empty()) homes_ = moves::homes(program_);
    return moves::inStrips(program_, scope, depth, target_, homes_);
  }

  /// With as many registers in a group as leave enough groups for what the scope computes.
  Chunk strip(const ir::Node& scope) const {
    Needs needs;
    look(scope.scope().body, needs);
    const bool riscv = target_.triple.starts_with("riscv");
    const int bits = riscv ? 64 : 128;  // Of LLVM's vscale.
    const int registers = !riscv ? 1 : std::clamp(target_.vector.grouping, 1, needs.much ? 4 : 8);
    Chunk chunk;
    chunk.width = static_cast<unsigned>(std::max(1, bits * registers / 8 / needs.widest));
    chunk.active = chunk.width;
    chunk.scalable = true;
    return chunk;
  }

  struct Needs {
    int widest = 1;  ///< Bytes of the widest that is computed with.
    bool much = false;
  };
  void look(const std::vector<ir::Node>& body, Needs& needs) const {
    for (const ir::Node& node : body) {
      ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) {
        const ir::DType type = program_.buffer(access.buffer).dtype;
        const bool half = type == ir::DType::f16 || type == ir::DType::bf16;
        needs.widest = std::max(needs.widest, half ? 4 : ir::sizeBytes(type));
      });
      if (node.isScope()) {
        look(node.scope().body, needs);
        continue;
      }
      switch (node.leaf().op) {
        case ir::Op::exp:
        case ir::Op::log:
        case ir::Op::tanh:
        case ir::Op::erf:
        case ir::Op::sigmoid:
        case ir::Op::pow:
          needs.much = true;
          break;
        default:
          break;
      }
    }
  }

  std::int64_t lanesOf(const ir::Node& vectorScope) const {
    return moves::valueLanes(program_, vectorScope, target_);
  }

  void visit(const std::vector<ir::Node>& body) {
    for (const ir::Node& node : body) {
      if (node.instruction >= 0) {
        proposeBoxes(node);
        continue;
      }
      if (plan_.regions.contains(&node)) continue;
      if (lanes_ != nullptr) {
        ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) { propose(access); });
      }
      if (!node.isScope()) continue;
      const bool vector = node.scope().mapping.has(ir::MapKind::vector);
      if (vector) {
        std::vector<Chunk>& chunks = plan_.chunks[&node];
        if (strips(node, depth_)) {
          chunks = {strip(node)};
        } else {
          chunks = cutLanes(node.scope().extent.count, lanesOf(node));
        }
        lanes_ = &chunks;
        laneDepth_ = depth_;
      }
      ++depth_;
      visit(node.scope().body);
      --depth_;
      if (vector) lanes_ = nullptr;
    }
  }

  void cutByStrip(BufferPlan& plan) const {
    const Chunk& chunk = plan_.chunks.at(plan.home.vector).front();
    for (std::int64_t element = 0; element < plan.elements; ++element) {
      plan.places.push_back({static_cast<int>(element), 0});
      plan.slots.push_back({chunk.width, chunk.active, true});
    }
  }

  /// The widest access by lane decides how a register buffer is cut.
  void propose(const ir::Access& access) {
    const auto id = static_cast<std::size_t>(access.buffer);
    const BufferPlan& plan = plan_.buffers[id];
    if (plan.kind != BufferPlan::Kind::registers || plan.home.vector != nullptr) return;
    if (lanes_->front().scalable) return;
    const unsigned width = lanes_->front().width;
    if (width <= laneDims_[id].width) return;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const ir::Dim& dim = program_.buffers[id].dims[d];
      if (dim.fold == 1 || !access.indices[d].affine.uses(laneDepth_)) continue;
      laneDims_[id] = LaneDim{plan.strides[d], dim.stored() + dim.pad, dim.stored(), width};
      return;
    }
  }

  /// Operands of an instruction that are vectors are best held as they are.
  void proposeBoxes(const ir::Node& node) {
    const auto index = static_cast<std::size_t>(node.instruction);
    const ir::Instruction& instruction = program_.instructions[index];
    const auto boxes = ir::boxesOf(program_, instruction, node, depth_);
    for (std::size_t i = 0; boxes && i < boxes->size(); ++i) {
      const ir::Access& box = (*boxes)[i];
      const auto id = static_cast<std::size_t>(box.buffer);
      const BufferPlan& plan = plan_.buffers[id];
      const std::vector<ir::Dim>& dims = instruction.operands[i].dims;
      if (plan.kind != BufferPlan::Kind::registers || plan.home.vector != nullptr || dims.empty() ||
          moves::isWord(instruction.operands[i], plan_.instructions[index]->constraints[i])) {
        continue;
      }
      const int lane = depth_ + static_cast<int>(dims.size()) - 1;
      const auto width = static_cast<unsigned>(dims.back().extent);
      if (width < 2 || !std::has_single_bit(width) || width <= laneDims_[id].width) continue;
      for (std::size_t d = 0; d < box.indices.size(); ++d) {
        const ir::Dim& dim = program_.buffers[id].dims[d];
        if (dim.fold == 1 || box.indices[d].affine.coef(lane) != 1) continue;
        laneDims_[id] = LaneDim{plan.strides[d], dim.stored() + dim.pad, dim.stored(), width};
        break;
      }
    }
  }

  void cutSlots(std::size_t id) {
    BufferPlan& plan = plan_.buffers[id];
    if (plan.byStrip) return cutByStrip(plan);
    const LaneDim& dim = laneDims_[id];
    plan.places.resize(static_cast<std::size_t>(plan.elements));
    if (dim.width == 0) {
      plan.slots.assign(plan.places.size(), Slot{});
      for (std::size_t i = 0; i < plan.places.size(); ++i)
        plan.places[i].slot = static_cast<int>(i);
      return;
    }
    std::map<std::pair<std::int64_t, std::int64_t>, int> slots;
    for (std::int64_t element = 0; element < plan.elements; ++element) {
      const std::int64_t position = element / dim.stride % dim.span;
      if (position >= dim.stored) continue;
      const std::int64_t group = position / dim.width;
      const auto [slot, fresh] = slots.try_emplace({element - position * dim.stride, group},
                                                   static_cast<int>(plan.slots.size()));
      if (fresh) {
        const auto active = std::min<std::int64_t>(dim.width, dim.stored - group * dim.width);
        plan.slots.push_back(
            {std::bit_ceil(static_cast<unsigned>(active)), static_cast<unsigned>(active)});
      }
      plan.places[static_cast<std::size_t>(element)] = {slot->second,
                                                        static_cast<int>(position % dim.width)};
    }
  }

  const ir::Program& program_;
  const target::Target& target_;
  Plan plan_;
  std::vector<LaneDim> laneDims_;
  std::vector<moves::Home> homes_;
  const std::vector<Chunk>* lanes_ = nullptr;
  int laneDepth_ = -1;
  int depth_ = 0;
};

}  // namespace

std::vector<Chunk> cutLanes(std::int64_t extent, std::int64_t registerLanes) {
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < extent; first += registerLanes) {
    const auto active = static_cast<unsigned>(std::min(extent - first, registerLanes));
    chunks.push_back({first, std::bit_ceil(active), active});
  }
  return chunks;
}

Plan makePlan(const ir::Program& program, const target::Target& target) {
  return Planner(program, target).run();
}

}  // namespace dojo::codegen
