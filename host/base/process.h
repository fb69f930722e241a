// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Child processes with their standard streams joined to ours.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dojo {

/// Splits a command into words: blanks separate, '...' and "..." and \ quote, as in a shell;
/// nothing else is special. Error "process.quote".
[[nodiscard]] Result<std::vector<std::string>> splitWords(std::string_view command);

/// A file descriptor that is closed with its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }
  void reset();
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A running child in a process group of its own, which is killed with its owner. What it prints on
/// stderr never holds it up.
class Process {
 public:
  /// Starts `words[0]` (found through PATH) with our stdin/stdout pipes and a captured stderr.
  /// `inherit` are further descriptors that stay open in the child under the same numbers. A
  /// program that can't be executed is an error here: "process.start", with the system's reason.
  [[nodiscard]] static Result<Process> start(const std::vector<std::string>& words,
                                             const std::vector<int>& inherit = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill(); }

  /// All of `bytes` within `seconds`. Errors: "process.closed", "process.timeout".
  [[nodiscard]] Status write(std::span<const std::byte> bytes, double seconds);
  /// What has arrived, waiting at most `seconds` for the first byte; 0: nothing in that time.
  /// Error "process.closed" at the end of the stream.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> into, double seconds);
  /// What the child printed on stderr so far, at most the last 4 KiB.
  [[nodiscard]] std::string complaints();
  /// "exit status 3", "killed by signal 9 (Killed)", "still running"; waits up to `seconds`.
  [[nodiscard]] std::string ending(double seconds);
  [[nodiscard]] int pid() const { return pid_; }
  void kill();  ///< SIGKILL to the group, and reap.

 private:
  Process() = default;
  bool reap(double seconds);
  /// Waits for `events` on `fd`, taking complaints meanwhile; false when `seconds` have passed.
  bool wait(int fd, short events, double seconds);
  void hear();

  int pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  FileDescriptor in_, out_, err_;
  std::string complaints_;
};

/// SIGKILL to every Process there is: for a program that ends without destroying them. May be
/// called from a signal handler.
void killAllProcesses();

/// Number of cores this process may run on.
[[nodiscard]] int usableCores();
/// Keeps the calling thread, and threads it starts from now on, off `cores`, the first of them
/// first and as long as one core is left. Processes started by Process::start are not affected.
/// False where nothing changed.
bool keepOff(const std::vector<int>& cores);

}  // namespace dojo
