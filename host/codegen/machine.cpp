// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/machine.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include "codegen/codegen.h"

namespace dojo::codegen {
namespace {

void initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
    // Measured on candidates: loops count along their addresses already (Emitter::multiple), and
    // finding that out again takes a third of a compilation; the processors that need a schedule
    // get it before register allocation; and scheduling a long unrolled body must not take time by
    // the square of its memory accesses.
    const char* options[] = {"dojo", "-disable-lsr", "-disable-post-ra",
                             "-dag-maps-huge-region=100", "-dag-maps-reduction-size=50"};
    llvm::cl::ParseCommandLineOptions(std::size(options), options, "", &llvm::nulls());
  });
}

template <class Table>
std::vector<std::string> keys(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.Key);
  return names;
}

/// The three names closest to `name` in edit distance.
std::string nearest(const std::string& name, std::vector<std::string> names) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (std::string& other : names) {
    ranked.emplace_back(llvm::StringRef(name).edit_distance(other), std::move(other));
  }
  std::sort(ranked.begin(), ranked.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    text += (i == 0 ? "" : ", ") + ranked[i].second;
  }
  return text;
}

std::vector<std::string> splitFeatures(const std::string& features) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < features.size()) {
    const std::size_t end = std::min(features.find(',', begin), features.size());
    if (end > begin) parts.push_back(features.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status checkNames(const llvm::Target& machine, const llvm::Triple& triple, const std::string& cpu,
                  const std::string& features) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info(compat::createSubtargetInfo(machine, triple));
  if (!info) {
    return Error{"compile.triple", fmt::format("LLVM has no code generator for {}", triple.str()),
                 "", ""};
  }
  std::vector<std::string> cpus = keys(info->getAllProcessorDescriptions());
  if (!cpu.empty() && std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) {
    return Error{"compile.cpu",
                 fmt::format("CPU '{}' is not known for {}; nearest: {}", cpu, triple.str(),
                             nearest(cpu, std::move(cpus))),
                 "", ""};
  }
  std::vector<std::string> known = keys(info->getAllProcessorFeatures());
  for (const std::string& feature : splitFeatures(features)) {
    const bool signedName = feature[0] == '+' || feature[0] == '-';
    const std::string bare = signedName ? feature.substr(1) : feature;
    if (signedName && std::find(known.begin(), known.end(), bare) != known.end()) continue;
    return Error{
        "compile.features",
        fmt::format("feature '{}' is not known for {} (each is +NAME or -NAME); nearest: {}",
                    feature, triple.str(), nearest(bare, known)),
        "", ""};
  }
  return {};
}

std::optional<llvm::CodeModel::Model> codeModel(const std::string& name) {
  // RISC-V's names: within 2 GiB of address 0, and of one another.
  if (name.empty() || name == "small" || name == "medlow") return llvm::CodeModel::Small;
  if (name == "medium" || name == "medany") return llvm::CodeModel::Medium;
  if (name == "large") return llvm::CodeModel::Large;
  return std::nullopt;
}

}  // namespace

std::string hostCpu() { return llvm::sys::getHostCPUName().str(); }

std::string hostFeatures() {
#if LLVM_VERSION_MAJOR >= 19
  const auto features = llvm::sys::getHostCPUFeatures();
#endif
  std::vector<std::string> parts;
  for (const auto& feature : features) {
    parts.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ","));
}

Result<Resolved> resolve(const target::Target& target) {
  initializeLlvm();
  Resolved resolved{llvm::Triple(llvm::Triple::normalize(target.triple)), target.cpu,
                    target.features};
  std::string message;
  const llvm::Target* machine = compat::lookupTarget(resolved.triple, message);
  if (machine == nullptr) {
    return Error{"compile.triple",
                 fmt::format("LLVM has no code generator for triple '{}'", target.triple),
                 target.file, ""};
  }
  const bool native = target.cpu == "native" || target.features == "native";
  if (native &&
      llvm::Triple(llvm::sys::getProcessTriple()).getArch() != resolved.triple.getArch()) {
    return Error{"compile.native",
                 fmt::format("\"native\" says what this machine has, which is no {}",
                             resolved.triple.getArchName().str()),
                 target.file, ""};
  }
  static const std::string cpu = hostCpu();
  static const std::string features = hostFeatures();
  if (target.cpu == "native") resolved.cpu = cpu;
  if (target.features == "native") resolved.features = features;
  // What the host reports about itself is LLVM's own list.
  if (Status named = checkNames(*machine, resolved.triple, resolved.cpu,
                                target.features == "native" ? "" : resolved.features);
      !named) {
    return named.error();
  }
  return resolved;
}

Result<llvm::TargetMachine*> machineFor(const target::Target& target) {
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  const std::string key = fmt::format("{}|{}|{}|{}|{}", target.triple, target.cpu, target.features,
                                      target.abi, target.codeModel);
  if (const auto found = machines.find(key); found != machines.end()) return found->second.get();

  Result<Resolved> resolved = resolve(target);
  if (!resolved) return resolved.error();
  const auto model = codeModel(target.codeModel);
  if (!model) {
    return Error{"compile.code-model",
                 fmt::format("code model '{}' is not one of small, medium, large, medlow, medany",
                             target.codeModel),
                 target.file, ""};
  }
  std::string message;
  const llvm::Target* description = compat::lookupTarget(resolved->triple, message);
  llvm::TargetOptions options;
  // Fuses fmuladd alone, which only the inlined functions are made of: what a program says stays.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.MCOptions.ABIName = target.abi;
  std::unique_ptr<llvm::TargetMachine> machine(
      compat::createTargetMachine(*description, resolved->triple, resolved->cpu, resolved->features,
                                  options, *model, llvm::CodeGenOptLevel::Default));
  if (!machine) {
    return Error{"compile.triple", fmt::format("LLVM can't generate code for '{}'", target.triple),
                 target.file, ""};
  }
  return machines.emplace(key, std::move(machine)).first->second.get();
}

Result<std::string> emit(llvm::Module& module, llvm::TargetMachine& machine, FileKind kind) {
  llvm::SmallVector<char, 0> bytes;
  bytes.reserve(1 << 14);
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto type = kind == FileKind::object ? llvm::CodeGenFileType::ObjectFile
                                             : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    return Error{"compile.triple",
                 fmt::format("LLVM writes no such file for {}", machine.getTargetTriple().str()),
                 "", ""};
  }
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace dojo::codegen
