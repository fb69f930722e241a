// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What composites share about storage.
#pragma once

#include <string>

#include "search/script.h"

namespace dojo::search::composite {

/// Takes the storage of every dim of the tmp that can do without, then brings it to registers
/// where the target can have it there, else to the stack where it fits well. Never fails.
void shrink(Script& script, const std::string& buffer);

}  // namespace dojo::search::composite
