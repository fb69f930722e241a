/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The front-end server of RISC-V simulators: `tohost` is given the address of a block of eight
 * double words that says which system call is wanted (64: write); it answers in `fromhost`. An odd
 * value ends the simulation. There is no way in. */
#include "ports/bare/bare.h"

/* In memory that the server sees, which is where the image is loaded. */
#define SHARED __attribute__((section(".htif"), used, aligned(64)))
volatile uint64_t tohost SHARED = 0;
volatile uint64_t fromhost SHARED = 0;
static volatile uint64_t block[8] SHARED = {0};
static uint8_t line[256] SHARED = {0};

enum { SYS_WRITE = 64, STDOUT = 1 };
static unsigned pending;

/* The low word is what the server looks at first; it must be the last that is written. */
static void ask(uint32_t low) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  ((volatile uint32_t*)&tohost)[1] = 0;
  ((volatile uint32_t*)&tohost)[0] = low;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void dojo_console_init(void) {}

void dojo_console_flush(void) {
  if (pending == 0) return;
  block[0] = SYS_WRITE;
  block[1] = STDOUT;
  block[2] = (uintptr_t)line;
  block[3] = pending;
  ask((uint32_t)(uintptr_t)block);
  while (((volatile uint32_t*)&fromhost)[0] == 0) continue;
  fromhost = 0;
  pending = 0;
}

void dojo_console_put(uint8_t byte) {
  line[pending++] = byte;
  if (pending == sizeof line) dojo_console_flush();
}

int dojo_console_get(int wait) {
  (void)wait;
  return -1;
}

void dojo_console_end(void) {
  dojo_console_flush();
  ask(1); /* status 0 */
}
