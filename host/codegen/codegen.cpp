// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/codegen.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/emitter.h"
#include "codegen/library.h"
#include "codegen/lines.h"
#include "codegen/machine.h"
#include "codegen/plan.h"
#include "ir/storage.h"
#include "moves/lowerable.h"
#include "target/lanes.h"

namespace dojo::codegen {
namespace {

/// A module and what it lives in.
struct Compilation {
  /// What the code generator complained about; it would end the process by itself.
  std::unique_ptr<std::string> complaint = std::make_unique<std::string>();
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine* machine = nullptr;
};

MachineFacts factsOf(const llvm::TargetMachine& machine, const target::Target& target) {
  MachineFacts facts;
  facts.cpu = machine.getTargetCPU().str();
  facts.features = machine.getTargetFeatureString().str();
  facts.vectorBits = target.vector.scalable ? 0 : target.vector.bits;
  const llvm::Triple& triple = machine.getTargetTriple();
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
  facts.sumsInAddresses = triple.isX86();
  facts.arithmetic.divides = target.divides;
  facts.registerBits = triple.isRISCV() && triple.isArch64Bit() ? 64 : 32;
  if (triple.isX86()) {
    facts.arithmetic.halfConversions = has("+f16c");
    facts.arithmetic.rounding = has("+sse4.1");
    facts.arithmetic.scaling = has("+avx512vl");
  } else if (triple.isRISCV()) {
    const bool vectors = target.vector.bits > 0;
    facts.vectorLengths = true;
    facts.arithmetic.narrowing = false;
    facts.arithmetic.halfConversions = has("+zfhmin") && (!vectors || has("+zvfhmin"));
    facts.arithmetic.rounding = triple.isArch64Bit() && has("+d");
  } else if (triple.isAArch64()) {
    // The architecture has registers of 128 to 2048 bits.
    if (has("+sve")) facts.leastVectorBits = std::max(128, target::guaranteedVectorBits(target));
  } else if (triple.isARM() || triple.isThumb()) {
    facts.arithmetic.halfConversions = false;
    facts.arithmetic.rounding = has("+fp-armv8") && has("+fp64");
  }
  return facts;
}

Result<Compilation> build(const ir::Program& program, const target::Target& target,
                          bool lines = false) {
  if (Status fits = moves::lowerable(program, target); !fits) return fits.error();
  Result<llvm::TargetMachine*> machine = machineFor(target);
  if (!machine) return machine.error();

  Compilation compilation;
  compilation.machine = *machine;
  compilation.context = std::make_unique<llvm::LLVMContext>();
  compilation.context->setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* complaint) {
        if (info->getSeverity() != llvm::DS_Error) return;
        llvm::raw_string_ostream stream(*static_cast<std::string*>(complaint));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      compilation.complaint.get());
  compilation.module = std::make_unique<llvm::Module>(program.name, *compilation.context);
  compat::setTriple(*compilation.module, (*machine)->getTargetTriple());
  compilation.module->setDataLayout((*machine)->createDataLayout());
  const Plan plan = makePlan(program, target);
  Emitter emitter(*compilation.module, program, plan, factsOf(**machine, target));
  std::optional<LineMarks> marks;
  if (lines) emitter.mark(&marks.emplace(*compilation.module, program));
  if (Status emitted = emitter.run(); !emitted) return emitted.error();
  if (marks) marks->finish();
  return compilation;
}

Result<std::string> emitted(const ir::Program& program, const target::Target& target, FileKind kind,
                            bool lines = false) {
  std::vector<std::string> wanted;
  for (;;) {
    Result<Compilation> built = build(program, target, lines);
    if (!built) return built.error();
    const std::vector<std::string> missing =
        wanted.empty() ? wanted : addRoutines(*built->module, *built->machine, wanted);
    if (!missing.empty()) {
      return Error{"compile.routine",
                   "the program needs '" + missing.front() + "', which target " + target.name +
                       " has no instructions for and PerfDojo no routine",
                   "", ""};
    }
    Result<std::string> bytes = emit(*built->module, *built->machine, kind);
    if (bytes && !built->complaint->empty()) {
      return Error{"compile.backend", *built->complaint, "", ""};
    }
    if (!bytes || kind != FileKind::object) return bytes;
    // What has no instruction became a call: once more, with what is called.
    Result<std::vector<std::string>> calls = undefinedSymbols(*bytes);
    if (!calls) return calls.error();
    for (const char* service : {kParallelFor, kDmaCopy, kDmaWait}) std::erase(*calls, service);
    std::erase_if(*calls, [](const std::string& name) { return name.starts_with("_GLOBAL_"); });
    if (calls->empty()) return bytes;
    wanted.insert(wanted.end(), calls->begin(), calls->end());
  }
}

Object objectOf(const std::string& file) {
  Object object;
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  object.bytes.assign(bytes, bytes + file.size());
  return object;
}

}  // namespace

std::vector<AbiBuffer> abi(const ir::Program& program) {
  std::vector<AbiBuffer> passed;
  const std::vector<std::int64_t> sizes = ir::storageSizes(program);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ir::Buffer& buffer = program.buffers[i];
    if (buffer.isLocal() || buffer.shares >= 0) continue;
    passed.push_back({static_cast<ir::BufferId>(i), sizes[i] * ir::sizeBytes(buffer.dtype)});
  }
  return passed;
}

Result<Object> compile(const ir::Program& program, const target::Target& target) {
  const Result<std::string> file = emitted(program, target, FileKind::object);
  if (!file) return file.error();
  return objectOf(*file);
}

Result<LinedObject> compileWithLines(const ir::Program& program, const target::Target& target) {
  const Result<std::string> file = emitted(program, target, FileKind::object, true);
  if (!file) return file.error();
  Result<std::vector<CodeLine>> lines = readLines(*file);
  if (!lines) return lines.error();
  return LinedObject{objectOf(*file), std::move(*lines)};
}

Result<std::string> llvmText(const ir::Program& program, const target::Target& target) {
  Result<Compilation> built = build(program, target);
  if (!built) return built.error();
  std::string text;
  llvm::raw_string_ostream stream(text);
  const bool broken = llvm::verifyModule(*built->module, &stream);
  DOJO_CHECK(!broken, "emitted code that LLVM refuses: " + text);
  built->module->print(stream, nullptr);
  return text;
}

Result<std::string> assemblyText(const ir::Program& program, const target::Target& target) {
  return emitted(program, target, FileKind::assembly);
}

}  // namespace dojo::codegen
