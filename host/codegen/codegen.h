// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Program to machine code, in process through LLVM. No LLVM type shows here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "target/target.h"

namespace dojo::codegen {

/// The symbol of the compiled kernel: `void dojo_kernel(void *const *buffers)`, see
/// runner/protocol/abi.h. buffers: the arguments in declared order, then the tmp buffers that
/// live in addressable memory (all but stack and register), in declared order; of those that share
/// storage the first.
constexpr const char* kEntry = "dojo_kernel";

/// A buffer that the caller of a kernel passes.
struct AbiBuffer {
  ir::BufferId id;
  std::int64_t bytes;
};
[[nodiscard]] std::vector<AbiBuffer> abi(const ir::Program& program);

/// A relocatable object file for the target.
struct Object {
  std::vector<std::byte> bytes;
};

/// Lowers, emits and compiles. Thread-safe; a fresh LLVM context a call, one machine description a
/// thread and target. Refuses what moves::lowerable refuses. Errors: "lower.*", "compile.*".
[[nodiscard]] Result<Object> compile(const ir::Program& program, const target::Target& target);
/// From `offset` on, counted in bytes from the kernel's entry, code comes from this line of
/// print(program); 0: from none.
struct CodeLine {
  std::int64_t offset = 0;
  int line = 0;
};
/// An object that says where its code comes from, in order of offset: for profiles.
struct LinedObject {
  Object object;
  std::vector<CodeLine> lines;
};
[[nodiscard]] Result<LinedObject> compileWithLines(const ir::Program& program,
                                                   const target::Target& target);
/// The module as LLVM's text (verified), and the assembly of it.
[[nodiscard]] Result<std::string> llvmText(const ir::Program& program,
                                           const target::Target& target);
[[nodiscard]] Result<std::string> assemblyText(const ir::Program& program,
                                               const target::Target& target);

/// What "native" means in a target that is this machine.
[[nodiscard]] std::string hostCpu();
[[nodiscard]] std::string hostFeatures();  ///< "+avx512f,-amx-tile,..."

}  // namespace dojo::codegen
