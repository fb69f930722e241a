// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/build.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "ir/print.h"

namespace dojo::region {
Builder::Builder(const ir::Program& program, const ir::Path& path, const target::Target& target)
    : program_(program),
      target_(target),
      path_(path),
      common_(program.buffers.size()),
      outside_(program.buffers.size()) {
  std::vector<bool> used(program.buffers.size());
  ir::walk(program, [&](const ir::Visit& visit) {
    const bool outside =
        std::none_of(visit.enclosing.begin(), visit.enclosing.end(),
                     [&](const ir::Node* scope) { return isRegion(scope->scope(), target); });
    ir::forEachAccess(*visit.node, [&](const ir::Access& access, ir::Touch) {
      const auto id = static_cast<std::size_t>(program.storageOf(access.buffer));
      if (outside) outside_[id] = true;
      std::vector<const ir::Node*>& common = common_[id];
      if (!used[id]) {
        common = visit.enclosing;
        used[id] = true;
        return;
      }
      const auto ends = std::mismatch(common.begin(), common.end(), visit.enclosing.begin(),
                                      visit.enclosing.end());
      common.erase(ends.first, common.end());
    });
    return true;
  });
}

Result<Tree> Builder::run() {
  tree_.depth = static_cast<int>(path_.size()) - 1;
  tree_.line = ir::lineOf(program_, path_);
  for (std::size_t length = 1; length < path_.size(); ++length) {
    const ir::Path prefix(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(length));
    const ir::Node* around = ir::find(program_, prefix);
    Variable variable;
    variable.range = ir::variableRange(program_, around->scope());
    variables_.push_back(variable);
  }
  into_ = &tree_.items;
  // The guard of the region's own scope is around it.
  scope(*ir::find(program_, path_));
  if (failure_) return *failure_;
  tree_.items.insert(tree_.items.begin(), tree_.before.begin(), tree_.before.end());
  tree_.before.clear();
  return std::move(tree_);
}

void Builder::refuse(std::string code, std::string message) {
  if (failure_) return;
  failure_ = refusal(std::move(code), std::move(message), ir::lineOf(program_, path_));
}

bool Builder::within(ir::BufferId storage, const ir::Node* scope) const {
  const auto& around = common_[static_cast<std::size_t>(storage)];
  return std::find(around.begin(), around.end(), scope) != around.end();
}

std::vector<ir::Interval> Builder::ranges() const {
  std::vector<ir::Interval> out;
  for (const Variable& variable : variables_) out.push_back(variable.range);
  return out;
}

ir::Affine Builder::substituted(const ir::Affine& expr) const {
  ir::Affine out = expr.constant();
  for (const ir::Term& term : expr.terms()) {
    const Variable& variable = variables_[static_cast<std::size_t>(term.var)];
    if (variable.kind == Variable::Kind::constant) {
      out += term.coef * variable.value;
    } else {
      out += ir::Affine::variable(term.var, term.coef);
    }
  }
  return out;
}

int Builder::number(Number number) {
  auto& all = tree_.numbers;
  const auto found = std::find(all.begin(), all.end(), number);
  if (found != all.end()) return kFirstNumber + static_cast<int>(found - all.begin());
  all.push_back(std::move(number));
  return kFirstNumber + static_cast<int>(all.size()) - 1;
}

void Builder::nodes(const std::vector<ir::Node>& body) {
  for (std::size_t i = 0; i < body.size() && !failure_; ++i) {
    path_.push_back(static_cast<int>(i));
    node(body[i]);
    path_.pop_back();
  }
}

void Builder::node(const ir::Node& node) { guarded(node, 0); }

void Builder::guarded(const ir::Node& node, std::size_t term) {
  if (failure_) return;
  if (term == node.guard.size()) {
    if (node.instruction >= 0) {
      return refuse("lower.region",
                    "the vendor's instructions don't stand beside streams and frep");
    }
    return node.isLeaf() ? leaf(node.leaf()) : scope(node);
  }
  const ir::GuardTerm& guard = node.guard[term];
  const ir::Affine expr = substituted(guard.expr);
  if (inLanes() && expr.uses(lane_)) {
    return refuse("lower.vector", "a guard that differs between the lanes of packed vectors");
  }
  const ir::Interval values = ir::valueRange(expr, ranges());
  if (values.hi <= guard.lo || values.lo >= guard.hi) return;
  if (values.lo >= guard.lo && values.hi <= guard.hi) return guarded(node, term + 1);
  Items* outer = into_;
  Guarded here{{expr, guard.lo, guard.hi}, {}};
  into_ = &here.body;
  guarded(node, term + 1);
  into_ = outer;
  if (!here.body.empty()) into_->push_back({std::move(here)});
}

void Builder::scope(const ir::Node& node) {
  const ir::Scope& scope = node.scope();
  for (const ir::MapKind kind : ir::allMapKinds()) {
    if (!scope.mapping.has(kind)) continue;
    const std::string_view name = ir::name(kind);
    if (!target_.offersMapping(std::string(name))) {
      return refuse("lower.mapping",
                    fmt::format("target {} has no mapping '{}'", target_.name, name));
    }
    if (kind != ir::MapKind::stream && kind != ir::MapKind::frep && kind != ir::MapKind::unroll &&
        kind != ir::MapKind::vector) {
      return refuse("lower.region",
                    fmt::format("'{}' inside a scope that is mapped stream, frep or vector", name));
    }
  }
  const std::uint16_t apart =
      static_cast<std::uint16_t>(scope.mapping.bits & ~static_cast<unsigned>(ir::MapKind::stream));
  if (std::popcount(apart) > 1) {
    return refuse("lower.mapping", "these mappings can't stand together on one scope");
  }
  if (!scope.extent.isConstant()) {
    return refuse("lower.region", "an extent that is read at run time");
  }
  if (scope.extent.count <= 0) return;
  if (scope.mapping.has(ir::MapKind::stream)) return streams(node);
  iterations(node);
}

void Builder::streams(const ir::Node& node) {
  Streams here;
  here.buffers = node.scope().mapping.streams;
  here.path = path_;
  here.line = ir::lineOf(program_, path_);
  Items* outer = into_;
  into_ = &here.body;
  iterations(node);
  into_ = outer;
  if (!here.body.empty()) into_->push_back({std::move(here)});
}

void Builder::iterations(const ir::Node& node) {
  const ir::Scope& scope = node.scope();
  const std::int64_t count = scope.extent.count;
  if (scope.mapping.has(ir::MapKind::vector) && count > 1) return vector(node);
  Variable variable;
  if (scope.mapping.has(ir::MapKind::unroll) || count == 1) {
    const std::vector<ir::Node>& inside = node.scope().body;
    if (count > 1 && inside.size() == 1 && inside.front().isLeaf() &&
        inside.front().guard.empty() && inside.front().instruction < 0 && !inLanes() &&
        isRoutine(inside.front().leaf())) {
      path_.push_back(0);
      routine(inside.front().leaf(), count);
      path_.pop_back();
      return;
    }
    variable.kind = Variable::Kind::constant;
    for (std::int64_t i = 0; i < count && !failure_; ++i) {
      variable.value = i;
      variable.range = {i, i + 1};
      body(node, variable);
    }
    return;
  }
  Loop loop;
  loop.count = count;
  loop.depth = static_cast<int>(variables_.size());
  loop.hardware = scope.mapping.has(ir::MapKind::frep);
  loop.line = ir::lineOf(program_, path_);
  Items* outer = into_;
  into_ = &loop.body;
  variable.kind = Variable::Kind::loop;
  variable.range = {0, count};
  body(node, variable);
  into_ = outer;
  if (!loop.body.empty()) into_->push_back({std::move(loop)});
}

void Builder::vector(const ir::Node& node) {
  if (inLanes()) return refuse("lower.vector", "a vector scope inside a vector scope");
  const std::int64_t count = node.scope().extent.count;
  const int lanes = target_.lanes(ir::sizeBytes(ir::DType::f32));
  if (count != lanes) {
    return refuse("lower.vector", fmt::format("{} lanes, where vectors of target {} are {} of f32",
                                              count, target_.name, lanes));
  }
  laneScope_ = &node;
  lane_ = static_cast<int>(variables_.size());
  Variable variable;
  variable.kind = Variable::Kind::lane;
  variable.range = {0, count};
  body(node, variable);
  lane_ = -1;
  laneScope_ = nullptr;
}

void Builder::body(const ir::Node& node, Variable variable) {
  variables_.push_back(variable);
  nodes(node.scope().body);
  variables_.pop_back();
}

Result<Tree> build(const ir::Program& program, const ir::Path& path, const target::Target& target) {
  return Builder(program, path, target).run();
}

}  // namespace dojo::region
