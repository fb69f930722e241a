/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/counter.h"

uint64_t dojo_elapsed(uint64_t start, uint64_t end, unsigned width, uint64_t about) {
  uint64_t count = end - start;
  if (width >= 64) return count;
  uint64_t round = UINT64_C(1) << width;
  /* The other clock is coarse: what it says may be off by a quarter of a round. */
  if (about >= round - (round >> 2)) return ~UINT64_C(0);
  return count & (round - 1);
}
