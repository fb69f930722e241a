// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running; plans are made in interpret_plan.cpp.
#include "ir/interpret_machine.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "ir/interpret_storage.h"
#include "ir/print.h"
#include "ir/storage.h"

namespace dojo::ir {
namespace {

constexpr std::int64_t kUnwritten = -1;
constexpr std::int64_t kAnything = -2;
/// Iterations of one concurrent scope that are under way at once.
constexpr int kWindow = 64;

}  // namespace

Machine::Machine(const Program& program, const Arithmetic& arithmetic,
                 const InterpretOptions& options)
    : program_(program),
      arithmetic_(arithmetic),
      budget_(options.budget),
      randomState_(mix(options.seed)),
      sizes_(storageSizes(program)) {
  Path path;
  body_ = plan(program.body, path);
  findPrivates();
  freeStores_.resize(program.buffers.size());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const int store = takeStore(static_cast<BufferId>(i));
    DOJO_CHECK(store == static_cast<int>(i), "the first stores are the shared ones");
    const Role role = program.buffers[i].role;
    if (role == Role::in || role == Role::inout) {
      std::fill(stores_[i].holds.begin(), stores_[i].holds.end(), kAnything);
    }
  }
}

void Machine::set(BufferId buffer, std::int64_t offset, Number value) {
  stores_[static_cast<std::size_t>(buffer)].cells[static_cast<std::size_t>(offset)] = value;
}

Number Machine::get(BufferId buffer, std::int64_t offset) const {
  return stores_[static_cast<std::size_t>(buffer)].cells[static_cast<std::size_t>(offset)];
}

std::uint64_t Machine::random() { return mix(randomState_++); }

void Machine::fail(const NodePlan& node, const char* code, std::string message) {
  if (error_) return;
  error_ =
      Error{code, std::move(message), "line " + std::to_string(lineOf(program_, node.path)), {}};
}

// --- Leaves -------------------------------------------------------------------------------------

std::int64_t Machine::evaluate(const Affine& affine, const Thread& thread, int lane) const {
  const std::int64_t* variables = &thread.variables[static_cast<std::size_t>(lane) * maxDepth_];
  std::int64_t sum = affine.constant();
  for (const Term& t : affine.terms()) sum += t.coef * variables[t.var];
  return sum;
}

bool Machine::guarded(const NodePlan& node, const Thread& thread, int lane) const {
  for (const GuardTerm& guard : node.node->guard) {
    const std::int64_t value = evaluate(guard.expr, thread, lane);
    if (value < guard.lo || value >= guard.hi) return false;
  }
  return true;
}

bool Machine::locate(const AccessPlan& access, Thread& thread, int lane, Place& out) {
  std::int64_t offset = 0;
  std::int64_t logical = 0;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const IndexPlan& index = access.indices[d];
    std::int64_t value = 0;
    if (index.gather.empty()) {
      value = evaluate(index.affine, thread, lane);
    } else {
      Number number{};
      if (!read(index.gather.front(), thread, lane, number)) return false;
      value = number.integer;
    }
    if (value < 0 || value >= index.extent) {
      fail(*current_, "interpret.bounds",
           "index " + std::to_string(value) + " of dim " + std::to_string(d) + " of " +
               program_.buffer(access.buffer).name + " is outside of [0, " +
               std::to_string(index.extent) + ")");
      return false;
    }
    logical = logical * index.extent + value;
    offset += (index.fold > 1 ? value % index.fold : value) * index.stride;
  }
  const std::size_t row = static_cast<std::size_t>(lane) * program_.buffers.size();
  const int store = thread.stores[row + static_cast<std::size_t>(access.storage)];
  out.store = &stores_[static_cast<std::size_t>(store)];
  out.offset = static_cast<std::size_t>(offset);
  out.held = access.tag + (access.folded ? logical : 0);
  return true;
}

bool Machine::read(const AccessPlan& access, Thread& thread, int lane, Number& out) {
  Place place;
  if (!locate(access, thread, lane, place)) return false;
  Number value = place.store->cells[place.offset];
  std::int64_t holds = place.store->holds[place.offset];
  if (thread.streaming && thread.streaming->streamed[static_cast<std::size_t>(access.buffer)]) {
    const auto old = thread.streaming->before.find({place.store, place.offset});
    if (old != thread.streaming->before.end()) std::tie(value, holds) = old->second;
  }
  if (holds != place.held && holds != kAnything) {
    std::string problem = "an element of " + program_.buffer(access.buffer).name + " is read ";
    if (holds == kUnwritten) {
      problem += "before it is written";
    } else {
      const auto other = static_cast<BufferId>(holds / kMaxElements) + access.storage;
      const bool same = other == access.buffer;
      problem += "after " + (same ? "another element" : program_.buffer(other).name) +
                 " was written to its storage";
    }
    fail(*current_, "interpret.unwritten", std::move(problem));
    return false;
  }
  out = value;
  return true;
}

bool Machine::operandsOf(const NodePlan& node, Thread& thread, int lane, Number (&out)[3]) {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const OperandPlan& operand = node.operands[i];
    switch (operand.kind) {
      case OperandPlan::Kind::constant:
        out[i] = operand.value;
        continue;
      case OperandPlan::Kind::index:
        out[i] = Number::of(evaluate(operand.affine, thread, lane));
        break;
      case OperandPlan::Kind::element:
        if (!read(operand.access, thread, lane, out[i])) return false;
        break;
    }
    if (operand.from != operand.to) out[i] = arithmetic_.cast(out[i], operand.from, operand.to);
  }
  return true;
}

/// The right side in terms[0], or all factors of a contracted update.
bool Machine::term(const NodePlan& node, Thread& thread, int lane, Number (&out)[3]) {
  if (!operandsOf(node, thread, lane, out)) return false;
  const Leaf& leaf = node.node->leaf();
  if (leaf.assign == Assign::fma || leaf.op == Op::copy) return true;
  if (leaf.op == Op::cast) {
    out[0] = arithmetic_.cast(out[0], node.compute, node.type);
    return true;
  }
  if (leaf.op == Op::satCast) {
    out[0] = arithmetic_.saturatingCast(out[0], node.compute, node.type);
    return true;
  }
  const auto result = arithmetic_.evaluate(leaf.op, node.compute, out[0], out[1], out[2]);
  if (!result) {
    fail(node, "interpret.division", "an integer is divided by zero");
    return false;
  }
  out[0] = node.result == node.type ? *result : arithmetic_.cast(*result, node.result, node.type);
  return true;
}

bool Machine::write(const NodePlan& node, Thread& thread, int lane, const Number (&terms)[3]) {
  const Leaf& leaf = node.node->leaf();
  Number value = terms[0];
  if (leaf.isReduction()) {
    Number old{};
    if (!read(node.dst, thread, lane, old)) return false;
    switch (leaf.assign) {
      case Assign::add:
        value = *arithmetic_.evaluate(Op::add, node.type, old, value, {});
        break;
      case Assign::mul:
        value = *arithmetic_.evaluate(Op::mul, node.type, old, value, {});
        break;
      case Assign::max:
        value = *arithmetic_.evaluate(Op::max, node.type, old, value, {});
        break;
      case Assign::min:
        value = *arithmetic_.evaluate(Op::min, node.type, old, value, {});
        break;
      default:
        value = *arithmetic_.evaluate(Op::fma, node.type, value, terms[1], old);
        break;
    }
  }
  Place place;
  if (!locate(node.dst, thread, lane, place)) return false;
  Number& cell = place.store->cells[place.offset];
  std::int64_t& holds = place.store->holds[place.offset];
  if (thread.streaming) {
    Streaming& streaming = *thread.streaming;
    if (streaming.streamed[static_cast<std::size_t>(node.dst.buffer)]) {
      streaming.written.emplace_back(place, value);
      return true;
    }
    streaming.before.try_emplace({place.store, place.offset}, cell, holds);
  }
  cell = value;
  holds = place.held;
  return true;
}

void Machine::runLeaf(const NodePlan& node, Thread& thread, const std::vector<int>& lanes) {
  current_ = &node;
  struct Pending {
    int lane;
    Number terms[3];
  };
  if (lanes.size() == 1) {
    Pending one{lanes[0], {}};
    if (!guarded(node, thread, one.lane)) return;
    --budget_;
    if (term(node, thread, one.lane, one.terms)) write(node, thread, one.lane, one.terms);
    return;
  }
  std::vector<Pending> pending;
  for (const int lane : lanes) {
    if (!guarded(node, thread, lane)) continue;
    Pending next{lane, {}};
    --budget_;
    if (!term(node, thread, lane, next.terms)) return;
    pending.push_back(next);
  }
  for (std::size_t i = pending.size(); i > 0; --i) {
    std::swap(pending[i - 1], pending[random() % i]);
    if (!write(node, thread, pending[i - 1].lane, pending[i - 1].terms)) return;
  }
}

// --- Scopes -------------------------------------------------------------------------------------

int Machine::takeStore(BufferId storage) {
  auto& free = freeStores_[static_cast<std::size_t>(storage)];
  int id = static_cast<int>(stores_.size());
  if (free.empty()) {
    Store& store = stores_.emplace_back();
    const bool own = program_.storageOf(storage) == storage;
    const auto size = own ? static_cast<std::size_t>(sizes_[static_cast<std::size_t>(storage)]) : 0;
    store.cells.resize(size);
    store.holds.resize(size);
  } else {
    id = free.back();
    free.pop_back();
  }
  auto& holds = stores_[static_cast<std::size_t>(id)].holds;
  std::fill(holds.begin(), holds.end(), kUnwritten);
  return id;
}

/// A lane like `lane` of `from`, in iteration `value` of a concurrent scope.
int Machine::addLane(Thread& thread, const Thread& from, int lane, const NodePlan& scope,
                     std::int64_t value) {
  const std::size_t buffers = program_.buffers.size();
  const auto index = static_cast<std::size_t>(thread.laneCount++);
  thread.variables.resize((index + 1) * maxDepth_);
  thread.stores.resize((index + 1) * buffers);
  const std::size_t source = static_cast<std::size_t>(lane);
  std::copy_n(from.variables.begin() + static_cast<std::ptrdiff_t>(source * maxDepth_), maxDepth_,
              thread.variables.begin() + static_cast<std::ptrdiff_t>(index * maxDepth_));
  std::copy_n(from.stores.begin() + static_cast<std::ptrdiff_t>(source * buffers), buffers,
              thread.stores.begin() + static_cast<std::ptrdiff_t>(index * buffers));
  thread.variables[index * maxDepth_ + static_cast<std::size_t>(scope.depth)] = value;
  for (const BufferId buffer : scope.privates) {
    thread.stores[index * buffers + static_cast<std::size_t>(buffer)] = takeStore(buffer);
  }
  return static_cast<int>(index);
}

/// Keeps the first `count` lanes; the private storage of the others is free again.
void Machine::dropLanes(Thread& thread, int count) {
  const std::size_t buffers = program_.buffers.size();
  const Frame& frame = thread.frames[thread.depth - 1];
  for (int lane = count; lane < thread.laneCount; ++lane) {
    for (const BufferId buffer : frame.scope->privates) {
      const std::size_t at =
          static_cast<std::size_t>(lane) * buffers + static_cast<std::size_t>(buffer);
      freeStores_[static_cast<std::size_t>(buffer)].push_back(thread.stores[at]);
    }
  }
  thread.laneCount = count;
}

Machine::Frame& Machine::push(Thread& thread, const NodePlan* scope,
                              const std::vector<NodePlan>& body) {
  if (thread.depth == thread.frames.size()) thread.frames.emplace_back();
  Frame& frame = thread.frames[thread.depth++];
  frame.scope = scope;
  frame.body = &body;
  frame.position = 0;
  frame.lanes.clear();
  frame.around.clear();
  frame.ranges.clear();
  frame.step = 0;
  frame.steps = 0;
  frame.lanesBefore = thread.laneCount;
  return frame;
}

/// The lanes that take part in the current step of a sequential scope.
void Machine::startStep(Thread& thread, Frame& frame) {
  frame.position = 0;
  frame.lanes.clear();
  for (std::size_t i = 0; i < frame.around.size(); ++i) {
    const std::int64_t value = frame.ranges[i].lo + frame.step;
    if (value >= frame.ranges[i].hi) continue;
    const auto lane = static_cast<std::size_t>(frame.around[i]);
    thread.variables[lane * maxDepth_ + static_cast<std::size_t>(frame.scope->depth)] = value;
    frame.lanes.push_back(frame.around[i]);
  }
}

void Machine::startStreams(Thread& thread, const NodePlan& scope) const {
  Streaming& streaming = thread.streaming.emplace();
  streaming.streamed.resize(program_.buffers.size());
  for (const BufferId id : scope.node->scope().mapping.streams) {
    streaming.streamed[static_cast<std::size_t>(id)] = true;
  }
}

void Machine::endStreams(Thread& thread) {
  for (const auto& [place, value] : thread.streaming->written) {
    place.store->cells[place.offset] = value;
    place.store->holds[place.offset] = place.held;
  }
  thread.streaming.reset();
}

void Machine::enter(const NodePlan& scope, int threadId) {
  current_ = &scope;
  Thread& thread = threads_[static_cast<std::size_t>(threadId)];
  const std::size_t outer = thread.depth - 1;
  Frame& frame = push(thread, &scope, scope.body);
  for (const int lane : thread.frames[outer].lanes) {
    if (!guarded(scope, thread, lane)) continue;
    const Extent& extent = scope.node->scope().extent;
    Interval range{0, extent.count};
    if (extent.range) {
      Number first{};
      Number last{};
      if (!read(scope.first, thread, lane, first) || !read(scope.last, thread, lane, last)) return;
      range = {first.integer, last.integer};
    }
    if (range.hi <= range.lo) continue;
    frame.around.push_back(lane);
    frame.ranges.push_back(range);
    frame.steps = std::max(frame.steps, range.hi - range.lo);
  }
  if (frame.around.empty()) {
    --thread.depth;
    return;
  }
  if (scope.streams) startStreams(thread, scope);
  if (!scope.concurrent) return startStep(thread, frame);
  if (scope.vector) {
    for (std::size_t i = 0; i < frame.around.size(); ++i) {
      for (std::int64_t value = frame.ranges[i].lo; value < frame.ranges[i].hi; ++value) {
        frame.lanes.push_back(addLane(thread, thread, frame.around[i], scope, value));
      }
    }
    return;
  }
  int id = static_cast<int>(groups_.size());
  if (freeGroups_.empty()) {
    groups_.emplace_back();
  } else {
    id = freeGroups_.back();
    freeGroups_.pop_back();
  }
  Group& group = groups_[static_cast<std::size_t>(id)];
  group = Group{&scope, threadId, {}, 0, 0};
  for (std::size_t i = 0; i < frame.around.size(); ++i) {
    for (std::int64_t value = frame.ranges[i].lo; value < frame.ranges[i].hi; ++value) {
      group.iterations.emplace_back(frame.around[i], value);
    }
  }
  for (std::size_t i = group.iterations.size(); i > 1; --i) {
    std::swap(group.iterations[i - 1], group.iterations[random() % i]);
  }
  --thread.depth;
  thread.waits = true;
  std::erase(runnable_, threadId);
  startIterations(id);
}

/// Threads for the next iterations of a concurrent scope.
void Machine::startIterations(int groupId) {
  Group& group = groups_[static_cast<std::size_t>(groupId)];
  while (group.live < kWindow && group.next < group.iterations.size()) {
    int id = static_cast<int>(threads_.size());
    if (freeThreads_.empty()) {
      threads_.emplace_back();
    } else {
      id = freeThreads_.back();
      freeThreads_.pop_back();
    }
    Thread& thread = threads_[static_cast<std::size_t>(id)];
    thread.depth = 0;
    thread.laneCount = 0;
    thread.group = groupId;
    const auto [lane, value] = group.iterations[group.next++];
    Frame& frame = push(thread, group.scope, group.scope->body);
    frame.lanes.push_back(addLane(thread, threads_[static_cast<std::size_t>(group.parent)], lane,
                                  *group.scope, value));
    frame.lanesBefore = 0;
    runnable_.push_back(id);
    ++group.live;
  }
}

void Machine::endThread(int threadId) {
  Thread& thread = threads_[static_cast<std::size_t>(threadId)];
  std::erase(runnable_, threadId);
  const int groupId = thread.group;
  if (groupId < 0) return;
  freeThreads_.push_back(threadId);
  Group& group = groups_[static_cast<std::size_t>(groupId)];
  --group.live;
  startIterations(groupId);
  if (group.live > 0) return;
  threads_[static_cast<std::size_t>(group.parent)].waits = false;
  runnable_.push_back(group.parent);
  freeGroups_.push_back(groupId);
}

/// At the end of a frame's body.
void Machine::nextIteration(Thread& thread, Frame& frame) {
  if (frame.scope != nullptr && !frame.scope->concurrent && ++frame.step < frame.steps) {
    return startStep(thread, frame);
  }
  if (frame.scope != nullptr && frame.scope->concurrent) dropLanes(thread, frame.lanesBefore);
  if (frame.scope != nullptr && frame.scope->streams) endStreams(thread);
  --thread.depth;
}

void Machine::advance(int threadId) {
  Thread& thread = threads_[static_cast<std::size_t>(threadId)];
  while (!error_) {
    if (thread.depth == 0) {
      return endThread(threadId);
    }
    Frame& frame = thread.frames[thread.depth - 1];
    if (frame.position == frame.body->size()) {
      nextIteration(thread, frame);
      continue;
    }
    const NodePlan& node = (*frame.body)[frame.position++];
    if (node.node->isLeaf()) {
      runLeaf(node, thread, frame.lanes);
      if (budget_ < 0) fail(node, "interpret.budget", "the program runs longer than the budget");
      return;
    }
    enter(node, threadId);
    if (thread.waits) return;
  }
}

Status Machine::checkOuts() const {
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (buffer.role != Role::out) continue;
    std::int64_t missing = kUnwritten;
    forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
      const bool unwritten = stores_[i].holds[static_cast<std::size_t>(offset)] == kUnwritten;
      if (missing < 0 && unwritten) missing = logical;
    });
    if (missing >= 0) {
      return Error{
          "interpret.unwritten-out",
          "element " + std::to_string(missing) + " of " + buffer.name + " is never written",
          buffer.name,
          {}};
    }
  }
  return {};
}

Status Machine::run() {
  Thread& root = threads_.emplace_back();
  root.laneCount = 1;
  root.variables.assign(maxDepth_, 0);
  root.stores.resize(program_.buffers.size());
  for (std::size_t i = 0; i < root.stores.size(); ++i) root.stores[i] = static_cast<int>(i);
  push(root, nullptr, body_).lanes.push_back(0);
  runnable_.push_back(0);
  while (!runnable_.empty() && !error_) {
    const std::size_t pick = runnable_.size() == 1 ? 0 : random() % runnable_.size();
    advance(runnable_[pick]);
  }
  if (error_) return *error_;
  return checkOuts();
}

}  // namespace dojo::ir
