// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/command.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"
#include "transport/server.h"

namespace dojo::transport {
namespace {

class Command : public Transport {
 public:
  explicit Command(CommandOptions options)
      : options_(std::move(options)),
        server_({.command = {},
                 .runnerPath = options_.runnerPath,
                 .reset = options_.reset,
                 .powerCycle = options_.powerCycle}) {}
  ~Command() override {
    process_.reset();
    if (memory_ != nullptr) munmap(memory_, memoryBytes());
  }

  Status open() override {
    auto words = splitWords(options_.command);
    if (!words) return Error{"link.start", words.error().message};
    std::vector<std::string> expanded;
    for (std::string word : *words) {
      if (const auto at = word.find("{memory}");
          at != std::string::npos && !options_.windows.empty()) {
        if (Status made = makeMemory(); !made) return made;
        word.replace(at, 8, fmt::format("/dev/fd/{}", file_.get()));
      }
      if (word == "{memory}") {
        if (Status made = makeMemory(); !made) return made;
        for (const std::string& part :
             {std::string("--memory-fd"), std::to_string(file_.get()), std::string("--code-bytes"),
              std::to_string(options_.codeBytes), std::string("--data-bytes"),
              std::to_string(options_.dataBytes)}) {
          expanded.push_back(part);
        }
      } else {
        auto one = server_.expand(word);
        if (!one) return one.error();
        expanded.push_back(std::move(*one));
      }
    }
    std::vector<int> inherit;
    if (file_) inherit.push_back(file_.get());
    auto started = Process::start(expanded, inherit);
    if (!started) return Error{"link.start", started.error().message};
    process_.emplace(std::move(*started));
    heard_ = false;
    return {};
  }

  Status send(std::span<const std::byte> bytes, double seconds) override {
    if (!process_) return closed();
    const Status sent = process_->write(bytes, seconds);
    if (sent) return {};
    if (sent.error().code == "process.closed") return closed();
    return Error{"link.timeout",
                 fmt::format("'{}' took no input for {:.1f} s", describe(), seconds)};
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    if (!process_) return closed();
    auto got = process_->read(into, seconds);
    if (!got) return closed();
    heard_ = heard_ || *got > 0;
    return got;
  }

  Status recover() override {
    process_.reset();
    return open();
  }

  std::vector<Rescue> rescues() override {
    std::vector<Rescue> out = server_.rescues({}, *this);
    out.back().name = "starting it again";
    // A remedy helps what is reached through the command, and the command may have ended by it.
    for (Rescue& rescue : out) {
      if (rescue.code == "link.restart") continue;
      rescue.apply = [this, apply = std::move(rescue.apply)] {
        const Status applied = apply();
        const bool ended = !process_ || process_->ending(0) != "still running";
        return applied && ended ? open() : applied;
      };
    }
    return out;
  }

  SharedMemory shared() override {
    if (memory_ == nullptr) return {};
    return {std::span(static_cast<std::byte*>(memory_), memoryBytes()), options_.windows};
  }

  std::string describe() const override {
    std::string text = options_.command;
    if (const auto at = text.find("{runner}"); at != std::string::npos) {
      text.replace(at, 8, options_.runnerPath);
    }
    if (const auto at = text.find(" --memory {memory}"); at != std::string::npos)
      text.erase(at, 18);
    if (const auto at = text.find(" {memory}"); at != std::string::npos) text.erase(at, 9);
    return text;
  }

 private:
  std::size_t memoryBytes() const {
    if (options_.windows.empty()) return options_.codeBytes + options_.dataBytes;
    return options_.windows.back().offset + options_.windows.back().size;
  }

  /// Once: the same file serves every respawn, so that what was loaded stays.
  Status makeMemory() {
    if (memory_ != nullptr) return {};
    FileDescriptor file(memfd_create("dojo", MFD_CLOEXEC));
    void* at = MAP_FAILED;
    if (file && ftruncate(file.get(), static_cast<off_t>(memoryBytes())) == 0) {
      at = mmap(nullptr, memoryBytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                file.get(), 0);
    }
    if (at == MAP_FAILED) {
      return Error{"link.start", fmt::format("can't make {} bytes of shared memory: {}",
                                             memoryBytes(), std::strerror(errno))};
    }
    (void)madvise(at, memoryBytes(), MADV_HUGEPAGE);  // where the system offers it
    file_ = std::move(file);
    memory_ = at;
    return {};
  }

  /// "link.ended" where the device's own process ended after it had spoken. What carries the link
  /// alone (ssh) says 255 when the link fails.
  Error closed() {
    Error error{"link.closed", fmt::format("'{}' is not running", describe())};
    if (process_) {
      const std::string ending = process_->ending(0.5);
      const bool ended = ending != "still running";
      error.message = ended ? fmt::format("'{}' ended: {}", describe(), ending)
                            : fmt::format("'{}' closed the link and runs on", describe());
      if (ended && heard_ && ending != "exit status 255") error.code = "link.ended";
      error.detail = process_->complaints();
      while (!error.detail.empty() && error.detail.back() == '\n') error.detail.pop_back();
    }
    return error;
  }

  CommandOptions options_;
  Server server_;
  FileDescriptor file_;
  void* memory_ = nullptr;
  std::optional<Process> process_;
  bool heard_ = false;
};

}  // namespace

std::vector<Window> modelMemory(const target::Target& target) {
  struct Stretch {
    std::uint64_t address = 0, size = 0;
    bool code = false;
  };
  std::vector<target::Memory> memories = target.memories;
  std::erase_if(memories, [](const target::Memory& memory) { return memory.roles.empty(); });
  std::sort(memories.begin(), memories.end(),
            [](const target::Memory& a, const target::Memory& b) { return a.origin < b.origin; });
  std::vector<Stretch> stretches;
  for (const target::Memory& memory : memories) {
    if (stretches.empty() || stretches.back().address + stretches.back().size != memory.origin) {
      stretches.push_back({memory.origin});
    }
    Stretch& last = stretches.back();
    last.size += memory.length;
    last.code = last.code ||
                std::find(memory.roles.begin(), memory.roles.end(), "code") != memory.roles.end();
  }
  std::stable_partition(stretches.begin(), stretches.end(),
                        [](const Stretch& stretch) { return stretch.code; });
  std::vector<Window> out;
  std::uint64_t offset = 0;
  for (const Stretch& stretch : stretches) {
    out.push_back({stretch.address, stretch.size, offset});
    offset += stretch.size;
  }
  return out;
}

std::unique_ptr<Transport> makeCommand(CommandOptions options) {
  return std::make_unique<Command>(std::move(options));
}

}  // namespace dojo::transport
