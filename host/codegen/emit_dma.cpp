// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes mapped `dma`: calls of the runner's services, and waiting as late as it may be.
#include <algorithm>

#include "codegen/codegen.h"
#include "codegen/emitter.h"

namespace dojo::codegen {
namespace {

/// Bytes from one iteration of the scope at `depth` to the next; nullopt: not always the same.
std::optional<std::int64_t> stride(const ir::Program& program, const ir::Access& access,
                                   int depth) {
  const ir::Buffer& buffer = program.buffer(access.buffer);
  const std::vector<std::int64_t> strides = buffer.strides();
  std::int64_t elements = 0;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    const std::int64_t fold = buffer.dims[d].fold;
    if (fold == 1) continue;
    if (index.isGather()) {
      const bool moves = std::any_of(index.gatherIndices.begin(), index.gatherIndices.end(),
                                     [&](const ir::Affine& inner) { return inner.uses(depth); });
      if (moves) return std::nullopt;
      continue;
    }
    const std::int64_t coef = index.affine.coef(depth);
    if (fold > 1 && coef % fold == 0) continue;
    if (fold > 1 && coef != 0) return std::nullopt;
    elements += coef * strides[d];
  }
  return elements * ir::sizeBytes(buffer.dtype);
}

}  // namespace

/// Iterations that are neighbours on both sides make up a row, one further scope the rows; the rest
/// are loops around the call.
void Emitter::transfer(const ir::Node& node) {
  Transfer transfer;
  std::vector<const ir::Node*> nest = {&node};
  while (nest.back()->scope().body.front().isScope()) {
    nest.push_back(&nest.back()->scope().body.front());
  }
  const ir::Node& copy = nest.back()->scope().body.front();
  transfer.leaf = &copy.leaf();
  const auto& from = std::get<ir::Access>(transfer.leaf->operands[0]);
  struct Step {
    const ir::Node* scope;
    std::int64_t count, from, to;
  };
  std::vector<Step> steps;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    const auto depth = static_cast<int>(variables_.size() + i);
    const auto read = stride(program_, from, depth);
    const auto written = stride(program_, transfer.leaf->dst, depth);
    const std::int64_t count = nest[i]->scope().extent.count;
    if (read && written && count > 1) steps.push_back({nest[i], count, *read, *written});
  }
  transfer.bytes = ir::sizeBytes(program_.buffer(from.buffer).dtype);
  const auto take = [&](std::vector<Step>::iterator step) {
    transfer.inside.push_back(step->scope);
    steps.erase(step);
  };
  for (;;) {
    const auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.from == transfer.bytes && step.to == transfer.bytes;
    });
    if (next == steps.end()) break;
    transfer.bytes *= next->count;
    take(next);
  }
  const auto most = std::max_element(
      steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.count < b.count; });
  if (most != steps.end()) {
    transfer.rows = most->count;
    transfer.fromStride = most->from;
    transfer.toStride = most->to;
    take(most);
  }
  transfer_ = std::move(transfer);
  transferScope(node);
  transfer_.reset();
  // Within a parallel body there is nothing to wait for.
  if (state_.function->getName() == kEntry) pending_.push_back({&copy, variables_.size()});
}

void Emitter::transferScope(const ir::Node& node) {
  const ir::Scope& scope = node.scope();
  const auto& inside = transfer_->inside;
  if (scope.extent.count <= 0) return;
  if (scope.extent.count > 1 && std::find(inside.begin(), inside.end(), &node) == inside.end()) {
    return sequential(scope, integer(0), integer(scope.extent.count), false);
  }
  body(scope, Variable{});
}

void Emitter::transferCall() {
  const auto& from = std::get<ir::Access>(transfer_->leaf->operands[0]);
  const ir::Access& to = transfer_->leaf->dst;
  Value* source = pointer(from.buffer, offsetOf(from, nullptr));
  Value* target = pointer(to.buffer, offsetOf(to, nullptr));
  llvm::Type* address = b_.getPtrTy();
  const llvm::FunctionCallee service = module_.getOrInsertFunction(
      kDmaCopy, llvm::FunctionType::get(b_.getVoidTy(),
                                        {address, address, word_, word_, word_, word_}, false));
  b_.CreateCall(service, {target, source, integer(transfer_->bytes), integer(transfer_->toStride),
                          integer(transfer_->fromStride), integer(transfer_->rows)});
}

void Emitter::wait() {
  pending_.clear();
  b_.CreateCall(
      module_.getOrInsertFunction(kDmaWait, llvm::FunctionType::get(b_.getVoidTy(), false)));
}

/// Before a node that may touch what is still on its way. Transfers keep their order.
void Emitter::settle(const ir::Node& next) {
  if (pending_.empty() || transfer_) return;
  if (next.isScope() && next.scope().mapping.has(ir::MapKind::dma)) return;
  if (!accesses_) accesses_ = std::make_unique<ir::Accesses>(program_);
  const auto below = [](const ir::Site& site, const ir::Node* node) {
    return site.node == node ||
           std::find(site.enclosing.begin(), site.enclosing.end(), node) != site.enclosing.end();
  };
  for (const Pending& pending : pending_) {
    // Those of bodies around this one were settled before its scope.
    if (pending.depth != variables_.size()) continue;
    const auto equal = ir::equalThen(static_cast<int>(pending.depth), {});
    for (const ir::Site& moved : accesses_->all()) {
      if (moved.node != pending.copy) continue;
      for (const ir::Site& site : accesses_->all()) {
        if (!below(site, &next)) continue;
        const bool storage =
            program_.storageOf(site.access.buffer) == program_.storageOf(moved.access.buffer);
        const bool write = site.touch == ir::Touch::write || moved.touch == ir::Touch::write;
        if (!storage || !write) continue;
        const bool shared = site.access.buffer != moved.access.buffer;
        if (shared || ir::meet(*accesses_, moved, site, equal) != ir::Answer::no) return wait();
      }
    }
  }
}

/// At the end of a scope's body: what was started in it may meet the next iteration.
void Emitter::settleBody() {
  const bool here = std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.depth == variables_.size();
  });
  if (here && !transfer_) wait();
}

}  // namespace dojo::codegen
