/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * What the parts of a bare-metal port ask of each other. A port is a folder (start-up, traps,
 * counters: the machine), one of bare/console_*.c and one timer; a file of the folder takes the
 * place of that of the same name in bare/ or core/; sizes and addresses come from the target's
 * description (port_config.h, written by dojo-port).
 */
#ifndef DOJO_BARE_H
#define DOJO_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "core/port.h"

/** How foreign code is run. The assembly knows the offsets, `n * sizeof(uintptr_t)`. */
struct dojo_guard {
  uintptr_t host_sp;   /* 0: where to come back to */
  uintptr_t kernel_sp; /* 1: top of the stack that foreign code gets */
  uintptr_t entry;     /* 2 */
  uintptr_t argument;  /* 3 */
  uintptr_t left;      /* 4: calls still to do in the batch */
  uintptr_t active;    /* 5: foreign code is running */
  uintptr_t cause;     /* 6: of the trap, as the machine numbers it */
  uintptr_t pc;        /* 7 */
  uintptr_t address;   /* 8 */
  uintptr_t unused;    /* 9: the machine's own */
  uint64_t start[2];   /* 10: counter 0 and the extra one */
  uint64_t end[2];
};
extern struct dojo_guard dojo_guard;

enum dojo_return { DOJO_RETURNED = 0, DOJO_STACK_MOVED = 1, DOJO_TRAPPED = 2 };

/* The machine. */
/** Calls guard.entry(guard.argument) guard.left times (at least once) on the kernel's stack, with
 * the units of the processor as every kernel finds them, between two readings of the counters.
 * Survives any register being changed. */
int dojo_machine_batch(void);
void dojo_machine_init(void);
/** After DOJO_TRAPPED: enum dojo_cause, and the hart that it came from. */
uint8_t dojo_machine_cause(void);
uint16_t dojo_machine_hart(void);
/** DOJO_CANARY_RESTART where a fault left the machine in a state that only a reset ends; else 0. */
uint8_t dojo_machine_stuck(void);
/** How many harts the following batches run on. */
void dojo_machine_use(uint32_t harts);
/** Ticks of counter 0 from guard.start to guard.end; all ones where they can't be known. */
uint64_t dojo_machine_elapsed(void);
/** Writes the instruction set as probed; returns its end. At most DOJO_ISA_BYTES. */
char* dojo_machine_isa(char* into);
#define DOJO_ISA_BYTES 120
uint64_t dojo_machine_ticks(void);
/** Asks the debugger or simulator for an operation (Arm's semihosting, which RISC-V shares). */
uintptr_t dojo_machine_ask(uintptr_t operation, uintptr_t argument);
/** Asks it to end; run as foreign code. */
void dojo_machine_stop(void);
/** Items of INFO that the description doesn't know, by dojo_item(). */
void dojo_machine_items(void);

/** What of the code region may have been written since it was asked last. */
void dojo_written(uintptr_t* low, uintptr_t* high);
/** 1 where foreign code at `entry` returns. */
int dojo_returns(uintptr_t entry);
char* dojo_text(char* into, const char* text);
char* dojo_number(char* into, uint32_t value);

/* The console: bytes. */
void dojo_console_init(void);
void dojo_console_put(uint8_t byte);
/** -1: nothing has come; with `wait` it may stay until something does. */
int dojo_console_get(int wait);
void dojo_console_flush(void);
/** Ends the simulator; only consoles that can have it. */
void dojo_console_end(void) __attribute__((weak));

void dojo_main(void);

#endif
