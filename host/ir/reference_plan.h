// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A program made ready for the reference: accesses as offsets and strides, conversions, which
/// buffers are free of error.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/interpret.h"
#include "ir/program.h"
#include "ir/reference_kernels.h"
#include "ir/tree.h"

namespace dojo::ir {

/// A buffer's storage. Arrays that its dtype or use doesn't need are empty.
struct Cells {
  DType type = DType::f32;
  Kind kind = Kind::narrow;
  /// Every bound is 0, and there is no array of them, nor of low parts.
  bool exact = true;
  std::vector<double> high, low, bound;
  std::vector<std::int64_t> integer;
  std::vector<double> mass, count, quantum;  ///< Of sums.
  std::vector<double> most, least;  ///< Of products: by what they may grow and shrink on the way.
};

struct ReferenceAccess {
  struct Index {
    Affine affine;
    std::vector<ReferenceAccess> gather;  ///< One, or none: affine.
    std::int64_t extent = 1, stride = 1, fold = 0;
  };
  BufferId buffer = -1;
  std::vector<Index> indices;
  bool affine = true;   ///< The offset is `offset`, no gather and no modulus.
  bool inside = false;  ///< Within its dims on every execution.
  Affine offset;
};

struct ReferenceOperand {
  enum class What : std::uint8_t { element, constant, index };
  What what = What::constant;
  ReferenceAccess access;
  Affine affine;
  std::shared_ptr<const Block> constant;  ///< kBlock copies.
  DType from = DType::f32, to = DType::f32;
};

struct ReferenceNode {
  const Node* node = nullptr;
  Path path;
  int depth = 0;
  // Leaves.
  ReferenceAccess dst;
  std::vector<ReferenceOperand> operands;
  DType compute = DType::f32;  ///< Of the operation.
  DType result = DType::f32;   ///< What it gives: a bool for comparisons.
  DType type = DType::f32;     ///< Of the destination.
  bool serial = false;         ///< An iteration may read what the one before wrote.
  // Scopes.
  ReferenceAccess first, last;
  /// The scope and those below it are around a single leaf: the depth of the one to run innermost,
  /// block by block. kNoNest: there is more in it.
  int innermost = kNoNest;
  std::vector<ReferenceNode> body;

  static constexpr int kNoNest = -1;
};

struct ReferencePlan {
  std::vector<ReferenceNode> body;
  std::vector<Cells> cells;  ///< One a buffer, filled with "unwritten".
  std::size_t depth = 1;
};
/// `hasNaN`: some argument holds a NaN, so that maxima aren't free of error.
[[nodiscard]] ReferencePlan planReference(const Program& program, bool hasNaN);

}  // namespace dojo::ir
