// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Addresses in program order as what a data mover can step through.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "region/tree.h"

namespace dojo::region {

/// One sequence of the same addresses in the same order; nullopt where they aren't regular.
[[nodiscard]] std::optional<Sequence> joined(const std::vector<Sequence>& parts);

/// What the chosen sites of the items touch, in order. No part: nothing. More than one: what stands
/// beside one another isn't one sequence. nullopt: in a loop or under a guard it isn't.
[[nodiscard]] std::optional<std::vector<Sequence>> sequencesOf(
    std::span<const Item> items, const Tree& tree, const std::function<bool(int site)>& chosen);

/// The chosen sites that an instruction touches, each address once.
[[nodiscard]] std::vector<int> sitesOf(const Instruction& instruction, const Tree& tree,
                                       const std::function<bool(int site)>& chosen);

}  // namespace dojo::region
