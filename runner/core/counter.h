/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * Counters that go round.
 */
#ifndef DOJO_COUNTER_H
#define DOJO_COUNTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a counter of `width` bits counted from `start` to `end`, given about how much it was by
 * another clock (`about` of the same ticks). All ones where it may have gone round more than once:
 * never a small number in place of a large one. */
uint64_t dojo_elapsed(uint64_t start, uint64_t end, unsigned width, uint64_t about);

#ifdef __cplusplus
}
#endif
#endif
