/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arm's PL011. hz 0: its rate was set by what started us. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(DOJO_CONSOLE_ADDRESS + (at)))
enum { DATA = 0, FLAGS = 0x18, WHOLE = 0x24, FRACTION = 0x28, LINE = 0x2c, CONTROL = 0x30 };

void dojo_console_init(void) {
  REGISTER(CONTROL) = 0;
#if DOJO_CONSOLE_HZ
  const unsigned divisor = (unsigned)(DOJO_CONSOLE_HZ * 4ull / DOJO_CONSOLE_BAUD);
  REGISTER(WHOLE) = divisor >> 6;
  REGISTER(FRACTION) = divisor & 63;
#endif
  REGISTER(LINE) = 0x70; /* 8N1, FIFO */
  REGISTER(CONTROL) = 0x301;
}

void dojo_console_put(uint8_t byte) {
  while ((REGISTER(FLAGS) & 0x20) != 0) continue;
  REGISTER(DATA) = byte;
}

int dojo_console_get(int wait) {
  (void)wait;

  return (REGISTER(FLAGS) & 0x10) != 0 ? -1 : (int)(REGISTER(DATA) & 255);
}

void dojo_console_flush(void) {}
