/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The first counter that may be read and counts. */
#define _GNU_SOURCE
#include <time.h>

#include "linux/machine.h"

uint64_t (*dojo_ticks)(void) = dojo_ticks_clock;
static const char* name = "monotonic-ns";

uint64_t dojo_ticks_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Fails (returns never) by a signal only; says through `counts` whether the counter moved. */
static volatile int counts;
static void attempt(uintptr_t argument) {
  const struct dojo_tick_source* source = (const struct dojo_tick_source*)argument;
  uint64_t first = source->read(), start = dojo_ticks_clock();
  while (dojo_ticks_clock() - start < 100000) continue;
  counts = source->read() > first;
}

void dojo_ticks_choose(void) {
  for (const struct dojo_tick_source* at = dojo_tick_sources; at->name != NULL; ++at) {
    counts = 0;
    if (dojo_fails(attempt, (uintptr_t)at) || !counts) continue;
    dojo_ticks = at->read;
    name = at->name;
    return;
  }
}

uint64_t dojo_machine_ticks(void) { return dojo_ticks(); }
const char* dojo_machine_counter(void) { return name; }
