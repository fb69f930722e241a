/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ports/bare/bare.h"
#include "ports/riscv/extensions.h"

_Static_assert(offsetof(struct dojo_guard, start) == 10 * sizeof(uintptr_t), "start.S knows it");

#define READ(csr)                                     \
  ({                                                  \
    uintptr_t value_;                                 \
    __asm__ volatile("csrr %0, " csr : "=r"(value_)); \
    value_;                                           \
  })

void dojo_machine_init(void) {}

uint64_t dojo_machine_ticks(void) {
#if __riscv_xlen == 64
  return READ("mcycle");
#else
  uint32_t high, low;
  do {
    high = READ("mcycleh");
    low = READ("mcycle");
  } while (READ("mcycleh") != high);
  return (uint64_t)high << 32 | low;
#endif
}

uint64_t dojo_machine_elapsed(void) { return dojo_guard.end[0] - dojo_guard.start[0]; }

uint8_t dojo_machine_cause(void) {
  /* By mcause, from 0. */
  static const uint8_t causes[16] = {
      DOJO_CAUSE_MISALIGNED,  DOJO_CAUSE_ACCESS,      DOJO_CAUSE_ILLEGAL,
      DOJO_CAUSE_TRAP,        DOJO_CAUSE_MISALIGNED,  DOJO_CAUSE_ACCESS,
      DOJO_CAUSE_MISALIGNED,  DOJO_CAUSE_ACCESS,      DOJO_CAUSE_SYSTEM_CALL,
      DOJO_CAUSE_SYSTEM_CALL, DOJO_CAUSE_SYSTEM_CALL, DOJO_CAUSE_SYSTEM_CALL,
      DOJO_CAUSE_ACCESS,      DOJO_CAUSE_ACCESS,      DOJO_CAUSE_TRAP,
      DOJO_CAUSE_ACCESS};
  uintptr_t cause = dojo_guard.cause;
  if ((intptr_t)cause < 0) return DOJO_CAUSE_TIMEOUT; /* the only interrupt that is enabled */
  return cause < sizeof causes ? causes[cause] : DOJO_CAUSE_TRAP;
}

char* dojo_machine_isa(char* into) {
  into = dojo_text(into, __riscv_xlen == 64 ? "riscv64" : "riscv32");
  const uint8_t* code = dojo_extension_code;
  const char* name = dojo_extension_names;
  do {
    char* end = dojo_text(dojo_text(into, " "), name);
    if (dojo_returns((uintptr_t)code) && *name != 0) into = end;
    code += DOJO_EXTENSION_BYTES;
    while (*name++ != 0) continue;
  } while (name != dojo_extension_names_end);
#if DOJO_VECTORS
  if ((READ("mstatus") & 0x600) != 0) { /* vlenb is there */
    into = dojo_text(into, " vlen=");
    into = dojo_number(into, 8 * (uint32_t)READ("0xc22"));
  }
#endif
  return into;
}

void dojo_machine_items(void) {}
