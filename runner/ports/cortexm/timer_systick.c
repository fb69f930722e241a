/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SysTick goes round for ever; its exception counts the rounds (start.S). */
#include "ports/bare/bare.h"
#include "ports/cortexm/cortexm.h"

#define CONTROL REGISTER(0xe000e010)
#define RELOAD REGISTER(0xe000e014)
#define VALUE REGISTER(0xe000e018)
#define ROUND (1u << 24)

struct dojo_rounds dojo_rounds;
static uint64_t before; /* ticks up to the first of these rounds */
static uint32_t reload;

uint64_t dojo_systick(uint32_t rounds, uint32_t value) {
  return before + (uint64_t)rounds * (reload + 1) + (reload - value);
}

uint64_t dojo_systick_now(void) {
  uint32_t rounds, value;
  do {
    rounds = dojo_rounds.done;
    value = VALUE;
  } while (dojo_rounds.done != rounds);
  return dojo_systick(rounds, value);
}

static void start(uint32_t ticks, uint32_t rounds) {
  before = dojo_systick_now();
  reload = ticks - 1;
  CONTROL = 0;
  RELOAD = reload;
  VALUE = 0;
  dojo_rounds.done = 0;
  dojo_rounds.most = rounds;
  CONTROL = 7; /* of the processor's clock, with its exception */
}

void dojo_port_limit(uint32_t us) {
  uint64_t ticks = ((uint64_t)us * DOJO_TIMER_TICKS) >> 16;
  if (us == 0) {
    start(ROUND, ~0u);
  } else if (ticks < ROUND) {
    start(ticks < 1000 ? 1000 : (uint32_t)ticks, 1);
  } else {
    start(ROUND, (uint32_t)(ticks >> 24) + 1);
  }
}

uint32_t dojo_port_micros(void) {
  return (uint32_t)((dojo_systick_now() * DOJO_TIMER_MICROS) >> 16);
}
