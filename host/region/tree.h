// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a region is while it's compiled: a tree of loops whose leaves are instructions.
///
/// Unrolled scopes are copied and lanes are gone. Variables in affine expressions are loops of
/// this tree by depth in the program, variables of scopes around the region by depth, and from
/// kFirstNumber on numbers that the code around the region computes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "region/region.h"
#include "target/target.h"

namespace dojo::region {

constexpr int kFirstNumber = 1000;
/// In place of a storage: the region's own memory.
constexpr ir::BufferId kScratch = -2;

/// What a register holds: one number, or two of 32 bits.
enum class Form : std::uint8_t { f64, f32, pair };

enum class Operation : std::uint8_t {
  move,
  neg,
  abs,
  add,
  sub,
  mul,
  min,
  max,
  fmadd,   ///< a * b + c
  fmsub,   ///< a * b - c
  fnmsub,  ///< -(a * b) + c
  fnmadd,  ///< -(a * b) - c
  widen,   ///< f32 to f64
  narrow,  ///< f64 to f32
  pack,    ///< two f32 to a pair
  sum,     ///< f32: c + lanes of a; the destination is c
  load,
  store,
  // With the integer core's help, see routine.cpp. `slot` is one of its registers, `site` 8 bytes
  // of the region's memory.
  exponent,  ///< slot = a, an integer
  upper,     ///< slot = the upper word of the site
  power,     ///< the site's upper word becomes that of 2^slot
  inverse,   ///< the site's upper word becomes about that of 1 / what has `slot` there
  root,      ///< the same of 1 / sqrt
  /// The destination is c; where slot is out of bounds, it becomes what the routine makes of a and
  /// b.
  patch,
};

/// A register, an element of memory, or a data mover; an instruction knows which it reads.
struct Operand {
  enum class Kind : std::uint8_t { none, cell, site, mover };
  Kind kind = Kind::none;
  int index = -1;
  bool operator==(const Operand&) const = default;
};

/// Inside: slot + offset is below the limit, both unsigned; with `doubled`, twice the slot, which
/// has no sign then.
struct Bounds {
  std::int64_t offset = 0, limit = 0;
  bool doubled = false;
};

struct Instruction {
  Operation operation = Operation::move;
  Form form = Form::f64;
  Operand out;
  std::array<Operand, 3> in;
  int slot = -1;
  int site = -1;
  ir::Op routine = ir::Op::copy;  ///< patch
  Bounds bounds{};                ///< patch; a slot that was out of them becomes 0.
  /// What it is part of; nullptr: what came before.
  const ir::Leaf* leaf = nullptr;
};

/// What a register stands for.
struct Cell {
  Form form = Form::f64;
  std::string name;              ///< For messages.
  std::optional<Real> constant;  ///< Known before the region starts.
};

/// One access to memory by one instruction (of one copy of an unrolled leaf).
struct Site {
  ir::BufferId storage = -1;
  ir::Affine bytes;  ///< From the base of the storage.
  Form form = Form::f64;
  bool write = false;
  bool splat = false;  ///< A pair of one f32.
  /// A pair of two f32 that far apart (bytes), or with an address that isn't a multiple of 8.
  std::optional<std::int64_t> apart;
  ir::BufferId buffer = -1;
  const ir::Leaf* leaf = nullptr;  ///< With `position`: which access of the program.
  int position = 0;                ///< Of the operand; -1: the destination's read, -2: its write.
};

/// A sequence of addresses that a data mover steps through.
struct Sequence {
  struct Dim {
    std::int64_t count = 1;
    std::int64_t stride = 0;  ///< Bytes.
    bool operator==(const Dim&) const = default;
  };
  ir::Affine start;
  std::vector<Dim> dims;  ///< Outermost first.
};

/// A data mover starts on a sequence.
struct Start {
  int mover = 0;
  bool write = false;
  std::int64_t repeat = 1;
  ir::BufferId storage = -1;
  Sequence sequence;  ///< At most the target's dims, at least one.
};

struct Item;
using Items = std::vector<Item>;

struct Loop {
  std::int64_t count = 1;
  int depth = 0;  ///< Its variable.
  bool hardware = false;
  int line = 0;  ///< Of the program.
  Items body;
};
/// Runs where the expression is in the interval.
struct Guarded {
  ir::GuardTerm term;
  Items body;
};
/// Several polynomials with the same coefficients, in registers.
struct Polynomial {
  struct One {
    Operand out, at;
  };
  std::vector<One> all;
  std::vector<double> coefficients;  ///< Lowest order first, at least two.
};
/// Data movers are switched on around it.
struct Streams {
  std::vector<ir::BufferId> buffers;
  ir::Path path;
  int line = 0;
  std::vector<int> movers;   ///< All that are in use.
  std::vector<int> writers;  ///< Movers that write.
  Items body;
};
struct Item {
  std::variant<Instruction, Start, Loop, Guarded, Streams, Polynomial> content;

  template <class T>
  [[nodiscard]] T* get() {
    return std::get_if<T>(&content);
  }
  template <class T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&content);
  }
  /// nullptr for instructions and starts.
  [[nodiscard]] Items* body();
  [[nodiscard]] const Items* body() const;
};

struct Tree {
  Items items;
  std::vector<Cell> cells;
  std::vector<Site> sites;
  std::vector<Number> numbers;  ///< Variables kFirstNumber, ...
  int depth = 0;                ///< Of the region's scope.
  int line = 0;                 ///< Of the program, where the region is.
  std::int64_t scratch = 0;     ///< Bytes of memory of its own that it needs.
  int slots = 0;                ///< Integer registers for instructions.
  Items before;                 ///< Instructions that fill its own memory.

  [[nodiscard]] int addCell(Form form, std::string name);
  [[nodiscard]] int constant(double value, Form form);
  /// More of its own memory: where it begins.
  [[nodiscard]] std::int64_t reserve(std::int64_t bytes);
  /// An access to its own memory.
  [[nodiscard]] int scratchSite(std::int64_t at, Form form, bool write);
};

[[nodiscard]] inline Operand cellOperand(int cell) { return {Operand::Kind::cell, cell}; }
[[nodiscard]] inline Operand siteOperand(int site) { return {Operand::Kind::site, site}; }
[[nodiscard]] inline Operand moverOperand(int mover) { return {Operand::Kind::mover, mover}; }

[[nodiscard]] Error refusal(std::string code, std::string message, int line);

/// From the program to instructions on registers and elements of memory.
[[nodiscard]] Result<Tree> build(const ir::Program& program, const ir::Path& path,
                                 const target::Target& target);
/// Negations become part of the operations that use them.
void foldSigns(Tree& tree);
/// Data movers take the accesses that streams name.
[[nodiscard]] Status assignStreams(Tree& tree, const ir::Program& program,
                                   const target::Target& target);
/// Polynomials become hardware loops with a stream of coefficients where a mover is left, else
/// instructions.
void expandPolynomials(Tree& tree, const target::Target& target);
/// What data movers don't take becomes loads and stores, out of hardware loops; instructions get
/// the forms that the machine has.
[[nodiscard]] Status resolve(Tree& tree);
/// Hardware loops become such as the machine has, or are refused.
[[nodiscard]] Status fitLoops(Tree& tree, const target::Target& target);
/// Registers by cell name for each instruction's operands: see allocate.cpp.
struct Registers {
  /// For each instruction in tree order: out, in[0..2]; -1 where there is none.
  std::vector<std::array<int, 4>> ofInstruction;
  /// Of constants, by cell: where they're expected at the start.
  std::map<int, int> constants;
  /// One that nothing uses; -1: none.
  int free = -1;
  std::vector<int> used;
};
[[nodiscard]] Result<Registers> allocate(const Tree& tree, const target::Target& target);
/// With `lines`, by leaf, the text tells the assembler the program's line of what follows.
using Lines = std::map<const ir::Leaf*, int>;
[[nodiscard]] Result<Code> write(const Tree& tree, const Registers& registers,
                                 const target::Target& target, const Lines* lines);

}  // namespace dojo::region
