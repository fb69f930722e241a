/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linux/linux.h"
#include "linux/machine.h"

/* Where the system doesn't tell how much the last level holds. */
#define MOST ((size_t)16 << 20)

static const volatile uint8_t* at;
static size_t bytes;
#define LINE 32

void dojo_sweep_init(void) {
  static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE};
  long last = 0;
  for (size_t i = 0; i < sizeof levels / sizeof *levels && last <= 0; ++i)
    last = sysconf(levels[i]);
  bytes = 2 * (last > 0 ? (size_t)last : MOST);
  uint8_t* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) dojo_die("no memory to sweep the caches with", strerror(errno));
  memset(memory, 1, bytes); /* else every page of it is the same page of zeros */
  at = memory;
}

void dojo_sweep(void) {
  for (size_t i = 0; i < bytes; i += LINE) (void)at[i];
}
