/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The standard streams of the emulator or debugger that runs this, by semihosting: many bytes at a
 * time, where an emulated UART hands over a few. Only waiting reads are to be had, so while a
 * kernel runs nothing is heard: an ABORT waits for its end. Semihosting for AArch32 and AArch64,
 * Arm 2020: SYS_OPEN, SYS_WRITE, SYS_READ. */
#include "ports/bare/bare.h"

enum { OPEN = 1, WRITE = 5, READ = 6 };

static uintptr_t in, out;
static uint8_t came[64], going[64];
static uint8_t taken, there, pending;

static uintptr_t ask(uintptr_t operation, uintptr_t first, const void* second, uintptr_t third) {
  uintptr_t block[3] = {first, (uintptr_t)second, third};
  return dojo_machine_ask(operation, (uintptr_t)block);
}

void dojo_console_init(void) {
  static const char input[] = "/dev/stdin", output[] = "/dev/stdout";
  in = ask(OPEN, (uintptr_t)input, (const void*)1, sizeof input - 1);
  out = ask(OPEN, (uintptr_t)output, (const void*)8, sizeof output - 1);
}

void dojo_console_flush(void) {
  if (pending != 0) (void)ask(WRITE, out, going, pending);
  pending = 0;
}

void dojo_console_put(uint8_t byte) {
  going[pending++] = byte;
  if (pending == sizeof going) dojo_console_flush();
}

int dojo_console_get(int wait) {
  if (taken == there) {
    if (!wait) return -1;
    taken = 0;
    /* What wasn't read is told; all of it at the end of the stream, when the host has gone. */
    there = (uint8_t)(sizeof came - ask(READ, in, came, sizeof came));
    if (there == 0) dojo_machine_stop();
    return there == 0 ? -1 : came[taken++];
  }
  return came[taken++];
}
