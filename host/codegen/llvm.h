// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The parts of LLVM that code generation uses, and what differs between its versions (19 on).
/// Precompiled for this library.
#pragma once

#include <memory>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace dojo::codegen::compat {

inline const llvm::Target* lookupTarget(const llvm::Triple& triple, std::string& error) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::TargetRegistry::lookupTarget(triple, error);
#else
  return llvm::TargetRegistry::lookupTarget(triple.str(), error);
#endif
}

inline llvm::TargetMachine* createTargetMachine(const llvm::Target& target,
                                                const llvm::Triple& triple, llvm::StringRef cpu,
                                                llvm::StringRef features,
                                                const llvm::TargetOptions& options,
                                                llvm::CodeModel::Model model,
                                                llvm::CodeGenOptLevel level) {
#if LLVM_VERSION_MAJOR >= 21
  return target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, model,
                                    level);
#else
  return target.createTargetMachine(triple.str(), cpu, features, options, llvm::Reloc::PIC_, model,
                                    level);
#endif
}

inline llvm::MCSubtargetInfo* createSubtargetInfo(const llvm::Target& target,
                                                  const llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 22
  return target.createMCSubtargetInfo(triple, "", "");
#else
  return target.createMCSubtargetInfo(triple.str(), "", "");
#endif
}

inline void setTriple(llvm::Module& module, const llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}

}  // namespace dojo::codegen::compat
