// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Instruction sets that code is generated for here and run under a user-mode emulator.
#pragma once

#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/program.h"
#include "run_there/run_there.h"
#include "target/target.h"

namespace dojo::test {

/// A target, and emulators that its code must run on alike.
struct Machine {
  target::Target target;
  std::vector<There> there;
};

/// By name: "riscv64", "riscv64 vectors 128" (256, 512, 1024: lanes chosen for that width, run at
/// every width), "riscv32", "rv32imac", "rv32imafc", "aarch64", "sve", "sve 512", "armv7",
/// "cortex-m4", "cortex-m3".
[[nodiscard]] const Machine& machine(const std::string& name);
[[nodiscard]] const std::vector<Machine>& machines();

/// What is wrong with what the program leaves in its arguments on each emulator of the machine;
/// empty: nothing. "refused: ..." where lowering or compiling refuses. Compared with the
/// interpreter's error bounds.
[[nodiscard]] std::string wrongThere(const ir::Program& program, const Machine& machine,
                                     const std::vector<ir::InputSet>& sets);

}  // namespace dojo::test
