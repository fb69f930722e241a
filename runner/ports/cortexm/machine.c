/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/core.h"
#include "core/counter.h"
#include "core/frame.h"
#include "ports/bare/bare.h"
#include "ports/cortexm/cortexm.h"

_Static_assert(offsetof(struct dojo_guard, start) == 40, "start.S knows the layout");

#define CCR REGISTER(0xe000ed14)
#define CFSR REGISTER(0xe000ed28)
enum { CACHES_DATA = 1 << 16, CACHES_CODE = 1 << 17 };

extern const uint32_t dojo_vectors[];

static uint32_t still;
uintptr_t dojo_cyccnt;

/* Foreign code: where there is no such unit this traps. */
static void start_cyccnt(void) {
  REGISTER(0xe000edfc) |= 1u << 24;   /* trace on */
  REGISTER(0xe0001fb0) = 0xc5acce55u; /* unlock */
  REGISTER(0xe0001000) |= 1;
}

/* All sets and ways of the data cache, by one of the operations. */
static void each_line(uintptr_t operation) {
  REGISTER(0xe000ed84) = 0;
  uint32_t size = REGISTER(0xe000ed80);
  uint32_t sets = (size >> 13 & 0x7fff) + 1, ways = (size >> 3 & 0x3ff) + 1;
  unsigned line = (size & 7) + 4, shift = ways > 1 ? (unsigned)__builtin_clz(ways - 1) : 0;
  for (uint32_t set = 0; set < sets; ++set) {
    for (uint32_t way = 0; way < ways; ++way) REGISTER(operation) = way << shift | set << line;
  }
}

static void barrier(void) { __asm__ volatile("dsb\n isb" ::: "memory"); }

void dojo_machine_init(void) {
  REGISTER(0xe000ed08) = (uint32_t)(uintptr_t)dojo_vectors;
  REGISTER(0xe000ed24) |= 7u << 16;   /* faults of memory, bus and usage by themselves */
  REGISTER(0xe000ed88) |= 0xfu << 20; /* floats for all */
  REGISTER(0xe000ef34) = 0;           /* exceptions save none of them */
  barrier();
  uint32_t levels = REGISTER(0xe000ed78);
  if ((levels & 2) != 0) each_line(0xe000ef60);
  REGISTER(0xe000ef50) = 0;
  barrier();
  CCR |= ((levels & 2) != 0 ? CACHES_DATA : 0) | ((levels & 1) != 0 ? CACHES_CODE : 0);
  barrier();
  dojo_port_limit(0);
  dojo_cyccnt = (uintptr_t)&still;
  if (dojo_returns((uintptr_t)start_cyccnt)) {
    uint32_t first = REGISTER(0xe0001004);
    barrier();
    if (REGISTER(0xe0001004) != first) dojo_cyccnt = 0xe0001004;
  }
}

static int counts(void) { return dojo_cyccnt != (uintptr_t)&still; }

uint64_t dojo_machine_ticks(void) { return dojo_systick_now(); }

uint64_t dojo_machine_elapsed(void) {
  const uint32_t* start = (const uint32_t*)&dojo_guard.start[1];
  const uint32_t* end = (const uint32_t*)&dojo_guard.end[1];
  uint64_t ticks = dojo_systick(end[1], end[0]) - dojo_systick(start[1], start[0]);
  if (!counts()) return ticks;
  return dojo_elapsed((uint32_t)dojo_guard.start[0], (uint32_t)dojo_guard.end[0], 32, ticks);
}

uint8_t dojo_machine_cause(void) {
  const uint32_t* frame = (const uint32_t*)dojo_guard.unused;
  uintptr_t into = (uintptr_t)frame - DOJO_STACK_BASE;
  dojo_guard.pc = into <= DOJO_STACK_SIZE - 32 ? frame[6] : 0;
  dojo_guard.address = 0;
  uint32_t number = dojo_guard.cause, status = CFSR;
  CFSR = status;
  if (number == 15) return DOJO_CAUSE_TIMEOUT;
  if (number == 11) return DOJO_CAUSE_SYSTEM_CALL;
  dojo_guard.cause = status;
  if ((status & 0x80) != 0) dojo_guard.address = REGISTER(0xe000ed34);
  if ((status & 0x8000) != 0) dojo_guard.address = REGISTER(0xe000ed38);
  if ((status & 0x000f0000) != 0) return DOJO_CAUSE_ILLEGAL;
  if ((status & 0x01000000) != 0) return DOJO_CAUSE_MISALIGNED;
  if ((status & 0x02000000) != 0) return DOJO_CAUSE_ARITHMETIC;
  if ((status & 0x0000ffff) != 0) return DOJO_CAUSE_ACCESS;
  dojo_guard.cause = number;
  return DOJO_CAUSE_TRAP;
}

char* dojo_machine_isa(char* into) {
  uint32_t part = REGISTER(0xe000ed00) >> 4 & 0xfff;
  uint32_t floats = REGISTER(0xe000ef40), vectors = REGISTER(0xe000ef44) >> 8 & 15;
  int newer = REGISTER(0xe000ef48) != 0;
  into = dojo_text(into, part < 0xd00 ? "armv7em" : vectors ? "armv8.1m.main" : "armv8m.main");
  if (part == 0xc24 || (REGISTER(0xe000ed6c) >> 4 & 15) >= 2) into = dojo_text(into, " dsp");
  if ((floats >> 4 & 15) != 0) into = dojo_text(into, newer ? " fp-armv8d16sp" : " vfp4d16sp");
  if ((floats >> 8 & 15) != 0) into = dojo_text(into, newer ? " fp-armv8d16" : " vfp4d16");
  if (vectors >= 1) into = dojo_text(into, " mve");
  if (vectors >= 2) into = dojo_text(into, " mve.fp");
  return into;
}

uintptr_t dojo_machine_ask(uintptr_t operation, uintptr_t argument) {
  register uintptr_t r0 __asm__("r0") = operation;
  register uintptr_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void dojo_machine_stop(void) { (void)dojo_machine_ask(0x18, 0x20026); }

void dojo_machine_items(void) {
  static const uint8_t cycles[] =
      "\x00\x20"
      "cyccnt";
  static const uint8_t ticks[] =
      "\x00\x40"
      "systick";
  if (counts()) {
    dojo_item(DOJO_ITEM_COUNTER, cycles, sizeof cycles, ticks, 0);
  } else {
    dojo_item(DOJO_ITEM_COUNTER, ticks, sizeof ticks, cycles, 0);
  }
}

void dojo_port_evict(uintptr_t address, uintptr_t size) {
  if ((CCR & CACHES_DATA) == 0) return;
  uintptr_t end = address + size;
  for (address &= ~(uintptr_t)31; address < end; address += 32) REGISTER(0xe000ef70) = address;
  barrier();
}

void dojo_port_sync(void) {
  barrier();
  if ((CCR & CACHES_DATA) != 0) each_line(0xe000ef6c);
  barrier();
  REGISTER(0xe000ef50) = 0;
  barrier();
}

void dojo_port_reset(void) {
  barrier();
  REGISTER(0xe000ed0c) = 0x05fa0004;
  for (;;) continue;
}
