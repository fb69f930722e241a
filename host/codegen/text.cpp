// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/text.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/machine.h"

namespace dojo::codegen {

Result<Object> compileText(const std::string& text, const target::Target& target,
                           const std::string& features) {
  // Inline assembly is read by the parsers, which kernels never need.
  static const bool parsers = [] {
    llvm::InitializeAllAsmParsers();
    return true;
  }();
  (void)parsers;
  target::Target wider = target;
  if (!features.empty()) {
    if (target.features == "native") wider.features = hostFeatures();
    wider.features += (wider.features.empty() ? "" : ",") + features;
    if (target.cpu == "native") wider.cpu = hostCpu();
  }
  Result<llvm::TargetMachine*> machine = machineFor(wider);
  if (!machine) return machine.error();

  std::string complaint;
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* into) {
        if (info->getSeverity() != llvm::DS_Error) return;
        llvm::raw_string_ostream stream(*static_cast<std::string*>(into));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &complaint);
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) {
    return Error{"compile.text",
                 fmt::format("line {}: {}", diagnostic.getLineNo(), diagnostic.getMessage().str())};
  }
  compat::setTriple(*module, (*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
  }
  Result<std::string> file = emit(*module, **machine, FileKind::object);
  if (!file) return file.error();
  if (!complaint.empty()) return Error{"compile.text", complaint};
  Object object;
  const auto* bytes = reinterpret_cast<const std::byte*>(file->data());
  object.bytes.assign(bytes, bytes + file->size());
  return object;
}

Result<bool> hasFeature(const target::Target& target, const std::string& feature) {
  Result<llvm::TargetMachine*> machine = machineFor(target);
  if (!machine) return machine.error();
  return (*machine)->getMCSubtargetInfo()->checkFeatures("+" + feature);
}

Result<int> pointerBytes(const target::Target& target) {
  Result<llvm::TargetMachine*> machine = machineFor(target);
  if (!machine) return machine.error();
  return static_cast<int>((*machine)->createDataLayout().getPointerSize());
}

}  // namespace dojo::codegen
