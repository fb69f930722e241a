/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ports/bare/bare.h"

/* No instruction for it that all have: reads more than caches of this class hold. */
#define MOST ((uintptr_t)4 << 20)
#define LINE 32

void dojo_port_evict(uintptr_t address, uintptr_t size) {
  (void)size;
#if DOJO_CACHED
  uintptr_t end = address + MOST;
  while (address != end && dojo_port_allows(address, LINE, DOJO_REGION_READ)) {
    (void)*(volatile uint8_t*)address;
    address += LINE;
  }
#else
  (void)address;
#endif
}

void dojo_port_sync(void) { __asm__ volatile("fence.i" ::: "memory"); }
