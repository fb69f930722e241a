// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/affine.h"
#include "ir/check.h"
#include "ir/check_internal.h"
#include "ir/instruction.h"
#include "ir/print.h"
#include "ir/tree.h"

namespace dojo::ir {

namespace {

bool sizeFits(const Buffer& buffer) {
  std::int64_t elements = 1;
  for (const Dim& dim : buffer.dims) {
    std::int64_t width = 0;
    if (__builtin_add_overflow(dim.stored(), dim.pad, &width) ||
        __builtin_mul_overflow(elements, width, &elements) || elements > kMaxElements) {
      return false;
    }
  }
  return elements * sizeBytes(buffer.dtype) <= kMaxElements;
}

/// Walks the tree with the ranges of the open scopes. The first problem ends it.
class StructureCheck {
 public:
  explicit StructureCheck(const Program& program) : program_(program) {}

  Status run() {
    for (const Buffer& buffer : program_.buffers) {
      auto problem = bufferProblem(buffer);
      if (!problem && buffer.shares >= 0) problem = sharingProblem(buffer);
      if (problem) {
        return Error{"check.structure", fmt::format("buffer {} {}", buffer.name, *problem), "", ""};
      }
    }
    nodes(program_.body);
    if (problem_.empty()) return checkInstructions(program_);
    return errorAt(program_, problemPath_, "check.structure", problem_);
  }

 private:
  static std::optional<std::string> bufferProblem(const Buffer& buffer) {
    for (const Dim& dim : buffer.dims) {
      if (dim.extent < 1) return fmt::format("has a dim of {} elements", dim.extent);
      if (dim.fold < 0 || dim.pad < 0) return "has a negative fold or pad";
      if (dim.fold > 1 && dim.fold >= dim.extent) {
        return fmt::format("folds {} elements into {}", dim.extent, dim.fold);
      }
      if (dim.fold > 0 && buffer.isArgument()) {
        return "is an argument, whose elements all need storage, but folds a dim";
      }
    }
    if (!sizeFits(buffer)) return "is larger than 2^40 bytes";
    if (buffer.location.empty()) return "has no location";
    if (buffer.isArgument() && buffer.isLocal()) {
      return fmt::format("is an argument and can't be in {} storage", buffer.location);
    }
    if (buffer.packed && !buffer.isArgument()) return "is packed but no argument";
    if (!packs(buffer)) return "has a packing that isn't one array without gaps";
    if (buffer.finite &&
        ((buffer.role != Role::in && buffer.role != Role::inout) || !isFloat(buffer.dtype))) {
      return "is promised to be finite but is no argument of floats that comes with values";
    }
    if (!buffer.values) return std::nullopt;
    if (buffer.role != Role::in || !isInteger(buffer.dtype)) {
      return "declares its values but is no 'in' buffer of integers";
    }
    if (buffer.values->lo >= buffer.values->hi) return "declares an empty range of values";
    if (buffer.values->lo < -kMaxElements || buffer.values->hi > kMaxElements + 1) {
      return "declares values beyond 2^40";
    }
    if (buffer.values->monotone && buffer.rank() != 1) {
      return "is monotone, which only a buffer with one dim can be";
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> sharingProblem(const Buffer& buffer) const {
    if (!known(buffer.shares)) return "shares the storage of a buffer that doesn't exist";
    const Buffer& other = program_.buffer(buffer.shares);
    if (buffer.isArgument() || other.isArgument()) return "shares storage, as only tmps can";
    if (&other >= &buffer || other.shares >= 0) {
      return fmt::format("shares the storage of {}, which isn't the first in it", other.name);
    }
    if (buffer.dtype != other.dtype) {
      return fmt::format("shares the storage of {}, but not its dtype", other.name);
    }
    if (buffer.location != other.location) {
      return fmt::format("shares the storage of {}, but not its location", other.name);
    }
    if (buffer.location == "register") return "shares storage, but is in registers";
    return std::nullopt;
  }

  void nodes(const std::vector<Node>& body) {
    path_.push_back(0);
    for (std::size_t i = 0; i < body.size() && problem_.empty(); ++i) {
      path_.back() = static_cast<int>(i);
      node(body[i]);
    }
    path_.pop_back();
  }

  void node(const Node& at) {
    for (const GuardTerm& term : at.guard) {
      affine(term.expr);
      if (std::abs(term.lo) > kMaxAffine || std::abs(term.hi) > kMaxAffine) {
        fail("a guard has a bound beyond 2^60");
      }
    }
    if (!problem_.empty()) return;
    if (at.isLeaf()) {
      leaf(at.leaf());
    } else {
      scope(at.scope());
    }
  }

  void scope(const Scope& at) {
    if (ranges_.size() >= static_cast<std::size_t>(kMaxDepth)) {
      return fail(fmt::format("scopes nest more than {} deep", kMaxDepth));
    }
    if (at.body.empty()) return fail("a scope has no body");
    const std::int64_t outer = iterations_;
    if (at.extent.range) {
      extentAccess(at.extent.range->first);
      extentAccess(at.extent.range->last);
      if (at.mapping.has(MapKind::unroll)) {
        fail("a scope with a data-dependent extent can't be unrolled");
      }
    } else if (at.extent.count < 1) {
      fail(fmt::format("a scope has an extent of {}", at.extent.count));
    } else if (__builtin_mul_overflow(iterations_, at.extent.count, &iterations_) ||
               iterations_ > kMaxElements) {
      fail("a scope runs more than 2^40 times in all");
    }
    if (at.mapping.has(MapKind::stream)) streams(at);
    if (streaming_ && (at.mapping.has(MapKind::dma) ||
                       (at.mapping.concurrent() && !at.mapping.has(MapKind::vector)))) {
      fail("a stream scope holds neither threads nor transfers");
    }
    if (!problem_.empty()) return;
    const bool outerStreams = streaming_;
    streaming_ = streaming_ || at.mapping.has(MapKind::stream);
    ranges_.push_back(variableRange(program_, at));
    nodes(at.body);
    ranges_.pop_back();
    streaming_ = outerStreams;
    iterations_ = outer;
    if (at.mapping.has(MapKind::dma) && problem_.empty()) transfer(at);
  }

  void streams(const Scope& at) {
    if (streaming_) return fail("a stream scope inside a stream scope");
    for (const BufferId id : at.mapping.streams) {
      if (!known(id)) return fail("a stream names a buffer that doesn't exist");
      const Buffer& buffer = program_.buffer(id);
      if (buffer.location == "register") {
        return fail(fmt::format("{} is in registers and can't be streamed", buffer.name));
      }
      if (std::none_of(at.body.begin(), at.body.end(),
                       [&](const Node& node) { return touches(node, id); })) {
        return fail(fmt::format("{} is streamed, but nothing touches it there", buffer.name));
      }
    }
  }

  static bool touches(const Node& node, BufferId id) {
    if (node.isScope()) {
      const std::vector<Node>& body = node.scope().body;
      return std::any_of(body.begin(), body.end(),
                         [&](const Node& inner) { return touches(inner, id); });
    }
    bool out = false;
    forEachAccess(node, [&](const Access& access, Touch) { out = out || access.buffer == id; });
    return out;
  }

  void transfer(const Scope& at) {
    const Scope* scope = &at;
    while (true) {
      const Node& inner = scope->body.front();
      if (scope->body.size() != 1 || !inner.guard.empty() || !scope->extent.isConstant()) break;
      if (inner.isLeaf()) {
        if (copies(inner.leaf())) return;
        break;
      }
      scope = &inner.scope();
      if (!scope->mapping.none()) break;
    }
    fail("a dma scope is a nest of loops around one copy from memory to other memory");
  }

  [[nodiscard]] bool copies(const Leaf& leaf) const {
    const auto* from = leaf.op == Op::copy && !leaf.isReduction()
                           ? std::get_if<Access>(leaf.operands.data())
                           : nullptr;
    if (from == nullptr) return false;
    const Buffer& a = program_.buffer(from->buffer);
    const Buffer& b = program_.buffer(leaf.dst.buffer);
    const bool gathers = std::any_of(from->indices.begin(), from->indices.end(),
                                     [](const Index& index) { return index.isGather(); });
    return !gathers && a.dtype == b.dtype && a.location != "register" && b.location != "register" &&
           program_.storageOf(from->buffer) != program_.storageOf(leaf.dst.buffer);
  }

  void extentAccess(const Access& at) {
    access(at, false);
    if (problem_.empty()) indexBuffer(at.buffer);
  }

  void leaf(const Leaf& at) {
    access(at.dst, false);
    if (!problem_.empty()) return;
    const Buffer& dst = program_.buffer(at.dst.buffer);
    if (dst.role == Role::in)
      return fail(fmt::format("{} is an input and can't be written", dst.name));
    const OpInfo& op = info(at.op);
    if (at.operands.size() != static_cast<std::size_t>(op.arity)) {
      return fail(
          fmt::format("an operation has {} operands and needs {}", at.operands.size(), op.arity));
    }
    for (const Operand& operand : at.operands) {
      if (const auto* element = std::get_if<Access>(&operand)) access(*element, true);
      if (const auto* value = std::get_if<Affine>(&operand)) affine(*value);
    }
    if (!problem_.empty()) return;
    types(at, dst.dtype, op);
  }

  void types(const Leaf& at, DType dst, const OpInfo& op) {
    const DType type = computeType(program_, at);
    const bool casts = at.op == Op::cast || at.op == Op::satCast;
    const std::string_view called = op.spelling.empty() ? "a copy" : op.spelling;
    const bool computes =
        isFloat(type) ? op.floats : (type == DType::boolean ? op.bools : op.integers);
    if (!computes) return fail(fmt::format("{} doesn't exist for {}", called, name(type)));
    if (op.comparison && dst != DType::boolean) {
      return fail(fmt::format("{} gives bool and can't be stored as {}", called, name(dst)));
    }
    if (at.op == Op::satCast && (dst == DType::boolean || type == DType::boolean)) {
      return fail("sat_cast doesn't exist for bool");
    }
    if (at.isReduction() && (dst == DType::boolean || op.comparison)) {
      return fail(fmt::format("{} doesn't exist for bool", spelling(at.assign)));
    }
    if (at.assign == Assign::fma && at.op != Op::mul) return fail("fma+= needs a product");
    if (casts) return;
    for (std::size_t i = 0; i < at.operands.size(); ++i) {
      const bool condition = at.op == Op::select && i == 0;
      operandType(at.operands[i], condition ? DType::boolean : type, called);
    }
  }

  void operandType(const Operand& operand, DType to, std::string_view called) {
    if (const auto* constant = std::get_if<Constant>(&operand)) {
      if (std::holds_alternative<double>(*constant) != isFloat(to)) {
        fail(fmt::format("a constant of {} isn't of its type {}", called, name(to)));
      }
      return;
    }
    const auto* element = std::get_if<Access>(&operand);
    const DType from = element != nullptr ? program_.buffer(element->buffer).dtype : DType::i64;
    if (convertsExactly(from, to)) return;
    const std::string what =
        element != nullptr
            ? fmt::format("{} is {}", program_.buffer(element->buffer).name, name(from))
            : std::string("an index value is i64");
    fail(fmt::format("{}, which doesn't convert exactly to {}: write cast", what, name(to)));
  }

  void access(const Access& at, bool mayGather) {
    if (!known(at.buffer)) return fail("an access names a buffer that doesn't exist");
    const Buffer& buffer = program_.buffer(at.buffer);
    if (at.indices.size() != buffer.dims.size()) {
      return fail(fmt::format("{} has {} dims but {} indices", buffer.name, buffer.dims.size(),
                              at.indices.size()));
    }
    for (const Index& index : at.indices) {
      if (!index.isGather()) {
        affine(index.affine);
        continue;
      }
      if (!mayGather) return fail("only operands of a right side can gather");
      if (!known(index.gather)) return fail("a gather names a buffer that doesn't exist");
      indexBuffer(index.gather);
      if (index.gatherIndices.size() != program_.buffer(index.gather).dims.size()) {
        fail(fmt::format("{} has another number of dims than indices",
                         program_.buffer(index.gather).name));
      }
      for (const Affine& inner : index.gatherIndices) affine(inner);
    }
  }

  void indexBuffer(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    if (buffer.role != Role::in || !isInteger(buffer.dtype) || !buffer.values) {
      fail(
          fmt::format("{} is used as an index but is no 'in' buffer of integers that declares its "
                      "values",
                      buffer.name));
    }
  }

  void affine(const Affine& expr) {
    int previous = -1;
    for (const Term& term : expr.terms()) {
      if (term.var <= previous || term.coef == 0) return fail("an index is not in normal form");
      previous = term.var;
      if (static_cast<std::size_t>(term.var) >= ranges_.size()) {
        return fail(fmt::format("{{{}}} is no variable of an enclosing scope", term.var));
      }
    }
    if (!staysInRange(expr, ranges_)) fail("an index takes values beyond 2^60");
  }

  [[nodiscard]] bool known(BufferId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < program_.buffers.size();
  }

  void fail(std::string problem) {
    if (!problem_.empty()) return;
    problem_ = std::move(problem);
    problemPath_ = path_;
  }

  const Program& program_;
  std::vector<Interval> ranges_;
  std::int64_t iterations_ = 1;
  bool streaming_ = false;  ///< Inside a stream scope.
  Path path_;
  std::string problem_;
  Path problemPath_;
};

}  // namespace

Status checkStructure(const Program& program) { return StructureCheck(program).run(); }

}  // namespace dojo::ir
