// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/lines.h"

#include <algorithm>

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include "ir/print.h"

namespace dojo::codegen {
namespace {

/// Regions write ".loc 1 LINE" themselves: in this version of the format the only file is number 1.
constexpr unsigned kDwarfVersion = 4;

/// Where the kernel's entry lies in its section; nullopt: there is none.
std::optional<std::uint64_t> entryOffset(const llvm::object::ObjectFile& object) {
  for (const llvm::object::SymbolRef& symbol : object.symbols()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    llvm::Expected<std::uint64_t> address = symbol.getAddress();
    const bool both = name && address;
    if (both && *name == kEntry) return *address;
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
  }
  return std::nullopt;
}

}  // namespace

LineMarks::LineMarks(llvm::Module& module, const ir::Program& program) : builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", kDwarfVersion);
  file_ = builder_.createFile(program.name + ".dojo", ".");
#if LLVM_VERSION_MAJOR >= 22
  const llvm::DISourceLanguageName language(llvm::dwarf::DW_LANG_C99);
#else
  const auto language = llvm::dwarf::DW_LANG_C99;
#endif
  builder_.createCompileUnit(language, file_, "dojo", true, "", 0, "",
                             llvm::DICompileUnit::LineTablesOnly);
  ir::Path path;
  number(program, program.body, path);
}

void LineMarks::number(const ir::Program& program, const std::vector<ir::Node>& body,
                       ir::Path& path) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    path.push_back(static_cast<int>(i));
    lines_[&body[i]] = static_cast<unsigned>(ir::lineOf(program, path));
    if (body[i].isScope()) number(program, body[i].scope().body, path);
    path.pop_back();
  }
}

void LineMarks::enter(llvm::Function& function) {
  auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  function.setSubprogram(builder_.createFunction(file_, function.getName(), "", file_, 0, type, 0,
                                                 llvm::DINode::FlagZero,
                                                 llvm::DISubprogram::toSPFlags(false, true, true)));
}

llvm::DebugLoc LineMarks::at(const ir::Node& node, const llvm::Function& function) const {
  const auto line = lines_.find(&node);
  if (line == lines_.end()) return around(function);
  return llvm::DILocation::get(function.getContext(), line->second, 0, function.getSubprogram());
}

llvm::DebugLoc LineMarks::around(const llvm::Function& function) {
  return llvm::DILocation::get(function.getContext(), 0, 0, function.getSubprogram());
}

Result<std::vector<CodeLine>> readLines(const std::string& object) {
  const llvm::MemoryBufferRef bytes(llvm::StringRef(object.data(), object.size()), "kernel");
  auto file = llvm::object::ObjectFile::createObjectFile(bytes);
  if (!file) return Error{"compile.backend", llvm::toString(file.takeError()), "", ""};
  const std::optional<std::uint64_t> entry = entryOffset(**file);
  if (!entry) return Error{"compile.backend", "the object has no kernel", "", ""};
  const auto context = llvm::DWARFContext::create(**file);
  std::vector<CodeLine> out;
  for (const auto& unit : context->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* table = context->getLineTableForUnit(unit.get());
    if (table == nullptr) continue;
    for (const llvm::DWARFDebugLine::Row& row : table->Rows) {
      const auto offset = static_cast<std::int64_t>(row.Address.Address - *entry);
      out.push_back({offset, row.EndSequence ? 0 : static_cast<int>(row.Line)});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CodeLine& a, const CodeLine& b) { return a.offset < b.offset; });
  return out;
}

}  // namespace dojo::codegen
