/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * What the files of the Cortex-M port share.
 */
#ifndef DOJO_CORTEXM_H
#define DOJO_CORTEXM_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))

/** Rounds of SysTick since dojo_port_limit(); at the last one that foreign code may take it's
 * stopped. start.S knows the layout. */
struct dojo_rounds {
  volatile uint32_t done, most;
};
extern struct dojo_rounds dojo_rounds;

/** Ticks of SysTick since the start. */
uint64_t dojo_systick(uint32_t rounds, uint32_t value);
uint64_t dojo_systick_now(void);

/** Address of the cycle counter, or of something that stands still. */
extern uintptr_t dojo_cyccnt;

#endif
