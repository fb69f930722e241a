// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/placement.h"

#include <algorithm>
#include <set>

#include "ir/tree.h"
#include "target/lanes.h"

namespace dojo::moves {
namespace {

/// The scopes around all uses of each storage so far.
class CommonScopes {
 public:
  explicit CommonScopes(const ir::Program& program)
      : program_(program), common_(program.buffers.size()) {
    used_.resize(program.buffers.size());
    visit(program.body);
  }
  [[nodiscard]] bool used(std::size_t buffer) const { return used_[buffer]; }
  [[nodiscard]] const std::vector<const ir::Node*>& of(std::size_t buffer) const {
    return common_[buffer];
  }

 private:
  void visit(const std::vector<ir::Node>& body) {
    for (const ir::Node& node : body) {
      ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) {
        meet(program_.storageOf(access.buffer));
      });
      if (!node.isScope()) continue;
      enclosing_.push_back(&node);
      visit(node.scope().body);
      enclosing_.pop_back();
    }
  }
  void meet(ir::BufferId id) {
    const auto buffer = static_cast<std::size_t>(id);
    std::vector<const ir::Node*>& common = common_[buffer];
    if (!used_[buffer]) {
      used_[buffer] = true;
      common = enclosing_;
      return;
    }
    const auto ends =
        std::mismatch(common.begin(), common.end(), enclosing_.begin(), enclosing_.end());
    common.erase(ends.first, common.end());
  }

  const ir::Program& program_;
  std::vector<const ir::Node*> enclosing_;
  std::vector<std::vector<const ir::Node*>> common_;
  std::vector<bool> used_;
};

}  // namespace

std::vector<Home> homes(const ir::Program& program) {
  const CommonScopes scopes(program);
  std::vector<Home> result(program.buffers.size());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const auto storage = static_cast<std::size_t>(program.storageOf(static_cast<ir::BufferId>(i)));
    result[i].used = scopes.used(storage);
    if (!program.buffers[i].isLocal()) continue;
    const auto& common = scopes.of(storage);
    for (std::size_t depth = 0; depth < common.size(); ++depth) {
      const ir::Mapping& mapping = common[depth]->scope().mapping;
      if (mapping.has(ir::MapKind::parallel)) result[i].parallel = common[depth];
      if (mapping.has(ir::MapKind::vector)) {
        result[i].vector = common[depth];
        result[i].vectorDepth = static_cast<int>(depth);
      }
    }
  }
  return result;
}

namespace {

/// Calls `fn` on the dtype of everything that the scope's body accesses.
template <class Fn>
void forEachDType(const ir::Program& program, const ir::Node& scope, const Fn& fn) {
  for (const ir::Node& child : scope.scope().body) {
    ir::forEachAccess(child, [&](const ir::Access& access, ir::Touch) {
      fn(program.buffer(access.buffer).dtype);
    });
    if (child.isScope()) forEachDType(program, child, fn);
  }
}

int widestBytes(const ir::Program& program, const ir::Node& vectorScope) {
  int widest = 1;
  forEachDType(program, vectorScope,
               [&](ir::DType type) { widest = std::max(widest, ir::sizeBytes(type)); });
  return widest;
}

}  // namespace

int registerLanes(const ir::Program& program, const ir::Node& vectorScope,
                  const target::Target& target) {
  return target.lanes(widestBytes(program, vectorScope));
}

int valueLanes(const ir::Program& program, const ir::Node& vectorScope,
               const target::Target& target) {
  return std::max(1, target::vectorValueBits(target) / 8 / widestBytes(program, vectorScope));
}

std::optional<ir::DType> notInVectors(const ir::Program& program, const ir::Node& vectorScope,
                                      const target::Target& target) {
  const std::vector<std::string>& types = target.vector.types;
  std::optional<ir::DType> missing;
  if (types.empty()) return missing;
  forEachDType(program, vectorScope, [&](ir::DType type) {
    if (!ir::isFloat(type)) return;
    const char* computed = type == ir::DType::f64 ? "f64" : "f32";
    if (std::find(types.begin(), types.end(), computed) == types.end()) missing = type;
  });
  return missing;
}

LaneRelation laneRelation(const ir::Program& program, const ir::Access& access, int laneDepth,
                          std::int64_t lanes) {
  const ir::Buffer& buffer = program.buffer(access.buffer);
  bool moves = false;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    const std::int64_t fold = buffer.dims[d].fold;
    if (fold == 1) continue;
    if (index.isGather()) {
      for (const ir::Affine& inner : index.gatherIndices) moves = moves || inner.uses(laneDepth);
      continue;
    }
    const std::int64_t coef = index.affine.coef(laneDepth);
    if (coef == 0) continue;
    if (fold == 0) return LaneRelation::distinct;
    std::set<std::int64_t> seen;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      seen.insert(((coef % fold) * (lane % fold) % fold + fold) % fold);
    }
    if (static_cast<std::int64_t>(seen.size()) == lanes) return LaneRelation::distinct;
    moves = moves || seen.size() > 1;
  }
  return moves ? LaneRelation::conflicting : LaneRelation::none;
}

namespace {

class Strips {
 public:
  Strips(const ir::Program& program, const ir::Node& scope, int depth,
         const std::vector<Home>& homes)
      : program_(program), scope_(scope), depth_(depth), homes_(homes) {}

  std::string run() {
    visit(scope_.scope().body);
    return problem_;
  }

 private:
  void visit(const std::vector<ir::Node>& body) {
    for (const ir::Node& node : body) {
      ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch) { checkAccess(access); });
      if (node.isLeaf()) {
        checkLeaf(node.leaf());
      } else {
        visit(node.scope().body);
      }
    }
  }

  void checkAccess(const ir::Access& access) {
    const ir::Buffer& buffer = program_.buffer(access.buffer);
    const bool own = homes_[static_cast<std::size_t>(access.buffer)].vector == &scope_;
    if (own && buffer.location == "stack" && !scope_.scope().extent.isConstant()) {
      problem_ = buffer.name + " has a copy on the stack for each of an unknown number of lanes";
    }
    if (buffer.location != "register") return;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const std::int64_t fold = buffer.dims[d].fold;
      const std::int64_t coef = access.indices[d].affine.coef(depth_);
      if (fold == 1 || coef == 0 || (fold != 0 && coef % fold == 0)) continue;
      problem_ = buffer.name + " is in registers and indexed by the lane";
    }
  }

  void checkLeaf(const ir::Leaf& leaf) {
    if (homes_[static_cast<std::size_t>(leaf.dst.buffer)].vector == &scope_) return;
    const std::int64_t most = ir::variableRange(program_, scope_.scope()).hi;
    const LaneRelation relation = laneRelation(program_, leaf.dst, depth_, most);
    const bool sums = leaf.isReduction() && leaf.assign != ir::Assign::mul;
    if (relation == LaneRelation::conflicting || (relation == LaneRelation::none && !sums)) {
      problem_ = program_.buffer(leaf.dst.buffer).name + " is written lane by lane";
    }
  }

  const ir::Program& program_;
  const ir::Node& scope_;
  int depth_;
  const std::vector<Home>& homes_;
  std::string problem_;
};

}  // namespace

std::string notInStrips(const ir::Program& program, const ir::Node& vectorScope, int depth,
                        const target::Target& target, const std::vector<Home>& homes) {
  if (!target.vector.scalable) return "the target's vectors have a fixed length";
  return Strips(program, vectorScope, depth, homes).run();
}

bool inStrips(const ir::Program& program, const ir::Node& vectorScope, int depth,
              const target::Target& target, const std::vector<Home>& homes) {
  const ir::Extent& extent = vectorScope.scope().extent;
  const bool fits = extent.isConstant() && extent.count <= valueLanes(program, vectorScope, target);
  return !fits && notInStrips(program, vectorScope, depth, target, homes).empty();
}

}  // namespace dojo::moves
