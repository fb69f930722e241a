# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Time counts more than size: every cycle is simulated.
set(DOJO_OPTIMISE -O2 -mno-save-restore)
set(DOJO_BORROWED "${here}/ports/riscv/machine.c" "${here}/ports/riscv/extensions.S")
