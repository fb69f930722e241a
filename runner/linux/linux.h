/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * What the files of the Linux port share.
 */
#ifndef DOJO_LINUX_H
#define DOJO_LINUX_H

#include <stddef.h>
#include <stdint.h>

#include "core/port.h"
#include "protocol/abi.h"

#define DOJO_MOST_HARTS 256

/** Set once from the command line. */
struct dojo_options {
  int memory_fd; /* -1: private memory */
  uint64_t code_bytes, data_bytes;
  int core;  /* of hart 0; -1: the last one we may use */
  int harts; /* 0: as many as cores we may use */
  int confine;
};
extern struct dojo_options dojo_options;

/** "dojo-runner: WHAT: REASON" on stderr, and exit. */
_Noreturn void dojo_die(const char* what, const char* reason);

/* memory.c */
void dojo_memory_init(void);
void dojo_memory_items(void);
/** Makes what was written into the code region visible to instruction fetch on this core. */
void dojo_memory_sync(void);
extern uintptr_t dojo_code_base;

/* stack.c: stacks for foreign code, between guard pages, a canary above. */
#define DOJO_STACK_BYTES ((size_t)8 << 20)
uintptr_t dojo_stack_make(void); /* the top; registered for dojo_port_canary() */

/* kernel.c */
void dojo_kernel_init(void);
/** For every thread that runs foreign code: its stack and signal stack. */
void dojo_kernel_thread_init(unsigned hart);
/** The first fault since the batch began; cause 0: none. */
extern struct dojo_fault dojo_first_fault;
/** Reports a fault of foreign code; the first wins. */
void dojo_report(const struct dojo_fault* fault);
/** The signal by which a thread is told to leave its foreign code. */
#define DOJO_SIGNAL_LEAVE SIGUSR1

/* pool.c */
void dojo_pool_init(void);
/** Harts that serve the next batch. */
void dojo_pool_select(unsigned harts);
/** After foreign code ended by whatever way: 0 when no hart runs any. */
int dojo_pool_quiet(void);
void dojo_pool_items(void);
void dojo_parallel_for(dojo_body_fn body, void* context, int64_t count);

/* counters.c */
void dojo_counters_init(void);
void dojo_counters_items(void);
/** Values of the counters asked for by `mask`, ascending ids. */
void dojo_counters_read(uint8_t mask, uint64_t values[DOJO_EXTRA_COUNTERS]);
extern double dojo_ticks_hz;

/* confine.c */
void dojo_confine(void);

#endif
