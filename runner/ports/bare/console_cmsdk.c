/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The UART of Arm's Cortex-M system design kit. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(DOJO_CONSOLE_ADDRESS + (at)))
enum { DATA = 0, STATE = 4, CONTROL = 8, DIVISOR = 16 };

void dojo_console_init(void) {
#if DOJO_CONSOLE_HZ
  REGISTER(DIVISOR) = (DOJO_CONSOLE_HZ + DOJO_CONSOLE_BAUD / 2) / DOJO_CONSOLE_BAUD;
#else
  REGISTER(DIVISOR) = 16;
#endif
  REGISTER(CONTROL) = 3;
}

void dojo_console_put(uint8_t byte) {
  while ((REGISTER(STATE) & 1) != 0) continue;
  REGISTER(DATA) = byte;
}

int dojo_console_get(int wait) {
  (void)wait;
  return (REGISTER(STATE) & 2) != 0 ? (int)(REGISTER(DATA) & 255) : -1;
}

void dojo_console_flush(void) {}
