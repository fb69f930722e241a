// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The runner's core on a board that is a thread of this process. Its kernels are numbers: entry n
/// runs kernels[n].
#pragma once

#include <condition_variable>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/port.h"

namespace dojo {

class Board {
 public:
  static constexpr std::size_t kMemory = 4096;
  static Board& get();

  /// Starts the core in a thread; stops it first where it runs. Memory stays.
  void start();
  void stop();

  /// The cable.
  void toBoard(std::span<const std::byte> bytes);
  /// Waits at most `seconds` for the first byte.
  std::vector<std::byte> fromBoard(double seconds);

  /// Device addresses of the memory, which is real memory of this process.
  [[nodiscard]] std::uint64_t base() const;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kMemory);

  /// Returns 0 or the cause of a fault.
  std::vector<std::function<int(const dojo_batch&, dojo_counts&)>> kernels;
  int batches = 0;
  int evictions = 0;
  int resets = 0;
  bool canaryBroken = false;  ///< Until it's asked for.

  // What the port functions use.
  std::size_t receive(std::uint8_t* into, std::size_t most, bool wait);
  void send(const std::uint8_t* bytes, std::size_t count);

 private:
  ~Board() { stop(); }
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint8_t> in_, out_;
  bool stopping_ = false;
  std::jmp_buf exit_{};
};

}  // namespace dojo
