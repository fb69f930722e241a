// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Executes a tree over numbers whose meaning an Arithmetic gives.
///
/// A thread is a place in the tree with the iteration variables of its lanes. A `vector` scope
/// multiplies the lanes: each leaf is then read by all lanes before any of them writes, and they
/// write in random order. Other concurrent scopes become threads; the next leaf is always that of
/// a random thread; so are those of the loops of a `dma` scope. Private storage is fresh, hence
/// unwritten, at each iteration. A storage element remembers which logical element of which buffer
/// it holds, so that a value that `~`, `512~2` or shared storage has overwritten is not taken for
/// the one that was meant.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/numeric.h"
#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::ir {

/// What numbers are and how leaves compute. Integers and bools are always in Number::integer.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  [[nodiscard]] virtual Number constant(const Constant& constant, DType type) const = 0;
  [[nodiscard]] virtual Number cast(Number value, DType from, DType to) const = 0;
  [[nodiscard]] virtual Number saturatingCast(Number value, DType from, DType to) const = 0;
  /// nullopt: integer division by zero.
  [[nodiscard]] virtual std::optional<Number> evaluate(Op op, DType type, Number a, Number b,
                                                       Number c) const = 0;
};

class Machine {
 public:
  /// `program` must outlive the machine and be structurally valid.
  Machine(const Program& program, const Arithmetic& arithmetic, const InterpretOptions& options);

  /// An element of an argument before or after the run, by offset in storage.
  void set(BufferId buffer, std::int64_t offset, Number value);
  [[nodiscard]] Number get(BufferId buffer, std::int64_t offset) const;
  /// Runs once. Errors as interpret().
  [[nodiscard]] Status run();

 private:
  struct IndexPlan;
  struct AccessPlan {
    BufferId buffer = -1;
    BufferId storage = -1;
    std::int64_t tag = 0;  ///< Tells buffers in one storage apart.
    bool folded = false;
    std::vector<IndexPlan> indices;
  };
  struct IndexPlan {
    Affine affine;
    std::vector<AccessPlan> gather;  ///< One: the element of the index buffer; none: affine.
    std::int64_t extent = 1, stride = 1, fold = 0;
  };
  struct OperandPlan {
    enum class Kind : std::uint8_t { element, constant, index } kind = Kind::constant;
    AccessPlan access;
    Affine affine;
    Number value{};
    DType from = DType::f32, to = DType::f32;  ///< The implicit conversion.
  };
  struct NodePlan {
    const Node* node = nullptr;
    Path path;
    int depth = 0;
    // Leaves.
    AccessPlan dst;
    std::vector<OperandPlan> operands;
    DType compute = DType::f32, result = DType::f32, type = DType::f32;
    // Scopes.
    bool vector = false, concurrent = false, streams = false;
    AccessPlan first, last;
    std::vector<BufferId> privates;  ///< Storage that is fresh at each iteration.
    std::vector<NodePlan> body;
  };
  /// One instance of a buffer's storage.
  struct Store {
    std::vector<Number> cells;
    std::vector<std::int64_t> holds;  ///< Tag + logical element, kUnwritten or kAnything.
  };
  /// Where an access falls.
  struct Place {
    Store* store = nullptr;
    std::size_t offset = 0;
    std::int64_t held = 0;
  };
  /// An execution of a stream scope: streams read what was there at its beginning, and what they
  /// write is seen at its end.
  struct Streaming {
    std::vector<bool> streamed;  ///< By buffer.
    /// What other writes have replaced.
    std::map<std::pair<const Store*, std::size_t>, std::pair<Number, std::int64_t>> before;
    std::vector<std::pair<Place, Number>> written;
  };
  struct Frame {
    const NodePlan* scope = nullptr;
    const std::vector<NodePlan>* body = nullptr;
    std::size_t position = 0;
    std::vector<int> lanes;   ///< Active ones.
    std::vector<int> around;  ///< Those that entered the scope, with the range of each.
    std::vector<Interval> ranges;
    std::int64_t step = 0, steps = 0;
    int lanesBefore = 0;  ///< Of the thread, outside of a vector scope.
  };
  /// A concurrent scope whose iterations are under way.
  struct Group {
    const NodePlan* scope = nullptr;
    int parent = -1;
    std::vector<std::pair<int, std::int64_t>> iterations;  ///< Lane of the parent, value.
    std::size_t next = 0;
    int live = 0;
  };
  struct Thread {
    std::vector<Frame> frames;
    std::size_t depth = 0;  ///< Frames in use.
    int laneCount = 0;
    std::vector<std::int64_t> variables;  ///< laneCount rows of maxDepth_.
    std::vector<int> stores;              ///< laneCount rows of one a buffer.
    int group = -1;
    bool waits = false;  ///< For the iterations of a concurrent scope.
    std::optional<Streaming> streaming;
  };

  [[nodiscard]] AccessPlan plan(const Access& access) const;
  [[nodiscard]] std::vector<NodePlan> plan(const std::vector<Node>& nodes, Path& path,
                                           bool transfer = false);
  [[nodiscard]] OperandPlan plan(const Operand& operand, DType to) const;
  void planLeaf(NodePlan& out, const Leaf& leaf) const;
  void findPrivates();

  [[nodiscard]] std::int64_t evaluate(const Affine& affine, const Thread& thread, int lane) const;
  [[nodiscard]] bool guarded(const NodePlan& node, const Thread& thread, int lane) const;
  bool locate(const AccessPlan& access, Thread& thread, int lane, Place& out);
  bool read(const AccessPlan& access, Thread& thread, int lane, Number& out);
  bool operandsOf(const NodePlan& node, Thread& thread, int lane, Number (&out)[3]);
  bool term(const NodePlan& node, Thread& thread, int lane, Number (&out)[3]);
  bool write(const NodePlan& node, Thread& thread, int lane, const Number (&terms)[3]);
  void runLeaf(const NodePlan& node, Thread& thread, const std::vector<int>& lanes);

  int addLane(Thread& thread, const Thread& from, int lane, const NodePlan& scope,
              std::int64_t value);
  void dropLanes(Thread& thread, int count);
  int takeStore(BufferId storage);
  void enter(const NodePlan& scope, int thread);
  void startStreams(Thread& thread, const NodePlan& scope) const;
  static void endStreams(Thread& thread);
  void nextIteration(Thread& thread, Frame& frame);
  void startStep(Thread& thread, Frame& frame);
  void startIterations(int group);
  Frame& push(Thread& thread, const NodePlan* scope, const std::vector<NodePlan>& body);
  /// Runs until one leaf is done, the thread has ended, or it waits for others.
  void advance(int thread);
  void endThread(int thread);
  std::uint64_t random();
  void fail(const NodePlan& node, const char* code, std::string message);
  [[nodiscard]] Status checkOuts() const;

  const Program& program_;
  const Arithmetic& arithmetic_;
  std::int64_t budget_;
  std::uint64_t randomState_;
  std::size_t maxDepth_ = 1;
  std::vector<NodePlan> body_;
  std::vector<std::int64_t> sizes_;  ///< Elements, by storage.
  std::deque<Store> stores_;
  std::vector<std::vector<int>> freeStores_;  ///< By storage.
  std::deque<Thread> threads_;
  std::vector<int> freeThreads_, runnable_;
  std::deque<Group> groups_;
  std::vector<int> freeGroups_;
  const NodePlan* current_ = nullptr;  ///< What is being executed, for errors.
  std::optional<Error> error_;
};

}  // namespace dojo::ir
