/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A UART of the 16550 family. hz 0: it was set up by what started us. */
#include "ports/bare/bare.h"

#define REGISTER(n) (*(volatile uint8_t*)(DOJO_CONSOLE_ADDRESS + (n)*DOJO_CONSOLE_STRIDE))
enum { DATA = 0, INTERRUPTS = 1, FIFO = 2, LINE = 3, STATUS = 5 };

void dojo_console_init(void) {
  REGISTER(INTERRUPTS) = 0;
#if DOJO_CONSOLE_HZ
  const unsigned divisor =
      (DOJO_CONSOLE_HZ + 8 * DOJO_CONSOLE_BAUD) / (16 * DOJO_CONSOLE_BAUD) | !DOJO_CONSOLE_HZ;
  REGISTER(LINE) = 0x83;
  REGISTER(DATA) = (uint8_t)divisor;
  REGISTER(INTERRUPTS) = (uint8_t)(divisor >> 8);
#endif
  REGISTER(LINE) = 3;    /* 8N1 */
  REGISTER(FIFO) = 0xc7; /* emulators hand over as many bytes at once as would interrupt */
}

void dojo_console_put(uint8_t byte) {
  while ((REGISTER(STATUS) & 0x20) == 0) continue;
  REGISTER(DATA) = byte;
}

int dojo_console_get(int wait) {
  (void)wait;
  return (REGISTER(STATUS) & 1) != 0 ? REGISTER(DATA) : -1;
}

void dojo_console_flush(void) {}
