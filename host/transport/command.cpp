// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/command.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"

namespace dojo::transport {
namespace {

class Command : public Transport {
 public:
  explicit Command(CommandOptions options) : options_(std::move(options)) {}
  ~Command() override {
    process_.reset();
    if (memory_ != nullptr) munmap(memory_, memoryBytes());
  }

  Status open() override {
    auto words = splitWords(options_.command);
    if (!words) return Error{"link.start", words.error().message};
    std::vector<std::string> expanded;
    for (const std::string& word : *words) {
      if (word == "{memory}") {
        if (Status made = makeMemory(); !made) return made;
        for (const std::string& part :
             {std::string("--memory-fd"), std::to_string(file_.get()), std::string("--code-bytes"),
              std::to_string(options_.codeBytes), std::string("--data-bytes"),
              std::to_string(options_.dataBytes)}) {
          expanded.push_back(part);
        }
      } else if (word == "{runner}") {
        expanded.push_back(options_.runnerPath);
      } else {
        expanded.push_back(word);
      }
    }
    std::vector<int> inherit;
    if (file_) inherit.push_back(file_.get());
    auto started = Process::start(expanded, inherit);
    if (!started) return Error{"link.start", started.error().message};
    process_.emplace(std::move(*started));
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
    return got;
  }

  Status recover() override {
    process_.reset();
    return open();
  }

  SharedMemory shared() override {
    if (memory_ == nullptr) return {};
    return {std::span(static_cast<std::byte*>(memory_), memoryBytes())};
  }

  std::string describe() const override {
    std::string text = options_.command;
    if (const auto at = text.find("{runner}"); at != std::string::npos) {
      text.replace(at, 8, options_.runnerPath);
    }
    if (const auto at = text.find(" {memory}"); at != std::string::npos) text.erase(at, 9);
    return text;
  }

 private:
  std::size_t memoryBytes() const { return options_.codeBytes + options_.dataBytes; }

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

  Error closed() {
    Error error{"link.closed", fmt::format("'{}' is not running", describe())};
    if (process_) {
      const std::string ending = process_->ending(0.5);
      error.message = ending == "still running"
                          ? fmt::format("'{}' closed the link and runs on", describe())
                          : fmt::format("'{}' ended: {}", describe(), ending);
      error.detail = process_->complaints();
      while (!error.detail.empty() && error.detail.back() == '\n') error.detail.pop_back();
    }
    return error;
  }

  CommandOptions options_;
  FileDescriptor file_;
  void* memory_ = nullptr;
  std::optional<Process> process_;
};

}  // namespace

std::unique_ptr<Transport> makeCommand(CommandOptions options) {
  return std::make_unique<Command>(std::move(options));
}

}  // namespace dojo::transport
