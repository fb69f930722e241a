// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace dojo::ir {

namespace {

struct DTypeInfo {
  std::string_view name;
  int bytes;
  bool floating;
  int digits;    ///< Significant bits of a float; value bits of an integer (sign excluded).
  int exponent;  ///< Exponent bits of a float.
  bool isSigned;
};

constexpr std::array<DTypeInfo, 10> kDTypes = {{
    {"f64", 8, true, 53, 11, true},
    {"f32", 4, true, 24, 8, true},
    {"f16", 2, true, 11, 5, true},
    {"bf16", 2, true, 8, 8, true},
    {"i64", 8, false, 63, 0, true},
    {"i32", 4, false, 31, 0, true},
    {"i16", 2, false, 15, 0, true},
    {"i8", 1, false, 7, 0, true},
    {"u8", 1, false, 8, 0, false},
    {"bool", 1, false, 1, 0, false},
}};

const DTypeInfo& infoOf(DType type) { return kDTypes[static_cast<std::size_t>(type)]; }

constexpr std::array<std::string_view, 4> kRoles = {"in", "out", "inout", "tmp"};
constexpr std::array<std::string_view, 6> kAssigns = {"=", "+=", "*=", "max=", "min=", "fma+="};

const std::vector<OpInfo> kOps = {
    // op, spelling, infix, arity, commutative, comparison, floats, integers, bools
    {Op::copy, "", false, 1, false, false, true, true, true},
    {Op::cast, "cast", false, 1, false, false, true, true, true},
    {Op::satCast, "sat_cast", false, 1, false, false, true, true, false},
    {Op::add, "+", true, 2, true, false, true, true, false},
    {Op::sub, "-", true, 2, false, false, true, true, false},
    {Op::mul, "*", true, 2, true, false, true, true, false},
    {Op::div, "/", true, 2, false, false, true, true, false},
    {Op::fma, "fma", false, 3, true, false, true, true, false},
    {Op::neg, "neg", false, 1, false, false, true, true, false},
    {Op::abs, "abs", false, 1, false, false, true, true, false},
    {Op::min, "min", false, 2, true, false, true, true, false},
    {Op::max, "max", false, 2, true, false, true, true, false},
    {Op::lt, "<", true, 2, false, true, true, true, false},
    {Op::le, "<=", true, 2, false, true, true, true, false},
    {Op::gt, ">", true, 2, false, true, true, true, false},
    {Op::ge, ">=", true, 2, false, true, true, true, false},
    {Op::eq, "==", true, 2, true, true, true, true, true},
    {Op::ne, "!=", true, 2, true, true, true, true, true},
    {Op::select, "select", false, 3, false, false, true, true, true},
    {Op::exp, "exp", false, 1, false, false, true, false, false},
    {Op::log, "log", false, 1, false, false, true, false, false},
    {Op::sqrt, "sqrt", false, 1, false, false, true, false, false},
    {Op::rsqrt, "rsqrt", false, 1, false, false, true, false, false},
    {Op::tanh, "tanh", false, 1, false, false, true, false, false},
    {Op::erf, "erf", false, 1, false, false, true, false, false},
    {Op::sigmoid, "sigmoid", false, 1, false, false, true, false, false},
    {Op::pow, "pow", false, 2, false, false, true, false, false},
    {Op::bitAnd, "&", true, 2, true, false, false, true, true},
    {Op::bitOr, "|", true, 2, true, false, false, true, true},
    {Op::bitXor, "^", true, 2, true, false, false, true, true},
    {Op::bitNot, "bit_not", false, 1, false, false, false, true, true},
    {Op::shl, "<<", true, 2, false, false, false, true, false},
    {Op::shr, ">>", true, 2, false, false, false, true, false},
    {Op::round, "round", false, 1, false, false, true, false, false},
    {Op::floor, "floor", false, 1, false, false, true, false, false},
    {Op::ceil, "ceil", false, 1, false, false, true, false, false},
    {Op::trunc, "trunc", false, 1, false, false, true, false, false},
};

struct MapName {
  MapKind kind;
  std::string_view name;
};
constexpr std::array<MapName, 9> kMapNames = {{
    {MapKind::grid, "grid"},
    {MapKind::block, "block"},
    {MapKind::warp, "warp"},
    {MapKind::parallel, "parallel"},
    {MapKind::unroll, "unroll"},
    {MapKind::vector, "vector"},
    {MapKind::stream, "stream"},
    {MapKind::frep, "frep"},
    {MapKind::dma, "dma"},
}};

}  // namespace

std::string_view name(DType type) { return infoOf(type).name; }

std::optional<DType> dtypeFromName(std::string_view text) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int sizeBytes(DType type) { return infoOf(type).bytes; }
bool isFloat(DType type) { return infoOf(type).floating; }
bool isInteger(DType type) { return !isFloat(type) && type != DType::boolean; }

bool convertsExactly(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::boolean || to == DType::boolean) return false;
  const DTypeInfo& a = infoOf(from);
  const DTypeInfo& b = infoOf(to);
  if (a.floating && b.floating) return a.digits <= b.digits && a.exponent <= b.exponent;
  if (a.floating) return false;
  if (b.floating) {
    // The largest magnitude is 2^digits, which the exponent range of every float but f16 holds.
    return a.digits <= b.digits && a.digits < (1 << (b.exponent - 1));
  }
  return a.digits <= b.digits && (!a.isSigned || b.isSigned);
}

Affine Affine::variable(int var, std::int64_t coef) {
  Affine out;
  if (coef != 0) out.terms_.push_back({var, coef});
  return out;
}

std::int64_t Affine::coef(int var) const {
  for (const Term& term : terms_) {
    if (term.var == var) return term.coef;
  }
  return 0;
}

std::int64_t Affine::evaluate(const std::vector<std::int64_t>& values) const {
  std::int64_t sum = constant_;
  for (const Term& term : terms_) sum += term.coef * values[static_cast<std::size_t>(term.var)];
  return sum;
}

Affine& Affine::operator+=(const Affine& other) {
  constant_ += other.constant_;
  if (other.terms_.empty()) return *this;
  std::vector<Term> merged;
  merged.reserve(terms_.size() + other.terms_.size());
  auto a = terms_.begin();
  auto b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    if (b == other.terms_.end() || (a != terms_.end() && a->var < b->var)) {
      merged.push_back(*a++);
    } else if (a == terms_.end() || b->var < a->var) {
      merged.push_back(*b++);
    } else {
      if (a->coef + b->coef != 0) merged.push_back({a->var, a->coef + b->coef});
      ++a;
      ++b;
    }
  }
  terms_ = std::move(merged);
  return *this;
}

Affine& Affine::operator-=(const Affine& other) { return *this += other * -1; }

Affine& Affine::operator*=(std::int64_t factor) {
  constant_ *= factor;
  if (factor == 0) {
    terms_.clear();
  } else {
    for (Term& term : terms_) term.coef *= factor;
  }
  return *this;
}

Affine Affine::substitute(int var, const Affine& replacement) const {
  const std::int64_t factor = coef(var);
  if (factor == 0) return *this;
  Affine rest = *this;
  std::erase_if(rest.terms_, [var](const Term& term) { return term.var == var; });
  return rest += replacement * factor;
}

Affine Affine::renamed(const std::function<int(int)>& rename) const {
  Affine out = *this;
  for (Term& term : out.terms_) term.var = rename(term.var);
  std::sort(out.terms_.begin(), out.terms_.end(),
            [](const Term& a, const Term& b) { return a.var < b.var; });
  for (std::size_t i = 1; i < out.terms_.size(); ++i) {
    DOJO_CHECK(out.terms_[i - 1].var != out.terms_[i].var, "renamed variables must stay distinct");
  }
  return out;
}

std::string_view name(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::vector<std::int64_t> Buffer::strides() const {
  std::vector<std::int64_t> out(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    out[i] = dims[i].fold == 1 ? 0 : stride;
    stride *= dims[i].stored() + dims[i].pad;
  }
  return out;
}

std::vector<std::int64_t> Buffer::callerStrides() const {
  if (!packing.empty()) return packing;
  std::vector<std::int64_t> out(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    out[i] = stride;
    stride *= dims[i].extent;
  }
  return out;
}

std::int64_t Buffer::storageElements() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.stored() + dim.pad;
  return count;
}

std::int64_t Buffer::logicalElements() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.extent;
  return count;
}

bool packs(const Buffer& buffer) {
  if (buffer.packing.empty()) return true;
  if (!buffer.packed || buffer.packing.size() != buffer.dims.size()) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // distance, extent
  for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
    if (buffer.dims[d].extent > 1) steps.emplace_back(buffer.packing[d], buffer.dims[d].extent);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t distance = 1;
  for (const auto& [step, extent] : steps) {
    if (step != distance) return false;
    distance *= extent;
  }
  return true;
}

const OpInfo& info(Op op) {
  const OpInfo& found = kOps[static_cast<std::size_t>(op)];
  DOJO_CHECK(found.op == op, "the operation table is out of order");
  return found;
}

const std::vector<OpInfo>& allOps() { return kOps; }

std::string_view spelling(Assign assign) { return kAssigns[static_cast<std::size_t>(assign)]; }

std::string_view name(MapKind kind) {
  for (const MapName& entry : kMapNames) {
    if (entry.kind == kind) return entry.name;
  }
  DOJO_CHECK(false, "a mapping without a name");
}

const std::vector<MapKind>& allMapKinds() {
  static const std::vector<MapKind> kinds = [] {
    std::vector<MapKind> out;
    for (const MapName& entry : kMapNames) out.push_back(entry.kind);
    return out;
  }();
  return kinds;
}

bool operator==(const Node& a, const Node& b) {
  return a.instruction == b.instruction && a.guard == b.guard && a.content == b.content;
}

bool operator==(const Instruction& a, const Instruction& b) {
  return a.name == b.name && a.operands == b.operands && a.body == b.body;
}

bool operator==(const Scope& a, const Scope& b) {
  return a.extent == b.extent && a.mapping == b.mapping && a.body == b.body;
}

std::optional<BufferId> Program::find(std::string_view bufferName) const {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name == bufferName) return static_cast<BufferId>(i);
  }
  return std::nullopt;
}

std::string Program::freshName() const {
  for (int n = 0;; ++n) {
    std::string candidate = "t" + std::to_string(n);
    if (!find(candidate)) return candidate;
  }
}

bool Program::hasSharing() const {
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const Buffer& buffer) { return buffer.shares >= 0; });
}

std::vector<BufferId> Program::sharing(BufferId id) const {
  const BufferId root = storageOf(id);
  std::vector<BufferId> out;
  for (BufferId other = 0; other < static_cast<BufferId>(buffers.size()); ++other) {
    if (storageOf(other) == root) out.push_back(other);
  }
  return out;
}

DType commonType(DType a, DType b) {
  if (convertsExactly(a, b)) return b;
  if (convertsExactly(b, a)) return a;
  for (const DType wide : {DType::i16, DType::i32, DType::i64, DType::f32, DType::f64}) {
    if (convertsExactly(a, wide) && convertsExactly(b, wide)) return wide;
  }
  return a;
}

namespace {

std::optional<DType> typeOf(const Program& program, const Operand& operand) {
  if (const auto* access = std::get_if<Access>(&operand)) {
    return program.buffer(access->buffer).dtype;
  }
  if (std::holds_alternative<Affine>(operand)) return DType::i64;
  return std::nullopt;
}

}  // namespace

DType computeType(const Program& program, const Leaf& leaf) {
  const DType destination = program.buffer(leaf.dst.buffer).dtype;
  const OpInfo& op = info(leaf.op);
  const bool casts = leaf.op == Op::cast || leaf.op == Op::satCast;
  if (!op.comparison && !casts) return destination;
  std::optional<DType> common;
  for (const Operand& operand : leaf.operands) {
    const std::optional<DType> type = typeOf(program, operand);
    if (type) common = common ? commonType(*common, *type) : *type;
  }
  return common.value_or(casts ? destination : DType::f64);
}

bool readsDestination(const Leaf& leaf) { return leaf.isReduction(); }

}  // namespace dojo::ir
