// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// LLVM's textual IR to machine code: for the small programs that try a device out, which say what
/// no loop tree can (inline assembly, chains of dependent loads).
#pragma once

#include <string>

#include "codegen/codegen.h"

namespace dojo::codegen {

/// Compiles a module in LLVM's text. `features` ("+zbb,...") are added to those of the target.
/// Errors: "compile.text" (line and complaint), "compile.*".
[[nodiscard]] Result<Object> compileText(const std::string& text, const target::Target& target,
                                         const std::string& features = {});
/// Whether LLVM takes the target to have a feature ("zbb", "neon"), named or implied by others.
/// Errors as machineFor().
[[nodiscard]] Result<bool> hasFeature(const target::Target& target, const std::string& feature);
/// Bytes of an address in the target's data layout.
[[nodiscard]] Result<int> pointerBytes(const target::Target& target);

}  // namespace dojo::codegen
