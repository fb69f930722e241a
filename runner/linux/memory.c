/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code and data regions: a file that the host handed us, or private memory. Their addresses are
 * fixed, so that placed code survives a respawn; code lies within reach of our own for calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/core.h"
#include "linux/linux.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define CODE_BASE ((uintptr_t)0x10000000)
#if UINTPTR_MAX > 0xffffffffu
#define DATA_BASE ((uintptr_t)0x100000000)
#else
#define DATA_BASE ((uintptr_t)0x60000000)
#endif

uintptr_t dojo_code_base = CODE_BASE;

static struct region {
  const char* name;
  uintptr_t base;
  uint64_t size, offset;
  uint32_t flags;
} regions[2];

static void map(struct region* region, int protection) {
  int shared = dojo_options.memory_fd >= 0;
  int flags =
      MAP_FIXED_NOREPLACE | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
  void* at = mmap((void*)region->base, region->size, protection, flags, dojo_options.memory_fd,
                  (off_t)region->offset);
  if (at != (void*)region->base) dojo_die("can't map the memory of kernels", strerror(errno));
  (void)madvise(at, region->size, MADV_HUGEPAGE); /* where the system offers it */
}

void dojo_memory_init(void) {
  int shared = dojo_options.memory_fd >= 0;
  regions[0] = (struct region){"code", CODE_BASE, dojo_options.code_bytes, 0,
                               DOJO_REGION_READ | DOJO_REGION_EXECUTE};
  regions[1] = (struct region){"data", DATA_BASE, dojo_options.data_bytes, dojo_options.code_bytes,
                               DOJO_REGION_READ | DOJO_REGION_WRITE};
  for (int i = 0; i < 2; ++i) regions[i].flags |= shared ? DOJO_REGION_SHARED : DOJO_REGION_WRITE;
  map(&regions[0], PROT_READ | PROT_EXEC | (shared ? 0 : PROT_WRITE));
  map(&regions[1], PROT_READ | PROT_WRITE);
}

/* Of the code region, since the last sync. What the host writes into a shared file isn't seen here.
 */
static uintptr_t written_low, written_high;

static void note_write(uintptr_t address, uintptr_t size) {
  if (written_low == written_high) {
    written_low = address;
    written_high = address + size;
  }
  if (address < written_low) written_low = address;
  if (address + size > written_high) written_high = address + size;
}

void dojo_memory_sync(void) {
  if (dojo_options.memory_fd >= 0) {
    written_low = regions[0].base;
    written_high = regions[0].base + (uintptr_t)regions[0].size;
  }
  __builtin___clear_cache((char*)written_low, (char*)written_high);
  written_low = written_high = 0;
}

int dojo_port_allows(uintptr_t address, uintptr_t size, uint32_t flags) {
  for (int i = 0; i < 2; ++i) {
    const struct region* region = &regions[i];
    if (address >= region->base && address - region->base <= region->size &&
        size <= region->size - (address - region->base)) {
      if ((region->flags & flags) != flags) return 0;
      if (region == regions && (flags & DOJO_REGION_WRITE) != 0) note_write(address, size);
      return 1;
    }
  }
  return 0;
}

static void item(const char* name, uint64_t base, uint64_t size, uint64_t offset, uint32_t flags) {
  uint8_t head[28];
  dojo_put(head, base, 8);
  dojo_put(head + 8, size, 8);
  dojo_put(head + 16, offset, 8);
  dojo_put(head + 24, flags, 4);
  dojo_item(DOJO_ITEM_REGION, head, sizeof head, name, (uint16_t)strlen(name));
}

void dojo_memory_items(void) {
  for (int i = 0; i < 2; ++i) {
    item(regions[i].name, regions[i].base, regions[i].size, regions[i].offset, regions[i].flags);
  }
  item("stack", 0, DOJO_STACK_BYTES, 0, DOJO_REGION_STACK);
}
