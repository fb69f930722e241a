/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "linux/machine.h"

#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

_Static_assert(offsetof(struct dojo_guard, active) == 56, "call.S knows the layout");

void dojo_machine_init(void) { __builtin_cpu_init(); }

void dojo_machine_settle(void) {
  __asm__ volatile("fninit");
  _mm_setcsr(0x1f80);
}

uint64_t dojo_machine_ticks(void) { return __builtin_ia32_rdtsc(); }

/* A dependent 64-bit multiply takes 3 cycles on every x86-64 since 2008. */
uint32_t dojo_machine_chain_cycles(void) { return 2 * 320 * 16 * 3; }

void dojo_machine_evict(uintptr_t address, size_t bytes) {
  uintptr_t end = address + bytes;
  for (address &= ~(uintptr_t)63; address < end; address += 64) _mm_clflush((void*)address);
  _mm_mfence();
}

void dojo_machine_pause(void) { _mm_pause(); }

const char* dojo_machine_counter(void) { return "tsc"; }

const char* dojo_machine_isa(char* into, size_t most) {
  size_t used = (size_t)snprintf(into, most, "x86-64");
#define FEATURE(text)                                                \
  if (__builtin_cpu_supports(text) && used < most) {                 \
    used += (size_t)snprintf(into + used, most - used, " %s", text); \
  }
  FEATURE("sse4.2")
  FEATURE("avx")
  FEATURE("avx2")
  FEATURE("fma")
  FEATURE("bmi2")
  FEATURE("avx512f")
  FEATURE("avx512dq")
  FEATURE("avx512bw")
  FEATURE("avx512vl")
  FEATURE("avx512vnni")
  FEATURE("avx512bf16")
#undef FEATURE
  return into;
}

uintptr_t dojo_machine_pc(const void* context) {
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
}

void dojo_machine_redirect(void* context) {
  ucontext_t* user = context;
  user->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)dojo_machine_escape;
  /* No single step, no direction flag, no alignment check. */
  user->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x40500;
}
