// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Two neighbouring leaves of which the first makes a value for the second: what contract_fma,
/// fold_copy and their ways back share.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"

namespace dojo::moves {

/// `t = ...` directly before a leaf that has t as one of its operands.
struct Producer {
  ir::Path place;        ///< Of the producing leaf.
  const ir::Leaf* leaf;  ///< The producing leaf.
  std::size_t operand;   ///< Of the consumer: the value.
  bool remains;          ///< Other leaves use the buffer for other values.
};
/// The producer of a value that the leaf at `consumer` alone uses: an element of a tmp of the
/// consumer's dtype, the same guard on both, and no other read may see the value.
[[nodiscard]] std::optional<Producer> producerFor(const State& state, const ir::Path& consumer);

/// Arguments with which an inverse brings the value back: the tmp's declaration ("" where it
/// remains) and the access.
[[nodiscard]] std::vector<Arg> describeValue(const State& state, const Producer& producer);

/// A program with a leaf `value = value` put before a leaf, for the caller to rewrite both.
struct Room {
  ir::Program program;
  ir::Access value;
};
/// Makes room before the leaf at `place` for a value of its dtype: in the tmp and element that
/// args[from] and args[from + 1] describe, else in a new tmp as compound lines make them.
[[nodiscard]] Result<Room> makeRoom(const State& state, const ir::Path& place,
                                    const std::vector<Arg>& args, std::size_t from);

}  // namespace dojo::moves
