// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Whether a device can run what is compiled for a target: asked before anything is run there. Code
/// for an extension that a device lacks traps at best; code for longer vector registers than it has
/// computes garbage and doesn't say so.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace dojo::codegen {

/// `isa`: what the device's runner says in HELLO (runner/protocol/PROTOCOL.md): a family, then
/// names of extensions by LLVM's names, then vlen=BITS. Error "link.isa" names the extension or the
/// width, and both sides; "compile.*" where the target itself is wrong.
[[nodiscard]] Status deviceRuns(const target::Target& target, const std::string& isa);

}  // namespace dojo::codegen
