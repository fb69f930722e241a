// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Compiled kernels called in this process, for tests only: the product runs them in a runner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "link/link.h"
#include "protocol/abi.h"

namespace dojo::test {

/// Executable memory with a placed kernel in it.
class Loaded {
 public:
  /// Places `object` at the pages' own address; services: dojo_parallel_for, in random order.
  static Result<Loaded> load(const std::vector<std::byte>& object);
  Loaded(Loaded&& other) noexcept;
  Loaded& operator=(Loaded&&) = delete;
  ~Loaded();
  void call(void* const* buffers) const { entry_(buffers); }

 private:
  Loaded() = default;
  void* pages_ = nullptr;
  dojo_kernel_fn entry_ = nullptr;
};

/// Memory for the buffers of a kernel: aligned, with guard bands that are checked, outs and tmps
/// poisoned.
class CallBuffers {
 public:
  CallBuffers(const ir::Program& program, const std::vector<ir::Tensor>& arguments);
  [[nodiscard]] void* const* pointers() const { return pointers_.data(); }
  /// The arguments after a call.
  [[nodiscard]] std::vector<ir::Tensor> arguments() const;
  [[nodiscard]] bool guardsIntact() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes;
  };
  std::vector<ir::Tensor> shapes_;
  std::vector<Block> blocks_;
  std::vector<void*> pointers_;
};

}  // namespace dojo::test
