// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Compiled kernels called in a process of another machine, under its user-mode emulator, for tests
/// of the code generator only: the product runs them in a runner. See caller.c.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"

namespace dojo::test {

/// An instruction set that callers are built for: "riscv64", "riscv32", "aarch64", "arm".
struct There {
  std::string arch;
  std::vector<std::string> emulator;  ///< Program and options: qemu-riscv64 -cpu ...
};

class Caller {
 public:
  /// Errors "test.start": the emulator or the caller isn't there.
  static Result<std::unique_ptr<Caller>> start(const There& there);
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller();

  /// Places the object, gives it these arguments, and returns what they are afterwards. Errors:
  /// "link.*"; "test.died": what was called ended the process (it is started anew); "test.guard":
  /// memory around a buffer was written.
  Result<std::vector<ir::Tensor>> call(const ir::Program& program,
                                       const std::vector<std::byte>& object,
                                       const std::vector<ir::Tensor>& arguments);

 private:
  explicit Caller(There there) : there_(std::move(there)) {}
  Status spawn();
  void stop();
  bool send(const void* bytes, std::size_t size);
  bool receive(void* bytes, std::size_t size);
  bool write(std::uint64_t address, const std::vector<std::byte>& bytes);

  There there_;
  int pid_ = -1, to_ = -1, from_ = -1;
  std::uint64_t service_ = 0;
};

}  // namespace dojo::test
