/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The core-local interruptor of RISC-V. Its ticks are counted as DOJO_TIMER_HZ says. */
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

/* The product loses bits above those that the result keeps: it wraps as it must. */
uint32_t dojo_port_micros(void) { return (uint32_t)((now() * DOJO_TIMER_MICROS) >> 16); }

void dojo_port_limit(uint32_t us) {
  uint64_t then = us == 0 ? ~UINT64_C(0) : now() + (((uint64_t)us * DOJO_TIMER_TICKS) >> 16);
  REGISTER(COMPARE) = 0xffffffff; /* never in between */
  REGISTER(COMPARE + 4) = (uint32_t)(then >> 32);
  REGISTER(COMPARE) = (uint32_t)then;
  __asm__ volatile("csrs mie, %0" ::"r"(0x80)); /* taken only while foreign code runs */
}
