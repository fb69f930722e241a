// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a plan: the innermost scope around a single leaf goes block by block through the kernels,
// everything else iteration by iteration.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "ir/interpret.h"
#include "ir/interpret_storage.h"
#include "ir/print.h"
#include "ir/reference_estimate.h"
#include "ir/reference_plan.h"

namespace dojo::ir {
namespace {

constexpr int kNoVariable = -1;

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

class Run {
 public:
  Run(const Program& program, ReferencePlan plan)
      : program_(program), plan_(std::move(plan)), variables_(plan_.depth + 1, 0) {}

  Cells& cells(BufferId id) { return plan_.cells[static_cast<std::size_t>(id)]; }

  /// What sums and products remember starts anew with a value that was set.
  static void restart(Cells& dst, std::size_t at) {
    if (!dst.mass.empty()) startSum(sumAt(dst, at));
    if (dst.most.empty()) return;
    const double size = std::abs(dst.high[at]);
    dst.most[at] = std::max(1.0, size);
    dst.least[at] = size == 0 ? 1.0 : std::min(1.0, size);
  }

  Status run() {
    execute(plan_.body);
    if (error_) return *error_;
    return {};
  }

 private:
  /// Iterations [lo, hi) of the innermost variable; kNoVariable: one execution.
  struct Span {
    int variable = kNoVariable;
    std::int64_t lo = 0, hi = 1;
  };
  /// Where the elements of an access are for a block of a span.
  struct Reach {
    std::int64_t base = 0, stride = 0;
    const std::int64_t* offsets = nullptr;  ///< Instead, for gathers and moduli.
    [[nodiscard]] std::size_t at(int i) const {
      return static_cast<std::size_t>(offsets == nullptr ? base + stride * i : offsets[i]);
    }
  };

  void fail(const ReferenceNode& node, const char* code, std::string message) {
    if (error_) return;
    error_ =
        Error{code, std::move(message), "line " + std::to_string(lineOf(program_, node.path)), {}};
  }

  // --- Scopes

  void execute(const std::vector<ReferenceNode>& nodes) {
    for (const ReferenceNode& node : nodes) {
      if (error_) return;
      if (node.node->isLeaf()) {
        runLeaf(node, {});
      } else {
        runScope(node);
      }
    }
  }

  void runScope(const ReferenceNode& node) {
    for (const GuardTerm& guard : node.node->guard) {
      const std::int64_t value = guard.expr.evaluate(variables_);
      if (value < guard.lo || value >= guard.hi) return;
    }
    const Extent& extent = node.node->scope().extent;
    std::int64_t lo = 0;
    std::int64_t hi = extent.count;
    if (extent.range) {
      const auto first = locate(node, node.first);
      const auto last = locate(node, node.last);
      if (!first || !last) return;
      lo = cells(node.first.buffer).integer[static_cast<std::size_t>(*first)];
      hi = cells(node.last.buffer).integer[static_cast<std::size_t>(*last)];
    }
    if (node.innermost != ReferenceNode::kNoNest) {
      if (lo < hi) runNest(node, node.innermost, {node.innermost, lo, hi});
      return;
    }
    for (std::int64_t value = lo; value < hi && !error_; ++value) {
      variables_[static_cast<std::size_t>(node.depth)] = value;
      execute(node.body);
    }
  }

  /// Scopes around a single leaf, that at depth `innermost` last. `span` is that of the outermost
  /// one where that is it.
  void runNest(const ReferenceNode& node, int innermost, Span span) {
    if (node.node->isLeaf()) return runLeaf(node, span);
    const Extent& extent = node.node->scope().extent;
    if (node.depth == innermost) {
      if (extent.isConstant()) span = {innermost, 0, extent.count};
      return runNest(node.body.front(), innermost, span);
    }
    for (std::int64_t value = 0; value < extent.count && !error_; ++value) {
      variables_[static_cast<std::size_t>(node.depth)] = value;
      runNest(node.body.front(), innermost, span);
    }
  }

  // --- Accesses

  bool inside(const ReferenceNode& node, const ReferenceAccess& access, std::size_t dim,
              std::int64_t value) {
    const std::int64_t extent = access.indices[dim].extent;
    if (value >= 0 && value < extent) return true;
    fail(node, "interpret.bounds",
         "index " + std::to_string(value) + " of dim " + std::to_string(dim) + " of " +
             program_.buffer(access.buffer).name + " is outside of [0, " + std::to_string(extent) +
             ")");
    return false;
  }

  /// The offset under the current variables.
  std::optional<std::int64_t> locate(const ReferenceNode& node, const ReferenceAccess& access) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const ReferenceAccess::Index& index = access.indices[d];
      std::int64_t value = 0;
      if (index.gather.empty()) {
        value = index.affine.evaluate(variables_);
      } else {
        const auto inner = locate(node, index.gather.front());
        if (!inner) return std::nullopt;
        value = cells(index.gather.front().buffer).integer[static_cast<std::size_t>(*inner)];
      }
      if (!inside(node, access, d, value)) return std::nullopt;
      offset += (index.fold > 1 ? value % index.fold : value) * index.stride;
    }
    return offset;
  }

  bool checkSpan(const ReferenceNode& node, const ReferenceAccess& access, const Span& span) {
    if (access.inside || !access.affine) return true;  // The others check as they go.
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const Affine& affine = access.indices[d].affine;
      std::int64_t value = affine.evaluate(variables_);
      if (span.variable != kNoVariable) {
        const std::int64_t step = affine.coef(span.variable);
        value -= step * variables_[static_cast<std::size_t>(span.variable)];
        if (!inside(node, access, d, value + step * (span.hi - 1))) return false;
        value += step * span.lo;
      }
      if (!inside(node, access, d, value)) return false;
    }
    return true;
  }

  /// The variable of the span is at the block's first iteration.
  bool reach(const ReferenceNode& node, const ReferenceAccess& access, const Span& span, int count,
             std::array<std::int64_t, kBlock>& offsets, Reach& out) {
    if (access.affine) {
      out.base = access.offset.evaluate(variables_);
      out.stride = span.variable == kNoVariable ? 0 : access.offset.coef(span.variable);
      return true;
    }
    std::int64_t* variable = span.variable == kNoVariable
                                 ? nullptr
                                 : &variables_[static_cast<std::size_t>(span.variable)];
    for (int i = 0; i < count; ++i) {
      const auto offset = locate(node, access);
      if (!offset) return false;
      offsets[static_cast<std::size_t>(i)] = *offset;
      if (variable != nullptr) ++*variable;
    }
    if (variable != nullptr) *variable -= count;
    out.offsets = offsets.data();
    return true;
  }

  static bool contiguous(const Reach& reach, int count) {
    return reach.offsets == nullptr && (count == 1 || reach.stride == 1);
  }

  template <class T>
  static const T* gather(const std::vector<T>& from, const Reach& reach, int count, T* into) {
    if (contiguous(reach, count)) return from.data() + reach.base;
    if (reach.offsets == nullptr) {
      const T* source = from.data() + reach.base;
      for (int i = 0; i < count; ++i) into[i] = source[reach.stride * i];
    } else {
      for (int i = 0; i < count; ++i) into[i] = from[static_cast<std::size_t>(reach.offsets[i])];
    }
    return into;
  }

  static Column view(const Cells& cells, const Reach& reach, int count, Block& scratch) {
    Column out;
    out.low = kZeros;
    if (cells.kind == Kind::integer) {
      out.integer = gather(cells.integer, reach, count, scratch.integer);
    } else {
      out.high = gather(cells.high, reach, count, scratch.high);
      if (!cells.low.empty()) out.low = gather(cells.low, reach, count, scratch.low);
    }
    out.bound = cells.exact ? kZeros : gather(cells.bound, reach, count, scratch.bound);
    return out;
  }

  // --- Leaves

  static bool scales(Op op) { return op == Op::mul || op == Op::div || op == Op::fma; }

  /// The factor of a sum may be moved into it (factor_in), which takes its exactness away.
  static void withOrderError(const Cells& sums, const Reach& where, int count, Column& column,
                             Block& scratch) {
    for (int i = 0; i < count; ++i) {
      const std::size_t at = where.at(i);
      const double order = orderError(formatOf(sums.type), sums.count[at], sums.mass[at]);
      scratch.bound[i] = sums.quantum[at] == 0 ? sums.bound[at] : sums.bound[at] + order;
    }
    column.bound = scratch.bound;
  }

  bool loadOperand(const ReferenceNode& node, const ReferenceOperand& operand, const Span& span,
                   int count, Block& scratch, Column& out) {
    switch (operand.what) {
      case ReferenceOperand::What::constant:
        out = operand.constant->column();
        return true;
      case ReferenceOperand::What::index: {
        const std::int64_t first = operand.affine.evaluate(variables_);
        const std::int64_t step =
            span.variable == kNoVariable ? 0 : operand.affine.coef(span.variable);
        for (int i = 0; i < count; ++i) scratch.integer[i] = first + step * i;
        out.integer = scratch.integer;
        out.bound = kZeros;
        break;
      }
      case ReferenceOperand::What::element: {
        Reach where;
        if (!reach(node, operand.access, span, count, offsets_, where)) return false;
        const Cells& source = cells(operand.access.buffer);
        out = view(source, where, count, scratch);
        if (!source.mass.empty() && scales(node.node->leaf().op)) {
          withOrderError(source, where, count, out, scratch);
        }
        break;
      }
    }
    const Kind from = kindOf(operand.from);
    const Kind to = kindOf(operand.to);
    if (from == Kind::integer && to != Kind::integer) {
      for (int i = 0; i < count; ++i) scratch.high[i] = static_cast<double>(out.integer[i]);
      out.high = scratch.high;
      out.low = kZeros;
    }
    return true;
  }

  void runLeaf(const ReferenceNode& node, Span span) {
    for (const GuardTerm& guard : node.node->guard) {
      const std::int64_t step = span.variable == kNoVariable ? 0 : guard.expr.coef(span.variable);
      const std::int64_t value =
          guard.expr.evaluate(variables_) -
          (step == 0 ? 0 : step * variables_[static_cast<std::size_t>(span.variable)]);
      if (step == 0) {
        if (value < guard.lo || value >= guard.hi) return;
        continue;
      }
      // lo <= value + step * v < hi
      const std::int64_t size = std::abs(step);
      const std::int64_t lo = step > 0 ? guard.lo - value : value - guard.hi + 1;
      const std::int64_t hi = step > 0 ? guard.hi - value : value - guard.lo + 1;
      span.lo = std::max(span.lo, -floorDivide(-lo, size));
      span.hi = std::min(span.hi, -floorDivide(-hi, size));
    }
    if (span.hi <= span.lo) return;
    if (!checkSpan(node, node.dst, span)) return;
    for (const ReferenceOperand& operand : node.operands) {
      if (operand.what == ReferenceOperand::What::element &&
          !checkSpan(node, operand.access, span)) {
        return;
      }
    }
    const std::int64_t step = node.serial ? 1 : kBlock;
    for (std::int64_t start = span.lo; start < span.hi && !error_; start += step) {
      const int count = static_cast<int>(std::min(step, span.hi - start));
      if (span.variable != kNoVariable) {
        variables_[static_cast<std::size_t>(span.variable)] = start;
      }
      runBlock(node, span, count);
    }
  }

  void runBlock(const ReferenceNode& node, const Span& span, int count) {
    Column operands[3];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (!loadOperand(node, node.operands[i], span, count, scratch_[i], operands[i])) return;
    }
    const Leaf& leaf = node.node->leaf();
    if (leaf.op == Op::mul && addedProducts(node, span, count, operands)) return;
    Column result = operands[0];
    if (leaf.op == Op::cast || leaf.op == Op::satCast) {
      castBlock(leaf.op == Op::satCast, node.compute, node.type, count, operands[0], result_);
      result = result_.column();
    } else if (leaf.op != Op::copy) {
      if (!computeBlock(leaf.op, node.compute, count, operands, result_)) {
        return fail(node, "interpret.division", "an integer is divided by zero");
      }
      result = result_.column();
      if (node.result != node.type) {
        castBlock(false, node.result, node.type, count, result, converted_);
        result = converted_.column();
      }
    }
    Reach where;
    if (!reach(node, node.dst, span, count, offsets_, where)) return;
    Cells& dst = cells(node.dst.buffer);
    if (!leaf.isReduction()) return set(dst, where, count, result);
    const bool sum = leaf.assign == Assign::add || leaf.assign == Assign::fma;
    if (sum && dst.kind != Kind::integer) return addFloats(dst, where, count, result);
    if (sum && dst.exact && where.offsets == nullptr && where.stride == 0) {
      return addIntegers(dst, where.at(0), count, result);
    }
    reduce(leaf.assign, dst, where, count, result);
  }

  /// Sums of products of exact operands, the innermost loops of most kernels, in one go.
  bool addedProducts(const ReferenceNode& node, const Span& span, int count,
                     const Column (&operands)[3]) {
    const Assign assign = node.node->leaf().assign;
    if (assign != Assign::add && assign != Assign::fma) return false;
    Cells& dst = cells(node.dst.buffer);
    if (dst.kind == Kind::integer || !node.dst.affine || !dst.most.empty()) return false;
    if (operands[0].bound != kZeros || operands[1].bound != kZeros) return false;
    if (span.variable == kNoVariable || node.dst.offset.uses(span.variable)) return false;
    const auto at = static_cast<std::size_t>(node.dst.offset.evaluate(variables_));
    return addProducts(dst.type, sumAt(dst, at), count, operands[0], operands[1]);
  }

  static RunningSum sumAt(Cells& dst, std::size_t at) {
    return {&dst.high[at],  dst.low.empty() ? nullptr : &dst.low[at],
            &dst.bound[at], &dst.mass[at],
            &dst.count[at], &dst.quantum[at]};
  }

  template <class T>
  static void scatter(std::vector<T>& into, const Reach& where, int count, const T* values) {
    if (contiguous(where, count)) {
      std::copy_n(values, count, into.begin() + where.base);
    } else {
      for (int i = 0; i < count; ++i) into[where.at(i)] = values[i];
    }
  }

  static void set(Cells& dst, const Reach& where, int count, const Column& values) {
    if (dst.kind == Kind::integer) {
      scatter(dst.integer, where, count, values.integer);
    } else {
      scatter(dst.high, where, count, values.high);
      if (!dst.low.empty()) scatter(dst.low, where, count, values.low);
    }
    if (!dst.exact) scatter(dst.bound, where, count, values.bound);
    if (dst.mass.empty() && dst.most.empty()) return;
    for (int i = 0; i < count; ++i) restart(dst, where.at(i));
  }

  static Column from(const Column& column, Kind kind, int i) {
    Column out;
    if (kind == Kind::integer) {
      out.integer = column.integer + i;
    } else {
      out.high = column.high + i;
      out.low = column.low + i;
    }
    out.bound = column.bound + i;
    return out;
  }

  static void addFloats(Cells& dst, const Reach& where, int count, const Column& terms) {
    if (where.offsets == nullptr && where.stride == 0) {
      addToOne(dst.type, sumAt(dst, where.at(0)), count, terms);
    } else if (contiguous(where, count)) {
      addToEach(dst.type, sumAt(dst, where.at(0)), count, terms);
    } else {
      for (int i = 0; i < count; ++i) {
        addToOne(dst.type, sumAt(dst, where.at(i)), 1, from(terms, dst.kind, i));
      }
    }
    if (dst.most.empty()) return;
    for (int i = 0; i < count; ++i) {
      const std::size_t at = where.at(i);
      dst.most[at] = std::max(1.0, std::abs(dst.high[at]));
      dst.least[at] = std::min(1.0, std::abs(dst.high[at]));
    }
  }

  static void addIntegers(Cells& dst, std::size_t at, int count, const Column& terms) {
    auto sum = static_cast<std::uint64_t>(dst.integer[at]);
    for (int i = 0; i < count; ++i) sum += static_cast<std::uint64_t>(terms.integer[i]);
    dst.integer[at] = wrapTo(dst.type, static_cast<std::int64_t>(sum));
  }

  void reduce(Assign assign, Cells& dst, const Reach& where, int count, const Column& terms) {
    const Op op = assign == Assign::max   ? Op::max
                  : assign == Assign::min ? Op::min
                  : assign == Assign::mul ? Op::mul
                                          : Op::add;
    const bool extreme = op == Op::max || op == Op::min;
    if (extreme && dst.kind != Kind::integer && where.offsets == nullptr && where.stride == 0) {
      const std::size_t at = where.at(0);
      maxIntoOne(dst.type, op == Op::min, &dst.high[at], dst.low.empty() ? nullptr : &dst.low[at],
                 dst.exact ? nullptr : &dst.bound[at], count, terms);
      return restart(dst, at);
    }
    // Elements that are not side by side may be the same one: one by one.
    const int step = contiguous(where, count) ? count : 1;
    for (int i = 0; i < count; i += step) {
      const Reach one{static_cast<std::int64_t>(where.at(i)), 1, nullptr};
      const Column pair[3] = {view(dst, one, step, scratch_[0]), from(terms, dst.kind, i), {}};
      (void)computeBlock(op, dst.type, step, pair, reduced_);
      if (op == Op::mul && dst.kind != Kind::integer) {
        multiplied(dst, one, step, pair[1]);
      } else {
        set(dst, one, step, reduced_.column());
      }
    }
  }

  /// Stores products; another order of the factors may overflow or lose digits on the way.
  void multiplied(Cells& dst, const Reach& where, int count, const Column& factors) {
    const FloatFormat& format = formatOf(dst.type);
    for (int i = 0; i < count; ++i) {
      const std::size_t at = where.at(i);
      const double size = std::abs(factors.high[i]);
      const double most = dst.most[at] * std::max(1.0, size + factors.bound[i]);
      const double least = dst.least[at] * (size == 0 ? 1.0 : std::min(1.0, size));
      set(dst, {static_cast<std::int64_t>(at), 0, nullptr}, 1,
          from(reduced_.column(), dst.kind, i));
      if (most > format.largest || least < format.leastNormal) dst.bound[at] = kUnknown;
      dst.most[at] = most;
      dst.least[at] = least;
    }
  }

  const Program& program_;
  ReferencePlan plan_;
  std::vector<std::int64_t> variables_;
  std::array<std::int64_t, kBlock> offsets_{};
  Block scratch_[3], result_, converted_, reduced_;
  std::optional<Error> error_;
};

bool holdsNaN(const Tensor& tensor) {
  if (!isFloat(tensor.dtype)) return false;
  const auto size = static_cast<std::size_t>(sizeBytes(tensor.dtype));
  for (std::size_t i = 0; i < tensor.bytes.size(); i += size) {
    if (std::isnan(load(tensor.dtype, &tensor.bytes[i]).real)) return true;
  }
  return false;
}

Bounded boundedAt(const Cells& cells, std::size_t at) {
  const double bound = cells.exact ? 0 : cells.bound[at];
  if (cells.kind == Kind::integer) {
    Block exact;
    const Column one{nullptr, nullptr, kZeros, &cells.integer[at]};
    castBlock(false, DType::i64, DType::f64, 1, one, exact);
    return {exact.high[0], exact.low[0], bound};
  }
  const double value = cells.high[at];
  const bool certain = !std::isfinite(value) && std::isfinite(bound);
  return {value, cells.low.empty() ? 0 : cells.low[at], certain ? 0 : bound};
}

}  // namespace

Result<std::vector<std::vector<Bounded>>> reference(const Program& program,
                                                    const std::vector<Tensor>& arguments) {
  if (Status status = checkArguments(program, arguments); !status) return status.error();
  const std::vector<BufferId> ids = argumentsOf(program);
  bool hasNaN = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (program.buffer(ids[i]).role != Role::out) hasNaN = hasNaN || holdsNaN(arguments[i]);
  }
  const auto run = std::make_unique<Run>(program, planReference(program, hasNaN));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::out) continue;
    Cells& cells = run->cells(ids[i]);
    const auto size = static_cast<std::size_t>(sizeBytes(buffer.dtype));
    for (std::size_t at = 0; at * size < arguments[i].bytes.size(); ++at) {
      const Number value = load(buffer.dtype, &arguments[i].bytes[at * size]);
      if (cells.kind == Kind::integer) {
        cells.integer[at] = value.integer;
      } else {
        cells.high[at] = value.real;
      }
      if (!cells.exact) cells.bound[at] = 0;
      Run::restart(cells, at);
    }
  }
  if (Status status = run->run(); !status) return status.error();
  std::vector<std::vector<Bounded>> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::in) continue;
    out[i].assign(static_cast<std::size_t>(buffer.storageElements()), {0, 0, kUnknown});
    const Cells& cells = run->cells(ids[i]);
    forEachElement(buffer, [&](std::int64_t, std::int64_t offset) {
      const auto at = static_cast<std::size_t>(offset);
      out[i][at] = boundedAt(cells, at);
    });
  }
  return out;
}

}  // namespace dojo::ir
