# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The runner and a kernel of as much code fit into the instruction cache (8 KiB a way) together.
set(DOJO_OPTIMISE -Oz -mno-save-restore)
set(DOJO_BORROWED "${here}/ports/riscv/machine.c" "${here}/ports/riscv/extensions.S")
