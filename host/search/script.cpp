// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/script.h"

#include <algorithm>

#include "target/registers.h"

namespace dojo::search {

bool Script::apply(std::string_view name, std::vector<moves::Arg> args) {
  moves::Move move{std::string(name), std::move(args)};
  Result<ir::Program> next = moves::apply(*state_, move);
  if (!next.ok()) {
    refusal_ = next.error();
    return false;
  }
  state_ = std::make_shared<const moves::State>(std::move(next).value(), state_->target());
  trace_.push_back(std::move(move));
  return true;
}

bool Script::refuse(std::string message) {
  refusal_ = Error{"composite.pattern", std::move(message), "", ""};
  return false;
}

ir::Path child(ir::Path path, int index) {
  path.push_back(index);
  return path;
}

const ir::Scope* scopeAt(const ir::Program& program, const ir::Path& path) {
  const ir::Node* node = ir::find(program, path);
  return node != nullptr && node->isScope() ? &node->scope() : nullptr;
}

std::int64_t freeExtent(const ir::Program& program, const ir::Path& path) {
  const ir::Node* node = ir::find(program, path);
  if (node == nullptr || !node->isScope() || !node->guard.empty()) return 0;
  const ir::Scope& scope = node->scope();
  return scope.extent.isConstant() && scope.mapping.none() ? scope.extent.count : 0;
}

namespace {

void collect(const ir::Node& node, const ir::Path& path, bool leaves, std::vector<ir::Path>& out) {
  if (node.isLeaf()) {
    if (leaves) out.push_back(path);
    return;
  }
  if (!leaves) out.push_back(path);
  const std::vector<ir::Node>& body = node.scope().body;
  for (std::size_t k = 0; k < body.size(); ++k) {
    collect(body[k], child(path, static_cast<int>(k)), leaves, out);
  }
}

std::vector<ir::Path> below(const ir::Program& program, const ir::Path& path, bool leaves) {
  std::vector<ir::Path> out;
  if (path.empty()) {
    for (std::size_t k = 0; k < program.body.size(); ++k) {
      collect(program.body[k], {static_cast<int>(k)}, leaves, out);
    }
  } else if (const ir::Node* node = ir::find(program, path)) {
    collect(*node, path, leaves, out);
  }
  return out;
}

}  // namespace

std::vector<ir::Path> leavesBelow(const ir::Program& program, const ir::Path& path) {
  return below(program, path, true);
}

std::vector<ir::Path> scopesBelow(const ir::Program& program, const ir::Path& path) {
  return below(program, path, false);
}

int lanesFor(const ir::Program& program, const ir::Path& path, const target::Target& target) {
  int bytes = 1;
  for (const ir::Path& leaf : leavesBelow(program, path)) {
    ir::forEachAccess(*ir::find(program, leaf), [&](const ir::Access& access, ir::Touch) {
      bytes = std::max(bytes, ir::sizeBytes(program.buffer(access.buffer).dtype));
    });
  }
  return std::max(1, target.lanes(bytes));
}

int registersFor(const ir::Program& program, const ir::Path& path, const target::Target& target) {
  constexpr int kFewest = 8;
  if (target.vector.bits != 0) return std::max(kFewest, target.vector.registers);
  bool floats = false;
  for (const ir::Path& leaf : leavesBelow(program, path)) {
    const ir::DType type = program.buffer(ir::find(program, leaf)->leaf().dst.buffer).dtype;
    floats = floats || ir::isFloat(type);
  }
  return std::max(kFewest, target::scalarRegisters(target, floats));
}

std::int64_t blockWidth(std::int64_t extent, std::int64_t vectors, std::int64_t lanes) {
  const std::int64_t width = vectors * lanes;
  const std::int64_t blocks = (extent + width - 1) / width;
  const bool alike = extent % blocks == 0 && extent / blocks > width - lanes;
  return alike ? extent / blocks : width;
}

bool uses(const ir::Access& access, int var) {
  return std::any_of(access.indices.begin(), access.indices.end(), [&](const ir::Index& index) {
    return index.affine.uses(var) ||
           std::any_of(index.gatherIndices.begin(), index.gatherIndices.end(),
                       [&](const ir::Affine& affine) { return affine.uses(var); });
  });
}

void contractBelow(Script& script, const ir::Path& path) {
  std::vector<ir::Path> leaves = leavesBelow(script.program(), path);
  for (auto it = leaves.rbegin(); it != leaves.rend(); ++it) {
    const ir::Node* node = ir::find(script.program(), *it);
    if (node == nullptr || !node->isLeaf()) continue;
    const ir::Leaf& leaf = node->leaf();
    if (ir::isFloat(script.program().buffer(leaf.dst.buffer).dtype) &&
        (leaf.assign == ir::Assign::add || leaf.op == ir::Op::add)) {
      script.apply("contract_fma", {*it});
    }
  }
}

void separate(Script& script, const ir::Path& part) {
  std::vector<std::string> names;
  for (const ir::Path& path : leavesBelow(script.program(), part)) {
    const ir::Buffer& buffer =
        script.program().buffer(ir::find(script.program(), path)->leaf().dst.buffer);
    if (!buffer.isArgument() && std::find(names.begin(), names.end(), buffer.name) == names.end()) {
      names.push_back(buffer.name);
    }
  }
  for (const std::string& name : names) script.apply("split_buffer", {part, name});
}

bool layOut(Script& script, const ir::Path& path) {
  return script.apply(script.target().vector.bits != 0 ? "vectorize" : "unroll", {path});
}

void unrollBelow(Script& script, const ir::Path& path, std::int64_t most) {
  std::vector<ir::Path> scopes = scopesBelow(script.program(), path);
  for (auto it = scopes.rbegin(); it != scopes.rend(); ++it) {
    const std::int64_t extent = freeExtent(script.program(), *it);
    if (extent >= 1 && extent <= most) script.apply("unroll", {*it});
  }
}

}  // namespace dojo::search
