// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Inputs for a kernel and what must come out of them, with the bound of each element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "measure/session.h"

namespace dojo::tune {

struct Verifier {
  /// The first set is what is timed; the last is another one.
  std::vector<std::vector<ir::Tensor>> inputs;
  std::vector<std::string> names;    ///< Of the sets: "uniform", "awkward", ...
  std::vector<std::string> dropped;  ///< Sets whose bounds were too wide to prove anything.
  measure::Compare compare;          ///< For Session::open; holds the references.
};

/// Draws inputs from `seed` and computes the references. The more a kernel computes, the fewer sets
/// there are, but at least two. Errors: "verify.reference" (the program itself can't be run).
[[nodiscard]] Result<Verifier> makeVerifier(const ir::Program& program, std::uint64_t seed);

/// How many sets a kernel of so many leaf executions is verified on, at most.
[[nodiscard]] int inputSetCount(double executions);

/// The comparison of one argument's bytes with its reference; `name` and `set` are for messages.
[[nodiscard]] Result<measure::Compared> compareElements(const ir::Buffer& buffer,
                                                        std::span<const std::byte> bytes,
                                                        const std::vector<ir::Bounded>& reference,
                                                        const std::string& set);

}  // namespace dojo::tune
