// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Inputs for a kernel and what must come out of them: several input sets, their references, and
/// the comparison of a candidate's outputs with these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "measure/session.h"

namespace dojo::measure {

struct VerifierOptions {
  std::uint64_t seed = 1;
  /// Empty: all five, or for kernels that compute much the first three.
  std::vector<ir::InputSet> sets;
  /// References that took long to compute are kept here from run to run; empty: in memory alone.
  /// What can't be read or written there is computed again.
  std::string cacheFolder;
};

/// The input sets that a kernel gets by default, what matters most first. A device that can't hold
/// them all does with the first ones, at least two.
[[nodiscard]] std::vector<ir::InputSet> defaultSets(const ir::Program& program);

/// One input set.
struct VerifiedSet {
  std::string name;  ///< "uniform", "exact", ...; "exact, second" where there are two.
  ir::InputSet kind = ir::InputSet::uniform;
  std::uint64_t seed = 1;
  /// Of bound over magnitude, over all compared float elements; 0 where there are none.
  double medianBound = 0;
  std::int64_t compared = 0;
  /// Elements that aren't compared, since an allowed rewrite may overflow on the way or decide a
  /// comparison otherwise.
  std::int64_t skipped = 0;
};

class Verifier {
 public:
  /// Draws inputs for `start`, the plain program, and computes the references in parallel. A set
  /// whose median relative bound proves nothing (above 1e-3 for f32 and f64, 0.25 for f16 and bf16)
  /// isn't used. There are at least two sets: the `exact` one is drawn twice where need be. Errors:
  /// "verify.reference" (the program can't be run on its inputs), "verify.weak" (no set proves
  /// anything).
  [[nodiscard]] static Result<Verifier> make(const ir::Program& start,
                                             const VerifierOptions& options = {});

  /// One tensor an argument for each set in use.
  [[nodiscard]] const std::vector<std::vector<ir::Tensor>>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<VerifiedSet>& sets() const { return sets_; }
  /// The sets that proved nothing.
  [[nodiscard]] const std::vector<VerifiedSet>& dropped() const { return dropped_; }

  /// What a candidate left for a set: one span an argument in declared order, whatever for `in`.
  /// Every element must be within its bound; NaN and infinities must be the same. Error
  /// "verify.mismatch": the first element that isn't, with what was expected.
  [[nodiscard]] Result<Compared> check(
      int set, const std::vector<std::span<const std::byte>>& outputs) const;
  /// check() for Session::open; shares the references and may outlive this.
  [[nodiscard]] Compare compare() const;

 private:
  struct Expected;
  static Result<Compared> checkAgainst(const Expected& expected, const std::string& set,
                                       const std::vector<std::span<const std::byte>>& outputs);

  std::vector<std::vector<ir::Tensor>> inputs_;
  std::vector<VerifiedSet> sets_, dropped_;
  std::vector<std::shared_ptr<const Expected>> expected_;
};

}  // namespace dojo::measure
