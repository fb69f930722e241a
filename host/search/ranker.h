// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A guess which of several candidates is the fastest, before any of them is measured.
#pragma once

#include <cstddef>
#include <vector>

#include "search/evaluator.h"

namespace dojo::search {

/// Like a strategy, deterministic given what it was told, in order.
class Ranker {
 public:
  virtual ~Ranker() = default;
  /// Candidates to draw for one that is measured; 1 while it knows too little.
  [[nodiscard]] virtual std::size_t wanted() const = 0;
  /// The most promising of some candidates, at least one.
  [[nodiscard]] virtual std::size_t best(const std::vector<Candidate>& candidates) = 0;
  /// The score of a candidate; kFailed where it failed. The first is that of the start program.
  virtual void learn(const Candidate& candidate, double score) = 0;
};

}  // namespace dojo::search
