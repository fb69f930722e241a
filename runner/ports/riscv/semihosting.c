/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ports/bare/bare.h"

__attribute__((noinline)) uintptr_t dojo_machine_ask(uintptr_t operation, uintptr_t argument) {
  register uintptr_t a0 __asm__("a0") = operation;
  register uintptr_t a1 __asm__("a1") = argument;
  /* Recognised by what stands around it, uncompressed and on one page. */
  __asm__ volatile(
      ".option push\n .option norvc\n .p2align 4\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n"
      ".option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
}

void dojo_machine_stop(void) {
#if __riscv_xlen == 64
  static const uint64_t block[2] = {0x20026, 0};
  (void)dojo_machine_ask(0x18, (uintptr_t)block);
#else
  (void)dojo_machine_ask(0x18, 0x20026);
#endif
}
