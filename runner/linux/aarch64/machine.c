/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "linux/machine.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <ucontext.h>

_Static_assert(offsetof(struct dojo_guard, active) == 56, "call.S knows the layout");

static uint64_t read_cycles(void) {
  uint64_t value;
  __asm__ volatile("isb\n mrs %0, pmccntr_el0\n isb" : "=r"(value)::"memory");
  return value;
}

static uint64_t read_timer(void) {
  uint64_t value;
  __asm__ volatile("isb\n mrs %0, cntvct_el0\n isb" : "=r"(value)::"memory");
  return value;
}

const struct dojo_tick_source dojo_tick_sources[] = {
    {"pmccntr", read_cycles}, {"cntvct", read_timer}, {"monotonic-ns", dojo_ticks_clock}, {0}};

void dojo_machine_init(void) { dojo_ticks_choose(); }

void dojo_machine_settle(void) { __asm__ volatile("msr fpcr, xzr\n msr fpsr, xzr"); }

void dojo_chain_run(void);

uint64_t dojo_machine_chain(void) {
  uint64_t start = dojo_ticks();
  dojo_chain_run();
  return dojo_ticks() - start;
}

/* An addition takes one cycle everywhere. */
uint32_t dojo_machine_chain_cycles(void) { return 2 * 80 * 64; }

void dojo_machine_evict(uintptr_t address, size_t bytes) {
  uint64_t type;
  __asm__("mrs %0, ctr_el0" : "=r"(type));
  uintptr_t line = (uintptr_t)4 << (type >> 16 & 15), end = address + bytes;
  for (address &= ~(line - 1); address < end; address += line) {
    __asm__ volatile("dc civac, %0" ::"r"(address) : "memory");
  }
  __asm__ volatile("dsb sy" ::: "memory");
}

void dojo_machine_pause(void) { __asm__ volatile("yield"); }

static uint64_t vector_bytes;
static void read_length(uintptr_t unused) {
  (void)unused;
  /* rdvl x0, #1 */
  __asm__ volatile(".inst 0x04bf5020\n mov %0, x0" : "=r"(vector_bytes)::"x0");
}

/* As in the kernel's uapi/asm/hwcap.h, whose installed copy may be too old for some. */
static const struct {
  unsigned long type;
  int bit;
  const char* name;
} features[] = {
    {AT_HWCAP, 0, "fp-armv8"},  {AT_HWCAP, 1, "neon"},     {AT_HWCAP, 3, "aes"},
    {AT_HWCAP, 6, "sha2"},      {AT_HWCAP, 7, "crc"},      {AT_HWCAP, 8, "lse"},
    {AT_HWCAP, 10, "fullfp16"}, {AT_HWCAP, 20, "dotprod"}, {AT_HWCAP, 22, "sve"},
    {AT_HWCAP2, 1, "sve2"},     {AT_HWCAP2, 13, "i8mm"},   {AT_HWCAP2, 14, "bf16"},
    {AT_HWCAP2, 23, "sme"},
};

const char* dojo_machine_isa(char* into, size_t most) {
  size_t used = (size_t)snprintf(into, most, "aarch64");
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i) {
    if ((getauxval(features[i].type) >> features[i].bit & 1) == 0 || used >= most) continue;
    used += (size_t)snprintf(into + used, most - used, " %s", features[i].name);
  }
  if (!dojo_fails(read_length, 0) && used < most) {
    snprintf(into + used, most - used, " vlen=%u", (unsigned)(8 * vector_bytes));
  }
  return into;
}

uintptr_t dojo_machine_pc(const void* context) {
  return ((const ucontext_t*)context)->uc_mcontext.pc;
}

void dojo_machine_redirect(void* context) {
  ucontext_t* user = context;
  user->uc_mcontext.pc = (uintptr_t)dojo_machine_escape;
  user->uc_mcontext.pstate &= ~(uint64_t)0xc00; /* BTYPE */
}
