/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linux/linux.h"

/* From low to high: a page without access, the stack, the canary, a page without access. */
#define CANARY_WORDS 64
#define CANARY UINT64_C(0x5bd1e995c2b2ae35)

static uint64_t* canaries[DOJO_MOST_HARTS];
static unsigned count;

static void set(uint64_t* canary) {
  for (unsigned i = 0; i < CANARY_WORDS; ++i) canary[i] = CANARY + i;
}

uintptr_t dojo_stack_make(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = DOJO_STACK_BYTES + 3 * page;
  uint8_t* at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED || count == DOJO_MOST_HARTS || mprotect(at, page, PROT_NONE) != 0 ||
      mprotect(at + size - page, page, PROT_NONE) != 0) {
    dojo_die("can't make a stack", strerror(errno));
  }
  uint64_t* canary = (uint64_t*)(at + page + DOJO_STACK_BYTES);
  set(canary);
  canaries[count++] = canary;
  return (uintptr_t)canary;
}

uint8_t dojo_port_canary(void) {
  uint8_t broken = 0;
  for (unsigned n = 0; n < count; ++n) {
    for (unsigned i = 0; i < CANARY_WORDS; ++i) {
      if (canaries[n][i] != CANARY + i) {
        broken = 1;
        set(canaries[n]);
        break;
      }
    }
  }
  return broken;
}
