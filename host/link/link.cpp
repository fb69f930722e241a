// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "link/link.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/JITLink/aarch32.h>
#include <llvm/ExecutionEngine/JITLink/riscv.h>
#include <llvm/Support/MathExtras.h>

namespace dojo::link {
namespace {

namespace jl = llvm::jitlink;
namespace orc = llvm::orc;

/// Lays all segments one after another from the device address on and keeps their bytes.
class DeviceMemory : public jl::JITLinkMemoryManager {
 public:
  DeviceMemory(std::uint64_t base, std::uint64_t capacity) : base_(base), capacity_(capacity) {}

  void allocate(const jl::JITLinkDylib*, jl::LinkGraph& graph,
                OnAllocatedFunction onAllocated) override {
    jl::BasicLayout layout(graph);
    std::uint64_t size = 0;
    for (auto& [group, segment] : layout.segments()) {
      const std::uint64_t align = segment.Alignment.value();
      const std::uint64_t address = (base_ + size + align - 1) / align * align;
      segment.Addr = orc::ExecutorAddr(address);
      size = address - base_ + segment.ContentSize + segment.ZeroFillSize;
    }
    needed_ = size;
    if (size > capacity_) {
      return onAllocated(llvm::createStringError(llvm::inconvertibleErrorCode(), "too large"));
    }
    bytes_.resize(size);
    for (auto& [group, segment] : layout.segments()) {
      segment.WorkingMem =
          reinterpret_cast<char*>(bytes_.data()) + (segment.Addr.getValue() - base_);
    }
    if (llvm::Error error = layout.apply()) return onAllocated(std::move(error));
    onAllocated(std::make_unique<InFlight>());
  }

  void deallocate(std::vector<FinalizedAlloc> allocations,
                  OnDeallocatedFunction onDeallocated) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();
    onDeallocated(llvm::Error::success());
  }

  [[nodiscard]] std::uint64_t needed() const { return needed_; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  class InFlight : public InFlightAlloc {
   public:
    void abandon(OnAbandonedFunction onAbandoned) override { onAbandoned(llvm::Error::success()); }
    void finalize(OnFinalizedFunction onFinalized) override {
      onFinalized(FinalizedAlloc(orc::ExecutorAddr(0)));
    }
  };

  std::uint64_t base_, capacity_;
  std::uint64_t needed_ = 0;
  std::vector<std::byte> bytes_;
};

std::string nameOf(const orc::SymbolStringPtr& symbol) { return (*symbol).str(); }
#if LLVM_VERSION_MAJOR < 20
std::string nameOf(llvm::StringRef symbol) { return symbol.str(); }
#endif

/// What a stub, which loads its target from a table, is the way to; nullptr: it is no stub.
jl::Symbol* behindStub(const jl::Symbol& symbol) {
  if (!symbol.isDefined() || symbol.getBlock().getSection().getName() != "$__STUBS") return nullptr;
  for (const jl::Edge& edge : symbol.getBlock().edges()) {
    if (!edge.getTarget().isDefined()) continue;
    const jl::Block& entry = edge.getTarget().getBlock();
    if (entry.getSection().getName() != "$__GOT" || entry.edges_size() != 1) continue;
    return &entry.edges().begin()->getTarget();
  }
  return nullptr;
}

/// RISC-V calls reach 2 GiB: those whose target is no further need no stub on the way.
llvm::Error callDirectly(jl::LinkGraph& graph) {
  if (!graph.getTargetTriple().isRISCV()) return llvm::Error::success();
  const bool all = graph.getPointerSize() == 4;
  for (jl::Block* block : graph.blocks()) {
    for (jl::Edge& edge : block->edges()) {
      if (edge.getKind() != jl::riscv::R_RISCV_CALL) continue;
      jl::Symbol* target = behindStub(edge.getTarget());
      if (target == nullptr) continue;
      const std::uint64_t from = (block->getAddress() + edge.getOffset()).getValue();
      const auto distance = static_cast<std::int64_t>(target->getAddress().getValue() - from);
      if (all || llvm::isInt<32>(distance + 0x800)) edge.setTarget(*target);
    }
  }
  return llvm::Error::success();
}

class Context : public jl::JITLinkContext {
 public:
  Context(DeviceMemory& memory, const std::map<std::string, std::uint64_t>& symbols,
          std::string entry, Image& image, std::optional<Error>& failure)
      : JITLinkContext(nullptr),
        memory_(memory),
        symbols_(symbols),
        entry_(std::move(entry)),
        image_(image),
        failure_(failure) {}

  jl::JITLinkMemoryManager& getMemoryManager() override { return memory_; }

  void notifyFailed(llvm::Error error) override {
    const std::string message = llvm::toString(std::move(error));
    if (failure_) return;
    if (memory_.needed() > memory_.capacity()) {
      failure_ = Error{"link.size",
                       fmt::format("the code needs {} bytes but there is room for {}",
                                   memory_.needed(), memory_.capacity()),
                       "", ""};
    } else {
      failure_ = Error{"link.object", message, "", ""};
    }
  }

  void lookup(const LookupMap& wanted,
              std::unique_ptr<jl::JITLinkAsyncLookupContinuation> next) override {
    jl::AsyncLookupResult found;
    for (const auto& [symbol, flags] : wanted) {
      const auto known = symbols_.find(nameOf(symbol));
      if (known != symbols_.end()) {
        found[symbol] = {orc::ExecutorAddr(known->second), llvm::JITSymbolFlags::Exported};
        continue;
      }
      failure_ = Error{
          "link.undefined",
          fmt::format("the code refers to '{}', which the device doesn't have", nameOf(symbol)), "",
          ""};
      return next->run(llvm::createStringError(llvm::inconvertibleErrorCode(), "undefined"));
    }
    next->run(std::move(found));
  }

  llvm::Error notifyResolved(jl::LinkGraph& graph) override {
    for (const jl::Symbol* symbol : graph.defined_symbols()) {
      if (symbol->hasName() && nameOf(symbol->getName()) == entry_) {
        image_.entry = symbol->getAddress().getValue();
        // As a call asks for: bit 0 says which of Arm's two instruction sets it is in.
        if (graph.getTargetTriple().isARM() || graph.getTargetTriple().isThumb()) {
          image_.entry |= symbol->getTargetFlags() & jl::aarch32::ThumbSymbol;
        }
        return llvm::Error::success();
      }
    }
    failure_ =
        Error{"link.undefined", fmt::format("the object has no symbol '{}'", entry_), "", ""};
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "no entry");
  }

  void notifyFinalized(jl::JITLinkMemoryManager::FinalizedAlloc allocation) override {
    allocation.release();
    image_.bytes = memory_.take();
  }

  [[nodiscard]] jl::LinkGraphPassFunction getMarkLivePass(const llvm::Triple&) const override {
    return jl::LinkGraphPassFunction(jl::markAllSymbolsLive);
  }

  llvm::Error modifyPassConfig(jl::LinkGraph&, jl::PassConfiguration& passes) override {
    // Nobody unwinds through a kernel.
    passes.PrePrunePasses.insert(passes.PrePrunePasses.begin(), [](jl::LinkGraph& graph) {
      if (jl::Section* frames = graph.findSectionByName(".eh_frame")) graph.removeSection(*frames);
      return llvm::Error::success();
    });
    passes.PreFixupPasses.push_back(callDirectly);
    return llvm::Error::success();
  }

 private:
  DeviceMemory& memory_;
  const std::map<std::string, std::uint64_t>& symbols_;
  std::string entry_;
  Image& image_;
  std::optional<Error>& failure_;
};

}  // namespace

Result<Image> place(const std::vector<std::byte>& object, const std::string& entry,
                    std::uint64_t base, std::uint64_t capacity,
                    const std::map<std::string, std::uint64_t>& symbols) {
  const llvm::MemoryBufferRef bytes(
      llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()), "kernel");
#if LLVM_VERSION_MAJOR >= 20
  const auto names = std::make_shared<orc::SymbolStringPool>();  // Outlives all that link() makes.
  auto graph = jl::createLinkGraphFromObject(bytes, names);
#else
  auto graph = jl::createLinkGraphFromObject(bytes);
#endif
  if (!graph) return Error{"link.object", llvm::toString(graph.takeError()), "", ""};

  Image image;
  image.base = base;
  std::optional<Error> failure;
  DeviceMemory memory(base, capacity);
  jl::link(std::move(*graph), std::make_unique<Context>(memory, symbols, entry, image, failure));
  if (failure) return *failure;
  return image;
}

}  // namespace dojo::link
