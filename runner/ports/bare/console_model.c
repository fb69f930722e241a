/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The console of our models: characters go out at 0 and come in at 8, as words with bit 31 set
 * where there is none. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(DOJO_CONSOLE_ADDRESS + (at)))
enum { SEND = 0, RECEIVE = 8 };

void dojo_console_init(void) {}

void dojo_console_put(uint8_t byte) { *(volatile uint8_t*)(DOJO_CONSOLE_ADDRESS + SEND) = byte; }

int dojo_console_get(int wait) {
  uint32_t got;
  do {
    got = REGISTER(RECEIVE);
  } while (wait && got >> 31 != 0);
  return got >> 31 != 0 ? -1 : (int)(got & 255);
}

void dojo_console_flush(void) {}
