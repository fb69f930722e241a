/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The core-local interruptor, of which every hart has a comparator: each stops its own part of a
 * kernel. start.S lets their interrupts through while foreign code runs. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(DOJO_TIMER_ADDRESS + (at)))
enum { COMPARE = 0x4000, TIME = 0xbff8 };

static uint64_t now(void) {
  uint32_t high, low;
  do {
    high = REGISTER(TIME + 4);
    low = REGISTER(TIME);
  } while (REGISTER(TIME + 4) != high);
  return (uint64_t)high << 32 | low;
}

uint32_t dojo_port_micros(void) { return (uint32_t)((now() * DOJO_TIMER_MICROS) >> 16); }

void dojo_port_limit(uint32_t us) {
  uint64_t then = us == 0 ? ~UINT64_C(0) : now() + (((uint64_t)us * DOJO_TIMER_TICKS) >> 16);
  /* One for the hart beside the DMA engine, too. */
  for (unsigned hart = 0; hart <= dojo_port_harts(); ++hart) {
    REGISTER(COMPARE + 8 * hart) = 0xffffffff; /* never in between */
    REGISTER(COMPARE + 8 * hart + 4) = (uint32_t)(then >> 32);
    REGISTER(COMPARE + 8 * hart) = (uint32_t)then;
  }
}
