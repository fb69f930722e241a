// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/bias.h"

#include <algorithm>
#include <map>
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"

namespace dojo::moves {
namespace {

constexpr std::int64_t kBias = 128;

bool usesVariable(const ir::Access& access, int var) {
  return std::any_of(access.indices.begin(), access.indices.end(),
                     [var](const ir::Index& index) { return index.affine.uses(var); });
}

bool gathers(const ir::Access& access) {
  return std::any_of(access.indices.begin(), access.indices.end(),
                     [](const ir::Index& index) { return index.isGather(); });
}

/// True where the storage of `buffer` is written at top level from `first` on.
bool writtenFrom(const State& state, ir::BufferId buffer, int first) {
  const ir::BufferId storage = state.program().storageOf(buffer);
  for (const ir::Visit& visit : state.nodes()) {
    if (!visit.node->isLeaf() || visit.path.front() < first) continue;
    if (state.program().storageOf(visit.node->leaf().dst.buffer) == storage) return true;
  }
  return false;
}

/// Extents by depth of the scopes around the leaf.
std::vector<std::int64_t> extentsAround(const ir::Program& program, const ir::Path& place) {
  std::vector<std::int64_t> out;
  for (const ir::Node* scope : scopesAround(program, parent(place))) {
    out.push_back(scope->scope().extent.count);
  }
  return out;
}

/// Variables of `access` become those that `depths` says.
ir::Access moved(ir::Access access, const std::map<int, int>& depths) {
  for (ir::Index& index : access.indices) {
    index.affine = index.affine.renamed([&](int var) { return depths.at(var); });
  }
  return access;
}

ir::Leaf sumLeaf(ir::Access dst, ir::Assign assign, ir::Op op, std::vector<ir::Operand> operands) {
  ir::Leaf out;
  out.dst = std::move(dst);
  out.assign = assign;
  out.op = op;
  out.operands = std::move(operands);
  return out;
}

}  // namespace

ir::Path loopsAround(const ir::Program& program, const ir::Path& place) {
  ir::Path out = place;
  while (out.size() > 1) {
    const ir::Path above = parent(out);
    const ir::Node& node = *ir::find(program, above);
    if (node.scope().body.size() != 1 || !node.scope().mapping.none() || !node.guard.empty() ||
        !node.scope().extent.isConstant()) {
      break;
    }
    out = above;
  }
  return out;
}

Result<BiasPlan> planBias(const State& state, const ir::Path& place, std::int64_t k,
                          const std::string& biased, const std::string& sum) {
  const ir::Program& program = state.program();
  const ir::Node& node = *ir::find(program, place);
  const auto shape = [&] {
    return refuse("move.shape", "a sum of products `t += x * y` of integers was expected, x of i8",
                  place);
  };
  if (!node.isLeaf() || k < 0 || k > 1) return shape();
  const ir::Leaf& leaf = node.leaf();
  if (leaf.assign != ir::Assign::add || leaf.op != ir::Op::mul) return shape();
  const auto* x = std::get_if<ir::Access>(&leaf.operands[static_cast<std::size_t>(k)]);
  const auto* y = std::get_if<ir::Access>(&leaf.operands[static_cast<std::size_t>(1 - k)]);
  if (x == nullptr || y == nullptr || gathers(*x) || gathers(*y) || gathers(leaf.dst)) {
    return shape();
  }
  const ir::DType type = program.buffer(leaf.dst.buffer).dtype;
  const ir::Buffer& from = program.buffer(x->buffer);
  if (from.dtype != ir::DType::i8 || !ir::convertsExactly(ir::DType::u8, type) ||
      !ir::isInteger(type)) {
    return shape();
  }
  if (from.role != ir::Role::in) {
    return refuse("move.role",
                  "all of " + from.name + " is biased, so it must be an argument with values",
                  place);
  }
  BiasPlan out{place, loopsAround(program, place), static_cast<int>(k), biased, sum};
  if (out.root == place) {
    return refuse("move.shape", "a loop around this leaf alone was expected", place);
  }
  DOJO_NEEDS(node.guard.empty(),
             refuse("move.guard", "the sum may not have terms that a guard turns off", place));
  for (const ir::Node* scope : scopesAround(program, parent(place))) {
    if (!scope->scope().extent.isConstant()) {
      return refuse("move.extent", "an extent around the sum is read at run time", place);
    }
    DOJO_NEEDS(scope->guard.empty(),
               refuse("move.guard", "a guard around the sum decides what is executed", place));
  }
  DOJO_NEEDS(
      !writtenFrom(state, y->buffer, place.front()),
      refuse("move.dependence",
             program.buffer(y->buffer).name + ", which is summed up before, is written later",
             place));
  if (out.biased.empty()) out.biased = program.freshName();
  if (out.sum.empty()) {
    ir::Program with = program;
    addTmp(with, out.biased, ir::DType::u8, {}, "heap");
    out.sum = with.freshName();
  }
  if (out.biased == out.sum || program.find(out.biased) || program.find(out.sum)) {
    return refuse("move.buffer", "the new buffers need names of their own", place);
  }
  return out;
}

ir::Program applyBias(const ir::Program& program, const BiasPlan& plan) {
  ir::Program out = program;
  const ir::Leaf& leaf = ir::find(program, plan.place)->leaf();
  const auto x = std::get<ir::Access>(leaf.operands[static_cast<std::size_t>(plan.operand)]);
  const auto y = std::get<ir::Access>(leaf.operands[static_cast<std::size_t>(1 - plan.operand)]);
  const ir::DType type = program.buffer(leaf.dst.buffer).dtype;
  const std::vector<std::int64_t> extents = extentsAround(program, plan.place);
  const int rootDepth = depthOf(plan.root);

  // All of x, biased.
  std::vector<std::int64_t> dims;
  for (const ir::Dim& dim : program.buffer(x.buffer).dims) dims.push_back(dim.extent);
  const ir::BufferId biased = addTmp(out, plan.biased, ir::DType::u8, dims, "heap");
  const auto rank = static_cast<int>(dims.size());
  const ir::Access here = innerElement(biased, rank);
  ir::Node cast(sumLeaf(here, ir::Assign::set, ir::Op::cast, {innerElement(x.buffer, rank)}));
  ir::Node add(sumLeaf(here, ir::Assign::set, ir::Op::add, {here, ir::Constant(kBias)}));
  std::vector<ir::Node> biasing;
  if (dims.empty()) {
    biasing = {std::move(cast), std::move(add)};
  } else {
    ir::Scope inner;
    inner.extent = dims.back();
    inner.body = {std::move(cast), std::move(add)};
    biasing = {nest({dims.begin(), dims.end() - 1}, ir::Node(std::move(inner)))};
  }

  // The sum of y for each iteration of the loops that it has in common with the result.
  std::map<int, int> depths;  // Of the variables in the nest of the sum.
  std::vector<std::int64_t> kept;
  std::vector<std::int64_t> summed;
  std::vector<ir::Affine> indices;  // Of the sum where it's used, by the leaf's variables.
  for (int var = 0; var < static_cast<int>(extents.size()); ++var) {
    const bool reduces = var >= rootDepth && !usesVariable(leaf.dst, var);
    if (reduces || !usesVariable(y, var)) continue;
    depths[var] = static_cast<int>(kept.size());
    kept.push_back(extents[static_cast<std::size_t>(var)]);
    indices.push_back(ir::Affine::variable(var));
  }
  for (int var = rootDepth; var < static_cast<int>(extents.size()); ++var) {
    if (usesVariable(leaf.dst, var)) continue;
    depths[var] = static_cast<int>(kept.size() + summed.size());
    summed.push_back(extents[static_cast<std::size_t>(var)]);
  }
  const ir::BufferId sum = addTmp(out, plan.sum, type, kept, "heap");
  const ir::Access total = innerElement(sum, static_cast<int>(kept.size()));
  ir::Node zero(sumLeaf(total, ir::Assign::set, ir::Op::copy, {ir::Constant(std::int64_t{0})}));
  ir::Node adding =
      nest(summed, ir::Node(sumLeaf(total, ir::Assign::add, ir::Op::copy, {moved(y, depths)})));
  std::vector<ir::Node> summing;
  if (kept.empty()) {
    summing = {std::move(zero), std::move(adding)};
  } else {
    ir::Scope inner;
    inner.extent = kept.back();
    inner.body = {std::move(zero), std::move(adding)};
    summing = {nest({kept.begin(), kept.end() - 1}, ir::Node(std::move(inner)))};
  }

  // What is too much, after the loops.
  std::map<int, int> after;
  std::vector<std::int64_t> results;
  for (int var = 0; var < static_cast<int>(extents.size()); ++var) {
    if (var >= rootDepth && !usesVariable(leaf.dst, var)) continue;
    after[var] = var < rootDepth ? var : rootDepth + static_cast<int>(results.size());
    if (var >= rootDepth) results.push_back(extents[static_cast<std::size_t>(var)]);
  }
  ir::Node correction =
      nest(results, ir::Node(sumLeaf(moved(leaf.dst, after), ir::Assign::add, ir::Op::mul,
                                     {moved(element(sum, indices), after), ir::Constant(-kBias)})));

  ir::Access instead = x;
  instead.buffer = biased;
  ir::find(out, plan.place)->leaf().operands[static_cast<std::size_t>(plan.operand)] = instead;
  insert(out, sibling(plan.root, 1), std::move(correction));
  const ir::Path top = {plan.place.front()};
  for (auto it = summing.rbegin(); it != summing.rend(); ++it) insert(out, top, std::move(*it));
  for (auto it = biasing.rbegin(); it != biasing.rend(); ++it) insert(out, top, std::move(*it));
  return out;
}

}  // namespace dojo::moves
