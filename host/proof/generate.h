// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random valid programs for proving moves: small extents, and every feature of the language that a
/// move may trip over.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "proof/random.h"

namespace dojo::proof {

/// A valid (ir::check) canonical program of a few stages. Each stage fills a buffer: element by
/// element, by a reduction (initialised inside or before, its accumulator perhaps read on the way),
/// by a recurrence (prefix sums), under guards at borders, through gathers or over data-dependent
/// rows, by way of `~` and `~2` temporaries; loops in any order, some split or peeled.
[[nodiscard]] ir::Program randomProgram(Random& random);

/// Kinds of random programs are numbered: such stages, each pattern, each trap.
[[nodiscard]] int randomRecipe(Random& random);
[[nodiscard]] bool isTrap(int recipe);
/// The moves that a kind is made for, where it says so.
[[nodiscard]] const std::vector<std::string>& movesFor(int recipe);
/// One of the kind, or of any if that is hardly ever valid.
[[nodiscard]] ir::Program randomProgram(Random& random, int recipe);

}  // namespace dojo::proof
