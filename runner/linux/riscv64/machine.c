/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "linux/machine.h"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "ports/riscv/extensions.h"

_Static_assert(offsetof(struct dojo_guard, active) == 56, "call.S knows the layout");

static uint64_t read_cycle(void) {
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
  return value;
}

static uint64_t read_time(void) {
  uint64_t value;
  __asm__ volatile("rdtime %0" : "=r"(value)::"memory");
  return value;
}

const struct dojo_tick_source dojo_tick_sources[] = {
    {"cycle", read_cycle}, {"time", read_time}, {"monotonic-ns", dojo_ticks_clock}, {0}};

void dojo_machine_init(void) {
  dojo_ticks_choose();
  dojo_sweep_init();
}

void dojo_machine_settle(void) { __asm__ volatile("fscsr zero"); }

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

void dojo_machine_pause(void) { __asm__ volatile(".4byte 0x0100000f"); /* pause: a fence */ }

/* What makes the next one possible; in one go, since system calls may forget vector settings. */
static uintptr_t before;

static void run(uintptr_t code) {
  if (before != 0) ((void (*)(void))before)();
  ((void (*)(void))code)();
}

static uint64_t vlenb;
static void read_vlenb(uintptr_t unused) {
  (void)unused;
  __asm__ volatile(".4byte 0xc2202573\n mv %0, a0" : "=r"(vlenb)::"a0"); /* csrr a0, vlenb */
}

const char* dojo_machine_isa(char* into, size_t most) {
  size_t used = (size_t)snprintf(into, most, "riscv64");
  const uint8_t* code = dojo_extension_code;
  for (const char* name = dojo_extension_names; name != dojo_extension_names_end;
       name += strlen(name) + 1) {
    if (*name != 0 && !dojo_fails(run, (uintptr_t)code) && used < most) {
      used += (size_t)snprintf(into + used, most - used, " %s", name);
    }
    before = *name != 0 ? 0 : (uintptr_t)code;
    code += DOJO_EXTENSION_BYTES;
  }
  if (!dojo_fails(read_vlenb, 0) && used < most) {
    snprintf(into + used, most - used, " vlen=%u", (unsigned)(8 * vlenb));
  }
  return into;
}

uintptr_t dojo_machine_pc(const void* context) {
  return ((const ucontext_t*)context)->uc_mcontext.__gregs[REG_PC];
}

void dojo_machine_redirect(void* context) {
  ((ucontext_t*)context)->uc_mcontext.__gregs[REG_PC] = (uintptr_t)dojo_machine_escape;
}
