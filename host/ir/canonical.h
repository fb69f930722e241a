// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The one spelling of a program.
#pragma once

#include "ir/program.h"

namespace dojo::ir {

/// Brings a program into canonical form: tmp buffers in order of first write in the tree (buffers
/// that are not used any more are dropped if tmp), ids renumbered, commutative operands ordered
/// (elements by buffer, then indices; then index values; then constants), guards ordered and merged
/// per expression (never-true and always-true terms are kept as written), stream lists sorted;
/// packings that are row-major left out; tmps that share storage name the first of them; an index
/// value computed from others is one index value, and one without a variable is a constant;
/// instructions by name, those that no node is dropped. Names of buffers never decide an order.
/// Idempotent.
void canonicalize(Program& program);

}  // namespace dojo::ir
