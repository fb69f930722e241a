// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// LLVM's description of a target, and turning a module into bytes with it.
#pragma once

#include "base/result.h"
#include "codegen/llvm.h"
#include "target/target.h"

namespace dojo::codegen {

/// A target as LLVM names it, "native" replaced by what the host has.
struct Resolved {
  llvm::Triple triple;
  std::string cpu, features;
};
/// Errors: "compile.triple", "compile.native" (native of another machine), "compile.cpu",
/// "compile.features" (with the nearest valid names).
[[nodiscard]] Result<Resolved> resolve(const target::Target& target);

/// The machine of a target, made once a thread and kept.
[[nodiscard]] Result<llvm::TargetMachine*> machineFor(const target::Target& target);

enum class FileKind { object, assembly };
[[nodiscard]] Result<std::string> emit(llvm::Module& module, llvm::TargetMachine& machine,
                                       FileKind kind);

}  // namespace dojo::codegen
