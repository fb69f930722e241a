// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The loop-tree program: the value that everything else reads and rewrites.
///
/// A Program is a plain value (copy, compare, throw away). Iteration variables are named by depth:
/// variable k is the one of the enclosing scope at depth k, counted from the outermost, as in the
/// text (`{k}`). All extents are constants or data-dependent; parameters are bound while parsing.
/// Every function that returns a Program to others returns it in canonical form (canonical.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dojo::ir {

/// Scopes may nest this deep; deeper text is refused.
constexpr int kMaxDepth = 48;
/// A buffer has at most this many dims.
constexpr int kMaxRank = kMaxDepth;
/// No extent, element count or byte size exceeds this (2^40), so that products stay in int64.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

[[nodiscard]] std::string_view name(DType type);  ///< As in the text: "f32", "bool".
[[nodiscard]] std::optional<DType> dtypeFromName(std::string_view text);
[[nodiscard]] int sizeBytes(DType type);  ///< bool takes one byte.
[[nodiscard]] bool isFloat(DType type);
[[nodiscard]] bool isInteger(DType type);  ///< Signed and unsigned integers; not bool.
/// True where every value of `from` is a value of `to` (the implicit operand conversion).
[[nodiscard]] bool convertsExactly(DType from, DType to);

/// coefficient * {var}
struct Term {
  int var;
  std::int64_t coef;
  bool operator==(const Term&) const = default;
};

/// constant + sum of terms; terms are sorted by variable and have no zero coefficient.
class Affine {
 public:
  Affine() = default;
  Affine(std::int64_t constant) : constant_(constant) {}
  static Affine variable(int var, std::int64_t coef = 1);

  [[nodiscard]] std::int64_t constant() const { return constant_; }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] bool isConstant() const { return terms_.empty(); }
  [[nodiscard]] std::int64_t coef(int var) const;
  [[nodiscard]] bool uses(int var) const { return coef(var) != 0; }
  /// Value under `values[var]`.
  [[nodiscard]] std::int64_t evaluate(const std::vector<std::int64_t>& values) const;

  Affine& operator+=(const Affine& other);
  Affine& operator-=(const Affine& other);
  Affine& operator*=(std::int64_t factor);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator-(Affine a, const Affine& b) { return a -= b; }
  friend Affine operator*(Affine a, std::int64_t factor) { return a *= factor; }
  bool operator==(const Affine&) const = default;

  /// Replaces `var` by `replacement` (whose variables are those of the result).
  [[nodiscard]] Affine substitute(int var, const Affine& replacement) const;
  /// Renames every variable v to rename(v); the results must stay distinct.
  [[nodiscard]] Affine renamed(const std::function<int(int)>& rename) const;

 private:
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

/// Position in Program::buffers.
using BufferId = int;

enum class Role : std::uint8_t { in, out, inout, tmp };
[[nodiscard]] std::string_view name(Role role);

/// One dimension of a buffer: its logical extent and how it is stored.
struct Dim {
  std::int64_t extent = 1;
  /// 0: one storage element for each index. n > 0: storage for n, index mod n: `~512` has fold 1,
  /// `512~2` has fold 2.
  std::int64_t fold = 0;
  /// Unused elements after each `extent` (or fold) elements: `512 pad 8`.
  std::int64_t pad = 0;

  [[nodiscard]] std::int64_t stored() const { return fold == 0 ? extent : fold; }
  bool operator==(const Dim&) const = default;
};

/// What an index buffer declares of its values: `in [lo, hi)`, `monotone in [lo, hi]`.
/// Held as half-open in both cases.
struct ValueRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;  ///< One past the largest value.
  bool monotone = false;
  bool operator==(const ValueRange&) const = default;
};

struct Buffer {
  std::string name;
  Role role = Role::tmp;
  DType dtype = DType::f32;
  std::vector<Dim> dims;          ///< Row-major; empty for a run-time scalar.
  std::string location = "heap";  ///< "heap", "stack", "register", or a memory of the target.
  bool packed = false;            ///< An argument whose layout is ours to choose.
  /// Of a packed argument whose layout was changed, `packed [1, 64]`: the distance of neighbours in
  /// each dim in the array that the caller packs, counted in elements; 0 for dims of one index.
  /// Empty where the caller's array is the row-major one with these dims.
  std::vector<std::int64_t> packing;
  std::optional<ValueRange> values;
  /// `finite`: an argument of floats whose elements are promised to be neither infinite nor NaN.
  bool finite = false;
  /// Of a tmp that has no array of its own, `shares a`: the tmp in whose array it lies, the first
  /// declared of all that do. Each begins at its start, and what is written as one of them takes
  /// away what another held there. -1: none.
  BufferId shares = -1;
  bool operator==(const Buffer&) const = default;

  [[nodiscard]] int rank() const { return static_cast<int>(dims.size()); }
  [[nodiscard]] bool isArgument() const { return role != Role::tmp; }
  /// `register` and `stack` storage: private to each iteration of a mapped scope around all uses.
  [[nodiscard]] bool isLocal() const { return location == "register" || location == "stack"; }
  /// Elements between neighbours in each dim (0 for fold 1: all fall on one element).
  [[nodiscard]] std::vector<std::int64_t> strides() const;
  /// The same in the caller's array: `packing`, or that of row-major dims without padding.
  [[nodiscard]] std::vector<std::int64_t> callerStrides() const;
  /// Elements of storage, padding included; at least 1.
  [[nodiscard]] std::int64_t storageElements() const;
  /// Product of the logical extents.
  [[nodiscard]] std::int64_t logicalElements() const;
  [[nodiscard]] std::int64_t storageBytes() const { return storageElements() * sizeBytes(dtype); }
};

/// True where the packing of an argument, if it has one, makes each element of its dims one of an
/// array without gaps.
[[nodiscard]] bool packs(const Buffer& buffer);

/// One index of an access: affine, or a gather `idx[affine, ...]` through a read-only index buffer
/// (then `affine` is 0). Gathers stand on right sides only.
struct Index {
  Affine affine;
  BufferId gather = -1;
  std::vector<Affine> gatherIndices;

  Index() = default;
  Index(Affine a) : affine(std::move(a)) {}
  [[nodiscard]] bool isGather() const { return gather >= 0; }
  bool operator==(const Index&) const = default;
};

/// An element of a buffer.
struct Access {
  BufferId buffer = -1;
  std::vector<Index> indices;
  bool operator==(const Access&) const = default;
};

/// A literal: a double where the leaf computes in a float type (already rounded to that type), an
/// int64 elsewhere (0/1 for bool).
using Constant = std::variant<double, std::int64_t>;

/// Element, constant, or index value (an affine expression as i64, until `cast`).
using Operand = std::variant<Access, Constant, Affine>;

/// The operations of a right side. `copy` is a bare operand.
enum class Op : std::uint8_t {
  copy,
  cast,
  satCast,
  add,
  sub,
  mul,
  div,
  fma,
  neg,
  abs,
  min,
  max,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  select,
  exp,
  log,
  sqrt,
  rsqrt,
  tanh,
  erf,
  sigmoid,
  pow,
  bitAnd,
  bitOr,
  bitXor,
  bitNot,
  shl,
  shr,
  round,
  floor,
  ceil,
  trunc,
};

/// Facts about an operation; the one table that parser, printer, interpreter, moves and code
/// generation read.
struct OpInfo {
  Op op;
  std::string_view spelling;  ///< Infix symbol ("+") or function name ("exp"); "" for copy.
  bool infix;
  int arity;
  bool commutative;              ///< In its first two operands.
  bool comparison;               ///< Gives bool; operands convert to their common type.
  bool floats, integers, bools;  ///< Element types it computes in.
};
[[nodiscard]] const OpInfo& info(Op op);
[[nodiscard]] const std::vector<OpInfo>& allOps();

/// How a leaf combines its right side into the destination.
/// `fma`: dst fma+= a * b, the contracted form of dst += a * b (op is mul).
enum class Assign : std::uint8_t { set, add, mul, max, min, fma };
[[nodiscard]] std::string_view spelling(Assign assign);  ///< "=", "+=", "fma+=", ...

struct Leaf {
  Access dst;
  Assign assign = Assign::set;
  Op op = Op::copy;
  std::vector<Operand> operands;

  [[nodiscard]] bool isReduction() const { return assign != Assign::set; }
  bool operator==(const Leaf&) const = default;
};

/// AFFINE in [lo, hi)
struct GuardTerm {
  Affine expr;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool operator==(const GuardTerm&) const = default;
};
/// A conjunction; empty means always.
using Guard = std::vector<GuardTerm>;

/// The mappings of ir.md section 4, as bits that can be joined.
enum class MapKind : std::uint16_t {
  unroll = 1,
  vector = 2,
  parallel = 4,
  stream = 8,
  frep = 16,
  dma = 32,
  grid = 64,
  block = 128,
  warp = 256,
};
[[nodiscard]] std::string_view name(MapKind kind);
[[nodiscard]] const std::vector<MapKind>& allMapKinds();  ///< In printing order.

struct Mapping {
  std::uint16_t bits = 0;
  std::vector<BufferId> streams;  ///< Of `stream(...)`, sorted.

  [[nodiscard]] bool none() const { return bits == 0; }
  [[nodiscard]] bool has(MapKind kind) const { return (bits & static_cast<unsigned>(kind)) != 0; }
  /// Iterations may run in any order or at once (rule 4 applies).
  [[nodiscard]] bool concurrent() const {
    return has(MapKind::vector) || has(MapKind::parallel) || has(MapKind::grid) ||
           has(MapKind::block) || has(MapKind::warp);
  }
  bool operator==(const Mapping&) const = default;
};

/// A constant number of iterations, or first..last read from an index buffer at run time: the
/// variable then runs from the value of `first` to one before the value of `last`.
struct Extent {
  std::int64_t count = 0;
  struct Range {
    Access first, last;  ///< Affine indices only.
    bool operator==(const Range&) const = default;
  };
  std::optional<Range> range;

  Extent() = default;
  Extent(std::int64_t n) : count(n) {}
  [[nodiscard]] bool isConstant() const { return !range.has_value(); }
  bool operator==(const Extent&) const = default;
};

struct Node;

struct Scope {
  Extent extent;
  Mapping mapping;
  std::vector<Node> body;
};

/// A leaf or a scope, either with a guard.
struct Node {
  std::variant<Leaf, Scope> content;
  Guard guard;
  /// Position in Program::instructions: this whole subtree is done by that vendor's instruction and
  /// is, operand for operand, its fragment. In the text it is the leaf `!NAME(...)`. -1: none.
  int instruction = -1;

  Node() = default;
  Node(Leaf leaf) : content(std::move(leaf)) {}
  Node(Scope scope) : content(std::move(scope)) {}

  [[nodiscard]] bool isLeaf() const { return content.index() == 0; }
  [[nodiscard]] bool isScope() const { return content.index() == 1; }
  [[nodiscard]] const Leaf& leaf() const { return std::get<Leaf>(content); }
  [[nodiscard]] Leaf& leaf() { return std::get<Leaf>(content); }
  [[nodiscard]] const Scope& scope() const { return std::get<Scope>(content); }
  [[nodiscard]] Scope& scope() { return std::get<Scope>(content); }
};
bool operator==(const Scope& a, const Scope& b);
bool operator==(const Node& a, const Node& b);

/// A vendor's instruction: what it computes, as a fragment of the language on its own operands.
/// How it is spelt in assembly is the target's business (target/target.h).
struct Instruction {
  std::string name;
  std::vector<Buffer> operands;  ///< Roles in, out, inout; dims are those of the box it works on.
  std::vector<Node> body;        ///< One node, on `operands`.
};
bool operator==(const Instruction& a, const Instruction& b);

struct Program {
  std::string name;
  /// in, out, inout in declared order (the calling convention), then tmp in order of first write.
  std::vector<Buffer> buffers;
  std::vector<Node> body;
  /// Those that the tree uses, sorted by name.
  std::vector<Instruction> instructions;

  bool operator==(const Program&) const = default;
  [[nodiscard]] const Buffer& buffer(BufferId id) const {
    return buffers[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] Buffer& buffer(BufferId id) { return buffers[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::optional<BufferId> find(std::string_view bufferName) const;
  /// The lowest `tN` that no buffer has.
  [[nodiscard]] std::string freshName() const;
  /// True where some tmp shares the storage of another.
  [[nodiscard]] bool hasSharing() const;
  /// The buffer that stands for the storage of `id`: the first of those that share it.
  [[nodiscard]] BufferId storageOf(BufferId id) const {
    const BufferId root = buffer(id).shares;
    return root < 0 ? id : root;
  }
  /// All buffers in the storage of `id`, in declared order.
  [[nodiscard]] std::vector<BufferId> sharing(BufferId id) const;
};

/// The smallest type that holds every value of both; `a` where there is none.
[[nodiscard]] DType commonType(DType a, DType b);

/// The dtype in which a leaf computes: dst's, or for comparisons the common type of its operands;
/// for casts the operand's.
[[nodiscard]] DType computeType(const Program& program, const Leaf& leaf);

/// True where the leaf reads its destination (every reduction does).
[[nodiscard]] bool readsDestination(const Leaf& leaf);

}  // namespace dojo::ir
