// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// From program and plan to LLVM IR that says the same: loops, lanes, addresses. Nothing is left to
/// an optimiser except putting register slots into SSA values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "codegen/llvm.h"
#include "codegen/numbers.h"
#include "codegen/plan.h"
#include "ir/dependence.h"
#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::codegen {

/// The service of the runner that spreads a parallel scope over harts, see abi.h.
constexpr const char* kParallelFor = "dojo_parallel_for";
/// Those that copy beside the program.
constexpr const char* kDmaCopy = "dojo_dma_copy2d";
constexpr const char* kDmaWait = "dojo_dma_wait";

struct MachineFacts {
  std::string cpu, features;
  /// Whether an address may be a sum of registers, one of them scaled: loops count offsets then,
  /// and addresses else.
  bool sumsInAddresses = true;
  /// Whether vector instructions take a number of lanes (RISC-V); strips are masked else.
  bool vectorLengths = false;
  int leastVectorBits = 0;  ///< Arm SVE: what LLVM may count on; 0: nothing.
  int vectorBits = 0;
  /// What a register for numbers is written as: less than its bits only where its parts have names
  /// of their own.
  unsigned registerBits = 32;
  ArithmeticFacts arithmetic;
};

class LineMarks;

class Emitter {
 public:
  Emitter(llvm::Module& module, const ir::Program& program, const Plan& plan,
          const MachineFacts& facts);
  /// What is emitted is marked with lines of the program; `marks` outlives this.
  void mark(LineMarks* marks) { marks_ = marks; }
  /// Adds the kernel and its outlined bodies to the module. Errors: "compile.unsupported".
  [[nodiscard]] Status run();

 private:
  using Value = llvm::Value;

  /// What an iteration variable is while its scope's body is emitted.
  struct Variable {
    enum class Kind : std::uint8_t { constant, scalar, lane } kind = Kind::constant;
    std::int64_t value = 0;   ///< constant
    Value* scalar = nullptr;  ///< scalar: as wide as an address
    std::size_t frame = 0;    ///< scalar: where addresses that use it are computed
    ir::Interval range;
  };
  /// A place where partial addresses are computed once: after the start of the function, or of a
  /// loop's body.
  struct Frame {
    llvm::BasicBlock* block = nullptr;
    llvm::Instruction* last = nullptr;  ///< New ones go after it; nullptr: to the block's start.
    /// By pointer, variable (a function's first frame has several) and bytes.
    std::map<std::tuple<Value*, Value*, std::int64_t>, Value*> steps;
    /// Loops only: the block before, the first value of the variable, and multiples of the variable
    /// that are counted beside it, by factor.
    llvm::BasicBlock* before = nullptr;
    Value* first = nullptr;
    std::map<std::int64_t, llvm::PHINode*> multiples;
    /// Where addresses are counted themselves: with the bytes that an iteration adds.
    std::vector<std::pair<llvm::PHINode*, std::int64_t>> pointers;
    Value* stride = nullptr;  ///< What an iteration adds to the variable; nullptr: 1.
  };
  /// Vectors made of several rows of a register buffer, by first row, number of rows and part:
  /// valid in one block and until the buffer is written.
  struct Interleaved {
    ir::BufferId buffer = -1;
    std::vector<int> rows;
    llvm::BasicBlock* block = nullptr;
    std::map<std::tuple<unsigned, unsigned, unsigned>, Value*> vectors;
  };
  /// What changes when a parallel body is emitted into its own function.
  struct FunctionState {
    llvm::Function* function = nullptr;
    Value* buffers = nullptr;                           ///< The caller's array of addresses.
    std::vector<Value*> bases;                          ///< By buffer; nullptr: not here (yet).
    std::vector<std::vector<llvm::AllocaInst*>> slots;  ///< By buffer and slot.
    std::vector<llvm::AllocaInst*> sums;                ///< Of strips.
    std::vector<Frame> frames;
    Interleaved interleaved;
  };
  struct Lanes {
    int depth = 0;
    const std::vector<Chunk>* chunks = nullptr;
    std::vector<Value*> masks;  ///< By chunk: iterations that no guard turned off; nullptr: all.
    std::int64_t most = 0;      ///< Iterations, or a bound of them.
    /// Strips only: lanes of this one, i32, or as a mask.
    Value* length = nullptr;
    Value* active = nullptr;
    /// Reductions into an element that nothing else in the scope touches: a sum for each lane.
    std::map<const ir::Leaf*, llvm::AllocaInst*> sums;
  };
  /// One vector's worth of lanes with what is known about them; nullptr: scalar code.
  struct Piece {
    const Chunk* chunk;
    Value* guardMask;
  };
  /// An element number: constant + sum of scalar variables + extra + lane * laneStride +
  /// laneOffsets.
  struct Offset {
    std::int64_t constant = 0;
    llvm::SmallVector<std::pair<int, std::int64_t>, 4> terms;  ///< Depth and coefficient, by depth.
    llvm::SmallVector<Value*, 2> extra;
    std::int64_t laneStride = 0;
    Value* laneOffsets = nullptr;
    [[nodiscard]] bool movesWithLane() const { return laneStride != 0 || laneOffsets != nullptr; }
  };

  /// An operand of a vendor's instruction, and where it is (ir/instruction.h).
  struct Box {
    const ir::Buffer* operand;
    ir::Access access;
    int depth;
    bool word;  ///< Several elements in a register for numbers.
  };

  /// A dma scope while it is emitted.
  struct Transfer {
    const ir::Leaf* leaf = nullptr;
    std::vector<const ir::Node*> inside;  ///< Scopes that the engine steps through.
    std::int64_t bytes = 1, rows = 1, fromStride = 0, toStride = 0;
  };
  /// A transfer that was started and not waited for, in a body at this depth.
  struct Pending {
    const ir::Node* copy;
    std::size_t depth;
  };

  // emit_tree.cpp
  void enterFunction(llvm::Function* function);
  void leaveFunction();
  void decorate(llvm::Function* function) const;
  void nodes(const std::vector<ir::Node>& body);
  void node(const ir::Node& node);
  void unguarded(const ir::Node& node);
  void scope(const ir::Node& node);
  void sequential(const ir::Scope& scope, Value* first, Value* last, bool mayBeEmpty);
  void closeLoop(llvm::PHINode* variable, Value* last);
  void unrolled(const ir::Scope& scope);
  void vectorized(const ir::Node& node);
  void body(const ir::Scope& scope, Variable variable);
  /// `emitInside` runs where `condition` holds.
  template <class Fn>
  void branch(Value* condition, Fn&& emitInside);
  [[nodiscard]] Value* guardLanes(const ir::GuardTerm& term, const Piece& piece);
  [[nodiscard]] std::vector<ir::Interval> variableRanges() const;
  [[nodiscard]] Value* inRange(Value* value, const ir::GuardTerm& term);
  [[nodiscard]] bool needsSomeLane(const ir::Node& node) const;
  [[nodiscard]] bool alwaysInside(const ir::Access& access) const;

  // emit_strips.cpp
  void strips(const ir::Node& node);
  void strip(const ir::Node& node, Value* first, Value* last);
  [[nodiscard]] std::vector<const ir::Leaf*> apart(const ir::Scope& scope) const;
  [[nodiscard]] Value* active();
  void addUp(const ir::Leaf& leaf, const Piece& piece, llvm::AllocaInst* sum);
  [[nodiscard]] Value* readStrip(ir::BufferId buffer, const Offset& offset, const Piece& piece);
  void writeStrip(ir::BufferId buffer, const Offset& offset, const Piece& piece, Value* value);
  [[nodiscard]] Value* laneMask(const Piece& piece);
  [[nodiscard]] Value* length(const Piece& piece);

  // emit_parallel.cpp
  void parallel(const ir::Node& node);

  // emit_dma.cpp
  void transfer(const ir::Node& node);
  void transferScope(const ir::Node& node);
  void transferCall();
  void wait();
  void settle(const ir::Node& next);
  void settleBody();

  // emit_region.cpp
  void region(const region::Code& code);
  void routine(ir::Op op);
  [[nodiscard]] Value* regionInput(const region::Input& input);
  [[nodiscard]] Value* regionNumber(const region::Number& number);

  // emit_memory.cpp
  [[nodiscard]] Value* base(ir::BufferId buffer);
  /// As wide as an address.
  [[nodiscard]] llvm::ConstantInt* integer(std::int64_t value);
  /// Without a lane variable; `type` as wide as an address if nullptr.
  [[nodiscard]] Value* affine(const ir::Affine& expr, llvm::Type* type = nullptr);
  /// An integer type that is quick and holds all values of `expr` and the limits around them.
  [[nodiscard]] llvm::Type* holding(const ir::Affine& expr, std::int64_t lo, std::int64_t hi) const;
  [[nodiscard]] Value* affineLanes(const ir::Affine& expr, const Piece& piece, llvm::Type* integer);
  [[nodiscard]] bool movesWithLane(const ir::Affine& expr) const;
  [[nodiscard]] Offset offsetOf(const ir::Access& access, const Piece* piece);
  void addAffine(Offset& offset, const ir::Affine& expr, std::int64_t scale, const Piece* piece);
  void addFolded(Offset& offset, const ir::Affine& expr, std::int64_t fold, std::int64_t scale,
                 const Piece* piece, llvm::Type* laneType);
  void addGather(Offset& offset, const ir::Index& index, const ir::Dim& dim, std::int64_t scale,
                 const Piece* piece, llvm::Type* laneType);
  void addLanes(Offset& offset, Value* lanes);
  [[nodiscard]] llvm::Type* laneOffsetType(ir::BufferId buffer);
  [[nodiscard]] Value* step(const Variable& variable, Value* pointer, std::int64_t bytes);
  [[nodiscard]] Value* multiple(const Variable& variable, std::int64_t factor);
  [[nodiscard]] Value* pointer(ir::BufferId buffer, const Offset& offset);
  [[nodiscard]] Value* lanePointers(ir::BufferId buffer, const Offset& offset, const Piece& piece);
  [[nodiscard]] llvm::Align alignment(ir::BufferId buffer, const Offset& offset) const;
  [[nodiscard]] static llvm::ElementCount countOf(const Piece* piece);
  /// first, first + step, ... for the lanes of a fixed chunk; of a strip 0, step, ...
  [[nodiscard]] Value* progression(llvm::Type* element, const Piece& piece, std::int64_t first,
                                   std::int64_t step);
  [[nodiscard]] Value* maskOf(const Piece& piece);  ///< nullptr: every element counts.
  /// Held form; a scalar where no lane moves it.
  [[nodiscard]] Value* read(const ir::Access& access, const Piece* piece);
  [[nodiscard]] Value* readMemory(const ir::Access& access, const Piece* piece);
  [[nodiscard]] Value* readApart(ir::BufferId buffer, const Offset& offset, const Piece& piece);
  void write(const ir::Access& access, const Piece* piece, Value* held);
  template <class I>
  I* tag(I* instruction, ir::BufferId buffer);

  // emit_registers.cpp
  [[nodiscard]] llvm::AllocaInst* slot(ir::BufferId buffer, int index);
  [[nodiscard]] llvm::SmallVector<ElementPlace, 16> placesOf(const ir::Access& access,
                                                             const Piece* piece);
  [[nodiscard]] Value* loadSlot(ir::BufferId buffer, int index);
  [[nodiscard]] Value* readRegister(const ir::Access& access, const Piece* piece);
  void writeRegister(const ir::Access& access, const Piece* piece, Value* held);

  // emit_column.cpp
  [[nodiscard]] Value* column(ir::BufferId buffer,
                              const llvm::SmallVector<ElementPlace, 16>& places, unsigned height);

  // emit_instruction.cpp
  void instruction(const ir::Node& node);
  [[nodiscard]] llvm::Type* passedType(const ir::Buffer& operand, const std::string& constraint);
  [[nodiscard]] Value* passed(const Box& box, const std::string& constraint);
  [[nodiscard]] Value* readBox(const Box& box);
  void writeBox(const Box& box, Value* value);
  [[nodiscard]] std::vector<ElementPlace> placesOf(const Box& box);
  [[nodiscard]] static bool wholeSlot(const std::vector<ElementPlace>& places, const Slot& slot);

  // emit_leaf.cpp
  void leaf(const ir::Leaf& leaf);
  void laneByLane(const ir::Leaf& leaf);
  void horizontally(const ir::Leaf& leaf);
  [[nodiscard]] Value* rightSide(const ir::Leaf& leaf, const Piece* piece);
  [[nodiscard]] Value* operand(const ir::Operand& operand, ir::DType type, const Piece* piece);
  [[nodiscard]] Value* smallIndex(const ir::Operand& operand, const Piece* piece);
  [[nodiscard]] ir::DType operandType(const ir::Leaf& leaf, std::size_t position) const;
  [[nodiscard]] std::vector<Piece> pieces() const;
  [[nodiscard]] Value* reduced(const ir::Leaf& leaf, const Piece* piece);

  LineMarks* marks_ = nullptr;
  llvm::Module& module_;
  llvm::IntegerType* word_;  ///< As wide as an address.
  const ir::Program& program_;
  const Plan& plan_;
  MachineFacts facts_;
  llvm::IRBuilder<> b_;
  Numbers numbers_;
  std::vector<Variable> variables_;  ///< By depth.
  std::optional<Lanes> lanes_;
  FunctionState state_;
  std::optional<Transfer> transfer_;
  std::vector<Pending> pending_;
  std::unique_ptr<ir::Accesses> accesses_;               ///< Made where it is asked for.
  std::vector<llvm::MDNode*> aliasScope_, aliasOthers_;  ///< By buffer.
  Status failure_;
};

}  // namespace dojo::codegen
