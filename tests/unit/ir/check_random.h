// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Small random programs, valid or not, and the plain enumeration of what they touch.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "ir/dependence.h"
#include "ir/program.h"

namespace dojo::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [lo, hi].
  std::int64_t operator()(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(engine_);
  }
  bool oneIn(std::int64_t n) { return (*this)(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

struct Shape {
  bool concurrent = false;     ///< Some scopes are parallel or vector.
  bool dataDependent = false;  ///< Some extents are read from an index buffer.
  bool inBounds = true;        ///< Every index lies in its dim on every execution.
  bool initialised = false;    ///< Most buffers are (mostly) written before the rest.
  bool sharing = false;        ///< Some tmps share storage; needs inBounds.
};

/// Structurally good; canonical.
ir::Program randomProgram(Random& random, const Shape& shape);

/// One execution of a site.
struct Event {
  const ir::Site* site;
  std::vector<std::int64_t> variables;
  /// For each dim what the index may be (several for a gather), before and after folding.
  std::vector<std::set<std::int64_t>> logical, storage;
  std::set<std::int64_t> offsets;  ///< In the storage, where every index is within its dim.
};

/// All executions in order, where index buffers that give extents hold `contents` (by buffer id).
std::vector<Event> execute(const ir::Accesses& accesses,
                           const std::vector<std::vector<std::int64_t>>& contents);
/// Contents that the declarations allow.
std::vector<std::vector<std::int64_t>> randomContents(Random& random, const ir::Program& program);

/// True where the two may touch the same storage (privacy included).
bool touchSame(const ir::Accesses& accesses, const Event& a, const Event& b);

}  // namespace dojo::test
