/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The virtual timer of the architecture, whose interrupt comes through a GICv2: the timer's address
 * is that of its distributor, and the interface of the processor lies 64 KiB behind. */
#include "ports/bare/bare.h"

#define REGISTER(at) (*(volatile uint32_t*)(uintptr_t)(DOJO_TIMER_ADDRESS + (at)))
enum {
  DISTRIBUTE = 0,
  ENABLE = 0x100,
  SERVE = 0x10000,
  MASK = 0x10004,
  TAKE = 0x1000c,
  END = 0x10010
};
enum { TIMER_INTERRUPT = 27 };

static uint64_t now(void) {
  uint64_t value;
  __asm__ volatile("isb\n mrs %0, cntvct_el0" : "=r"(value)::"memory");
  return value;
}

uint32_t dojo_port_micros(void) { return (uint32_t)((now() * DOJO_TIMER_MICROS) >> 16); }

void dojo_port_limit(uint32_t us) {
  uint64_t then = now() + (((uint64_t)us * DOJO_TIMER_TICKS) >> 16);
  uint64_t on = us != 0;
  __asm__ volatile("msr cntv_cval_el0, %0\n msr cntv_ctl_el0, %1\n isb" ::"r"(then), "r"(on));
  REGISTER(MASK) = 0xff;
  REGISTER(SERVE) = 1;
  REGISTER(ENABLE) = 1u << TIMER_INTERRUPT;
  REGISTER(DISTRIBUTE) = 1;
  /* What stopped a kernel is still waiting for its end. */
  if (!on) REGISTER(END) = REGISTER(TAKE);
}
