// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/library.h"

#include <algorithm>
#include <cstddef>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace dojo::codegen {

extern const unsigned char kArithmetic[];
extern const std::size_t kArithmeticBytes;

Result<std::vector<std::string>> undefinedSymbols(const std::string& object) {
  const llvm::MemoryBufferRef bytes(llvm::StringRef(object.data(), object.size()), "kernel");
  auto file = llvm::object::ObjectFile::createObjectFile(bytes);
  if (!file) return Error{"compile.backend", llvm::toString(file.takeError()), "", ""};
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<std::uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty()) {
      names.push_back(name->str());
    }
  }
  return names;
}

std::vector<std::string> addRoutines(llvm::Module& module, const llvm::TargetMachine& machine,
                                     const std::vector<std::string>& names) {
  const llvm::MemoryBufferRef bytes(
      llvm::StringRef(reinterpret_cast<const char*>(kArithmetic), kArithmeticBytes), "library");
  llvm::Expected<std::unique_ptr<llvm::Module>> read =
      llvm::parseBitcodeFile(bytes, module.getContext());
  if (!read) {
    llvm::consumeError(read.takeError());
    return names;
  }
  std::unique_ptr<llvm::Module> library = std::move(*read);
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const llvm::Function* routine = library->getFunction(name);
    if (routine == nullptr || routine->isDeclaration()) {
      missing.push_back(name);
    } else {
      module.getOrInsertFunction(name, routine->getFunctionType());
    }
  }
  library->setDataLayout(module.getDataLayout());
  compat::setTriple(*library, machine.getTargetTriple());
  if (llvm::NamedMDNode* flags = library->getModuleFlagsMetadata()) flags->eraseFromParent();
  std::vector<std::string> ours;
  for (const llvm::Function& function : module) ours.push_back(function.getName().str());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded)) {
    return names;
  }
  for (llvm::Function& function : module) {
    const bool known = std::find(ours.begin(), ours.end(), function.getName()) != ours.end() &&
                       std::find(names.begin(), names.end(), function.getName()) == names.end();
    if (known || function.isDeclaration()) continue;
    function.setAttributes({});
    function.setDoesNotThrow();
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("no-builtins");
    if (function.hasExternalLinkage()) function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    // The Arm EABI's own names pass floats in integer registers whatever the target does.
    if (function.getName().starts_with("__aeabi_")) {
      function.setCallingConv(llvm::CallingConv::ARM_AAPCS);
    }
  }
  return missing;
}

}  // namespace dojo::codegen
