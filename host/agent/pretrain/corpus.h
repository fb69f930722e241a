// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Programs without end: kernels of the suite at random shapes and random programs, played at
/// random on the given targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "search/random.h"
#include "target/target.h"

namespace dojo::agent {

/// A stretch of random play: states in order, and the first again, reached from the second by the
/// moves that undo the step between.
struct Chain {
  std::vector<ir::Program> states;
  ir::Program again;
};

class Corpus {
 public:
  /// `kernels`: names of the suite; empty: all of it. `targets` outlive this; one at least.
  Corpus(std::vector<std::string> kernels, std::vector<const target::Target*> targets);

  /// A chain of `length` states, 2 at least, some steps away from a plain program. Follows from
  /// `random` alone.
  [[nodiscard]] Chain chain(std::size_t length, search::Random& random) const;

 private:
  [[nodiscard]] ir::Program plain(search::Random& random) const;

  std::vector<std::string> kernels_;
  std::vector<const target::Target*> targets_;
};

}  // namespace dojo::agent
