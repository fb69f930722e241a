// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Routines for what a target has no instructions for (library/arithmetic.c), and finding out which
/// of them an object calls.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/llvm.h"

namespace dojo::codegen {

/// The symbols that an object refers to and doesn't have.
[[nodiscard]] Result<std::vector<std::string>> undefinedSymbols(const std::string& object);
/// Adds the routines of these names, and what they call, to the module. Returns the names that the
/// library doesn't have.
[[nodiscard]] std::vector<std::string> addRoutines(llvm::Module& module,
                                                   const llvm::TargetMachine& machine,
                                                   const std::vector<std::string>& names);

}  // namespace dojo::codegen
