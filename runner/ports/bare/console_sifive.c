/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The UART of SiFive's chips. hz 0: it was set up by what started us. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(DOJO_CONSOLE_ADDRESS + (at)))
enum { SEND = 0, RECEIVE = 4, SEND_CONTROL = 8, RECEIVE_CONTROL = 12, DIVISOR = 24 };

void dojo_console_init(void) {
#if DOJO_CONSOLE_HZ
  REGISTER(DIVISOR) = (DOJO_CONSOLE_HZ + DOJO_CONSOLE_BAUD / 2) / DOJO_CONSOLE_BAUD - 1;
#endif
  REGISTER(SEND_CONTROL) = REGISTER(RECEIVE_CONTROL) = 1;
}

void dojo_console_put(uint8_t byte) {
  while (REGISTER(SEND) >> 31 != 0) continue;
  REGISTER(SEND) = byte;
}

int dojo_console_get(int wait) {
  (void)wait;

  uint32_t got = REGISTER(RECEIVE);
  return got >> 31 != 0 ? -1 : (int)(got & 255);
}

void dojo_console_flush(void) {}
