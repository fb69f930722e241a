/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "linux/machine.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <ucontext.h>

_Static_assert(offsetof(struct dojo_guard, active) == 40, "call.S knows the layout");

static uint64_t read_timer(void) {
  uint64_t value;
  __asm__ volatile("isb\n mrrc p15, 1, %Q0, %R0, c14\n isb" : "=r"(value)::"memory");
  return value;
}

const struct dojo_tick_source dojo_tick_sources[] = {
    {"cntvct", read_timer}, {"monotonic-ns", dojo_ticks_clock}, {0}};

void dojo_machine_init(void) {
  dojo_ticks_choose();
  dojo_sweep_init();
}

void dojo_machine_settle(void) { __asm__ volatile("vmsr fpscr, %0" ::"r"(0)); }

void dojo_chain_run(void);

uint64_t dojo_machine_chain(void) {
  uint64_t start = dojo_ticks();
  dojo_chain_run();
  return dojo_ticks() - start;
}

/* An addition takes one cycle everywhere. */
uint32_t dojo_machine_chain_cycles(void) { return 2 * 80 * 64; }

void dojo_machine_evict(uintptr_t address, size_t bytes) {
  (void)address;
  (void)bytes;
  dojo_sweep();
}

void dojo_machine_pause(void) { __asm__ volatile("yield"); }

/* As in the kernel's uapi/asm/hwcap.h. */
static const struct {
  unsigned long type;
  int bit;
  const char* name;
} features[] = {
    {AT_HWCAP, 13, "vfp3"},     {AT_HWCAP, 19, "d32"},     {AT_HWCAP, 12, "neon"},
    {AT_HWCAP, 16, "vfp4"},     {AT_HWCAP, 18, "hwdiv"},   {AT_HWCAP, 17, "hwdiv-arm"},
    {AT_HWCAP, 22, "fullfp16"}, {AT_HWCAP, 24, "dotprod"}, {AT_HWCAP, 26, "bf16"},
    {AT_HWCAP, 27, "i8mm"},     {AT_HWCAP2, 0, "aes"},     {AT_HWCAP2, 3, "sha2"},
    {AT_HWCAP2, 4, "crc"},
};

const char* dojo_machine_isa(char* into, size_t most) {
  size_t used = (size_t)snprintf(into, most, "armv7");
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i) {
    if ((getauxval(features[i].type) >> features[i].bit & 1) == 0 || used >= most) continue;
    used += (size_t)snprintf(into + used, most - used, " %s", features[i].name);
  }
  return into;
}

uintptr_t dojo_machine_pc(const void* context) {
  return ((const ucontext_t*)context)->uc_mcontext.arm_pc;
}

void dojo_machine_redirect(void* context) {
  ucontext_t* user = context;
  user->uc_mcontext.arm_pc = (uintptr_t)dojo_machine_escape;
  user->uc_mcontext.arm_cpsr &= ~0x0600fc20UL; /* neither Thumb nor within its if-then block */
}
