// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/pretrain/facts.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/storage.h"
#include "ir/tree.h"

namespace dojo::agent {
namespace {

float logarithm(double count) { return static_cast<float>(std::log2(1 + count) / 16); }

double extentOf(const ir::Program& program, const ir::Scope& scope) {
  if (scope.extent.isConstant()) return static_cast<double>(scope.extent.count);
  const ir::Interval range = ir::variableRange(program, scope);
  // Rows of sparse matrices are short.
  return std::sqrt(static_cast<double>(std::max<std::int64_t>(range.hi - range.lo, 1)));
}

/// What the scopes around a node do to it.
struct Around {
  double executions = 1, vector = 1, copies = 1, threads = 1;
  std::vector<double> extents;  ///< By variable.
  int innermost = -1;           ///< The innermost variable whose scope isn't unrolled.
  bool guarded = false;

  void enter(const ir::Program& program, const ir::Node& node) {
    const ir::Scope& scope = node.scope();
    const double extent = extentOf(program, scope);
    executions *= extent;
    if (scope.mapping.has(ir::MapKind::vector)) vector *= extent;
    if (scope.mapping.has(ir::MapKind::parallel)) threads *= extent;
    if (scope.mapping.has(ir::MapKind::unroll)) {
      copies *= extent;
    } else {
      innermost = static_cast<int>(extents.size());
    }
    extents.push_back(extent);
    guarded = guarded || !node.guard.empty();
  }
};

/// Elements between what neighbouring iterations of `var` touch; for gathers: far.
double strideOf(const ir::Program& program, const ir::Access& access, int var) {
  constexpr double kFar = 4096;
  if (var < 0) return 0;
  const std::vector<std::int64_t> strides = program.buffer(access.buffer).strides();
  double sum = 0;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    if (index.isGather()) {
      const bool moves = std::any_of(index.gatherIndices.begin(), index.gatherIndices.end(),
                                     [&](const ir::Affine& one) { return one.uses(var); });
      if (moves) return kFar;
      continue;
    }
    sum += static_cast<double>(index.affine.coef(var)) * static_cast<double>(strides[d]);
  }
  return std::abs(sum);
}

/// Different elements that the access falls on, roughly: iterations of the variables that move it.
double elementsOf(const ir::Program& program, const ir::Access& access, const Around& around) {
  double count = 1;
  for (std::size_t var = 0; var < around.extents.size(); ++var) {
    if (strideOf(program, access, static_cast<int>(var)) != 0) count *= around.extents[var];
  }
  return std::min(count, static_cast<double>(program.buffer(access.buffer).storageElements()));
}

std::vector<ir::Access> readsOf(const ir::Leaf& leaf) {
  std::vector<ir::Access> out;
  for (const ir::Operand& operand : leaf.operands) {
    if (const auto* access = std::get_if<ir::Access>(&operand)) out.push_back(*access);
  }
  return out;
}

class Collector {
 public:
  Collector(const ir::Program& program, const TokenText& text)
      : program_(program),
        text_(text),
        facts_{Matrix(text.lines.size(), kLineFacts), Matrix(text.lines.size(), kLineFacts),
               Matrix(1, kProgramFacts)} {}

  Facts collect() {
    const auto tree = [&](const TextLine& line) {
      return line.kind == LineKind::scope || line.kind == LineKind::leaf;
    };
    for (std::size_t k = 0; k < text_.lines.size(); ++k) {
      // What stands in a fragment of an instruction is no part of the tree.
      int top = static_cast<int>(k);
      while (text_.lines[static_cast<std::size_t>(top)].parent >= 0) {
        top = text_.lines[static_cast<std::size_t>(top)].parent;
      }
      const bool fragment =
          text_.lines[static_cast<std::size_t>(top)].kind == LineKind::instruction;
      if (tree(text_.lines[k]) && !fragment) treeLines_.push_back(k);
    }
    for (const ir::Node& node : program_.body) visit(node, {}, true);
    DOJO_CHECK(next_ == treeLines_.size(), "the text of another program");
    finish();
    return std::move(facts_);
  }

 private:
  void visit(const ir::Node& node, Around around, bool printed) {
    const std::size_t line = printed ? treeLines_.at(next_++) : 0;
    // A vendor's instruction is one line, whatever it stands for.
    const bool inside = printed && node.instruction < 0;
    if (node.isScope()) {
      if (printed) {
        Around own = around;
        own.enter(program_, node);
        count(line, inside ? own : around);
      }
      around.enter(program_, node);
      for (const ir::Node& child : node.scope().body) visit(child, around, inside);
    } else {
      around.guarded = around.guarded || !node.guard.empty();
      if (printed) {
        count(line, around);
        leaf(line, node.leaf(), around);
      }
      sum(node.leaf(), around);
    }
  }

  void set(std::size_t line, LineFact fact, float value) {
    facts_.lines(line, static_cast<std::size_t>(fact)) = value;
    facts_.linesWeight(line, static_cast<std::size_t>(fact)) = 1;
  }

  void count(std::size_t line, const Around& around) {
    set(line, LineFact::executions, logarithm(around.executions));
    set(line, LineFact::vectorWidth, logarithm(around.vector));
    set(line, LineFact::copies, logarithm(around.copies));
    set(line, LineFact::threads, logarithm(around.threads));
  }

  void leaf(std::size_t line, const ir::Leaf& leaf, const Around& around) {
    const auto reuse = [&](const ir::Access& access) {
      return logarithm(around.executions / elementsOf(program_, access, around) - 1);
    };
    const auto stride = [&](const ir::Access& access) {
      return logarithm(strideOf(program_, access, around.innermost));
    };
    set(line, LineFact::writeStride, stride(leaf.dst));
    set(line, LineFact::writeReuse, reuse(leaf.dst));
    const std::vector<ir::Access> reads = readsOf(leaf);
    if (!reads.empty()) {
      set(line, LineFact::readStride, stride(reads[0]));
      set(line, LineFact::readReuse, reuse(reads[0]));
    }
    if (reads.size() > 1) {
      set(line, LineFact::readStride2, stride(reads[1]));
      set(line, LineFact::readReuse2, reuse(reads[1]));
    }
    set(line, LineFact::elementBytes, logarithm(ir::sizeBytes(bufferOf(leaf.dst).dtype)));
    set(line, LineFact::guarded, around.guarded ? 1.0F : 0.0F);
  }

  void sum(const ir::Leaf& leaf, const Around& around) {
    executions_ += around.executions;
    if (around.vector > 1) vectorised_ += around.executions;
    code_ += around.copies;
    depth_ = std::max(depth_, around.extents.size());
    std::vector<ir::Access> touched = readsOf(leaf);
    touched.push_back(leaf.dst);
    for (const ir::Access& access : touched) {
      const ir::Buffer& buffer = bufferOf(access);
      if (buffer.location == "register") continue;
      traffic_ += around.executions * ir::sizeBytes(buffer.dtype);
    }
  }

  void finish() {
    double registers = 0, arguments = 0, temporary = 0;
    const std::vector<std::int64_t> sizes = ir::storageSizes(program_);
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const ir::Buffer& buffer = program_.buffers[id];
      if (buffer.shares >= 0) continue;
      const auto elements = static_cast<double>(sizes[id]);
      const double bytes = elements * ir::sizeBytes(buffer.dtype);
      if (buffer.isArgument()) {
        arguments += bytes;
      } else if (buffer.location == "register") {
        registers += elements;
      } else {
        temporary += bytes;
      }
    }
    const auto put = [&](ProgramFact fact, float value) {
      facts_.program(0, static_cast<std::size_t>(fact)) = value;
    };
    put(ProgramFact::executions, logarithm(executions_));
    put(ProgramFact::vectorised, static_cast<float>(vectorised_ / std::max(executions_, 1.0)));
    put(ProgramFact::code, logarithm(code_));
    put(ProgramFact::registerNeed, logarithm(registers));
    put(ProgramFact::argumentBytes, logarithm(arguments));
    put(ProgramFact::temporaryBytes, logarithm(temporary));
    put(ProgramFact::memoryTraffic, logarithm(traffic_));
    put(ProgramFact::depth, static_cast<float>(depth_) / 8);
  }

  [[nodiscard]] const ir::Buffer& bufferOf(const ir::Access& access) const {
    return program_.buffer(access.buffer);
  }

  const ir::Program& program_;
  const TokenText& text_;
  Facts facts_;
  std::vector<std::size_t> treeLines_;
  std::size_t next_ = 0;
  double executions_ = 0, vectorised_ = 0, code_ = 0, traffic_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Facts factsOf(const ir::Program& program, const TokenText& text) {
  return Collector(program, text).collect();
}

}  // namespace dojo::agent
