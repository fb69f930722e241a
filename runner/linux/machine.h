/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * What differs between instruction sets; one folder each implements it.
 */
#ifndef DOJO_LINUX_MACHINE_H
#define DOJO_LINUX_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/** How a thread runs foreign code. The assembly knows the offsets (guard.inc of each folder). */
struct dojo_guard {
  uintptr_t host_sp;   /* 0: where to come back to */
  uintptr_t kernel_sp; /* 8: top of the stack that foreign code gets */
  uintptr_t entry;     /* 16 */
  uintptr_t argument;  /* 24 */
  uint64_t left;       /* 32: calls still to do in the batch */
  uint64_t start;      /* 40 */
  uint64_t end;        /* 48 */
  uintptr_t active;    /* 56: foreign code is running */
};
extern __thread struct dojo_guard dojo_guard;

enum dojo_return { DOJO_RETURNED = 0, DOJO_STACK_MOVED = 1, DOJO_ESCAPED = 2 };

/** Calls guard.entry(guard.argument) guard.left times (at least once) on the kernel's stack,
 * between two readings of the tick counter. Survives any register being changed. */
int dojo_machine_batch(void);
/** Calls guard.entry(guard.argument) once on the kernel's stack, nothing counted. */
int dojo_machine_protected(void);
/** Leaves the foreign code of this thread: the batch or protected call returns DOJO_ESCAPED. Jumped
 * to from anywhere, with nothing but guard.host_sp. */
_Noreturn void dojo_machine_escape(void);
/** What the empty kernel costs is what a call costs. */
void dojo_empty_kernel(void* const* buffers);

/** Before a batch: flags of the floating-point unit as every kernel finds them. */
void dojo_machine_settle(void);
uint64_t dojo_machine_ticks(void);
/** Ticks of half of the dependent-multiply chain. */
uint64_t dojo_machine_chain(void);
/** Core cycles of both halves. */
uint32_t dojo_machine_chain_cycles(void);
void dojo_machine_evict(uintptr_t address, size_t bytes);
void dojo_machine_pause(void);
/** Once, before kernels run: the counter is chosen, the instruction set probed. */
void dojo_machine_init(void);
/** Writes the instruction set as probed; returns `into`. Only before kernels run. */
const char* dojo_machine_isa(char* into, size_t most);
const char* dojo_machine_counter(void); /* name of the tick counter */

/** 0 where `attempt(argument)` returns, 1 where it raises a signal. Only before kernels run. */
int dojo_fails(void (*attempt)(uintptr_t argument), uintptr_t argument);

/** For machines whose best counter may be out of our reach: from the best to one that is always
 * there. ticks.c chooses the first that can be read and counts; it implements dojo_machine_ticks()
 * and dojo_machine_counter() then. */
struct dojo_tick_source {
  const char* name;
  uint64_t (*read)(void);
};
extern const struct dojo_tick_source dojo_tick_sources[];
void dojo_ticks_choose(void);
/** The one chosen; call.S calls it. */
extern uint64_t (*dojo_ticks)(void);
uint64_t dojo_ticks_clock(void); /* nanoseconds of CLOCK_MONOTONIC */

/** Evicts all data caches without an instruction for it: reads more than they hold. */
void dojo_sweep_init(void);
void dojo_sweep(void);

/** The program counter in a signal context, and making it continue in dojo_machine_escape. */
uintptr_t dojo_machine_pc(const void* context);
void dojo_machine_redirect(void* context);

#endif
