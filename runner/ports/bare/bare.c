/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The port functions that all bare-metal machines share. */
#include "ports/bare/bare.h"

#include "core/core.h"
#include "core/frame.h"

struct dojo_guard dojo_guard;

extern const uint8_t dojo_items[], dojo_items_end[];

size_t dojo_port_receive(uint8_t* into, size_t most, int wait) {
  size_t count = 0;
  while (count < most) {
    int byte = dojo_console_get(wait && count == 0);
    if (byte >= 0) {
      into[count++] = (uint8_t)byte;
    } else if (count != 0 || !wait) {
      break;
    } else {
      /* An emulator can't take bytes in while its registers are read. */
      for (unsigned n = 0; n < 1000; ++n) __asm__ volatile("");
    }
  }
  return count;
}

void dojo_port_send(const uint8_t* bytes, size_t count) {
  while (count-- != 0) dojo_console_put(*bytes++);
}

void dojo_port_flush(int urgent) {
  (void)urgent;
  dojo_console_flush();
}

void* memset(void* at, int value, size_t bytes);

static uint32_t boot;
static uint64_t ticks_hz;

void dojo_port_facts(struct dojo_info* info) {
  info->timer_hz = ticks_hz;
  info->boot = boot;
}

void dojo_port_items(void) {
  char item[3 + DOJO_ISA_BYTES];
  size_t bytes = (size_t)(dojo_machine_isa(item + 3) - item);
  item[0] = DOJO_ITEM_ISA;
  item[1] = (char)(bytes - 3);
  item[2] = 0;
  dojo_frame_put(item, bytes);
  dojo_frame_put(dojo_items, (size_t)(dojo_items_end - dojo_items));
  dojo_machine_items();
}

static const struct {
  uintptr_t base, size;
  uint32_t flags;
} regions[] = {DOJO_REGIONS};

#if DOJO_CACHED
static uintptr_t written_low, written_high;

void dojo_written(uintptr_t* low, uintptr_t* high) {
  *low = written_low;
  *high = written_high;
  written_low = written_high = 0;
}

static void note_write(uintptr_t address, uintptr_t size) {
  if (written_high == 0) written_low = address;
  if (address < written_low) written_low = address;
  if (address + size > written_high) written_high = address + size;
}
#endif

int dojo_port_allows(uintptr_t address, uintptr_t size, uint32_t flags) {
  for (unsigned i = 0; i < sizeof regions / sizeof *regions; ++i) {
    uintptr_t offset = address - regions[i].base;
    if (offset <= regions[i].size && size <= regions[i].size - offset) {
#if DOJO_CACHED
      if ((flags & DOJO_REGION_WRITE) != 0 && (regions[i].flags & DOJO_REGION_EXECUTE) != 0) {
        note_write(address, size);
      }
#endif
      return (regions[i].flags & flags) == flags;
    }
  }
  return 0;
}

uint8_t dojo_port_counters(void) { return DOJO_COUNTER_MASK; }

/* Words at both ends of each hart's stack for kernels. */
#define CANARY_WORDS 8
#define CANARY ((uintptr_t)0x5bd1e995)
#define STACK_END ((uintptr_t*)(DOJO_STACK_BASE + DOJO_STACK_SIZE))

uint8_t dojo_port_canary(void) {
  uint8_t broken = dojo_machine_stuck();
  for (uintptr_t hart = 0; hart < DOJO_HARTS; ++hart) {
    uintptr_t *low = (uintptr_t*)(DOJO_STACK_BASE + hart * DOJO_STACK_SIZE),
              *high = (uintptr_t*)(DOJO_STACK_BASE + (hart + 1) * DOJO_STACK_SIZE);
    for (unsigned i = 0; i < CANARY_WORDS; ++i) {
      --high;
      broken |= *low != CANARY || *high != CANARY;
      *low++ = *high = CANARY;
    }
  }
  return broken;
}

static int run(uintptr_t entry, uintptr_t argument, uint32_t calls) {
  dojo_guard.entry = entry;
  dojo_guard.argument = argument;
  dojo_guard.left = calls;
  dojo_guard.kernel_sp = (uintptr_t)(STACK_END - CANARY_WORDS);
  return dojo_machine_batch();
}

int dojo_returns(uintptr_t entry) { return run(entry, 0, 1) == DOJO_RETURNED; }

int dojo_port_batch(const struct dojo_batch* batch, struct dojo_counts* counts,
                    struct dojo_fault* fault) {
  counts->chain = 0;
  dojo_machine_use(batch->harts);
  int how = run(batch->entry, batch->table, batch->calls);
  counts->ticks = dojo_machine_elapsed();
#if DOJO_EXTRA_COUNTERS
  counts->extra[0] = dojo_guard.end[1] - dojo_guard.start[1];
#endif
  if (how == DOJO_RETURNED && counts->ticks + 1 != 0) return 0;
  memset(fault, 0, sizeof *fault);
  fault->cause = how == DOJO_RETURNED ? DOJO_CAUSE_COUNTER : DOJO_CAUSE_STACK;
  fault->repeat = batch->calls - (uint32_t)dojo_guard.left;
  if (how == DOJO_TRAPPED) {
    fault->cause = dojo_machine_cause();
    fault->hart = dojo_machine_hart();
    fault->pc = dojo_guard.pc;
    fault->address = dojo_guard.address;
    fault->native = (uint32_t)dojo_guard.cause;
  }
  return -1;
}

char* dojo_text(char* into, const char* text) {
  while (*text != 0) *into++ = *text++;
  return into;
}

char* dojo_number(char* into, uint32_t value) {
  if (value >= 10) into = dojo_number(into, value / 10);
  *into = (char)('0' + value % 10);
  return into + 1;
}

void dojo_main(void) {
  dojo_machine_init();
  dojo_console_init();
  (void)dojo_port_canary();
  /* Counter 0 against the timer, for about a millisecond. */
  uint32_t start = dojo_port_micros();
  uint64_t first = dojo_machine_ticks();
  boot = (uint32_t)first ^ start << 16;
#ifdef DOJO_TIMER_HZ
  while (dojo_port_micros() - start < 1024) continue;
  ticks_hz = ((dojo_machine_ticks() - first) * 15625) >> 4;
#endif
  dojo_run();
  /* The end of a batch: a simulator stops, anything else traps and stays. */
  (void)dojo_returns((uintptr_t)dojo_machine_stop);
  for (;;) continue;
}
