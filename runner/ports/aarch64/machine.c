/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/core.h"
#include "ports/bare/bare.h"

_Static_assert(offsetof(struct dojo_guard, start) == 80, "start.S knows the layout");

#define READ(name)                                    \
  ({                                                  \
    uint64_t value_;                                  \
    __asm__ volatile("mrs %0, " name : "=r"(value_)); \
    value_;                                           \
  })
#define WRITE(name, value) __asm__ volatile("msr " name ", %0\n isb" ::"r"((uint64_t)(value)))

static void barrier(void) { __asm__ volatile("dsb sy\n isb" ::: "memory"); }

/* Addresses as they are, by gigabytes: memory that is cached where the description has memory, else
 * devices. Without this, nothing is cached and nothing may be misaligned. */
static uint64_t pages[512] __attribute__((aligned(4096)));

static void map(void) {
  static const uint16_t memory[] = {DOJO_GIGABYTES};
  for (uint64_t at = 0; at < 512; ++at) pages[at] = at << 30 | 0x405 | UINT64_C(1) << 54;
  for (unsigned i = 0; i < sizeof memory / sizeof *memory; ++i) {
    pages[memory[i]] = (uint64_t)memory[i] << 30 | 0x701;
  }
  barrier();
  WRITE("mair_el1", 0x00ff);
  WRITE("tcr_el1", 25 | 0x3500 | 1 << 23 | UINT64_C(2) << 32);
  WRITE("ttbr0_el1", (uintptr_t)pages);
  __asm__ volatile("tlbi vmalle1\n dsb sy\n ic iallu\n dsb sy\n isb" ::: "memory");
  WRITE("sctlr_el1", 0x30d00800 | 0x1005);
}

uint32_t dojo_pmu;

static uint32_t vector_bits;
static void read_vlen(void) {
  uint64_t bytes;
  __asm__ volatile("msr s3_0_c1_c2_0, %1\n isb\n .inst 0x04bf5020\n mov %0, x0" /* zcr_el1, rdvl */
                   : "=r"(bytes)
                   : "r"(UINT64_C(15))
                   : "x0");
  vector_bits = 8 * (uint32_t)bytes;
}

void dojo_machine_init(void) {
  WRITE("cpacr_el1", 0x330000); /* floats and vectors for all */
  map();
  unsigned version = READ("id_aa64dfr0_el1") >> 8 & 15;
  if (version != 0 && version != 15) {
    WRITE("pmccfiltr_el0", 0);
    WRITE("pmevtyper0_el0", 8); /* instructions */
    WRITE("pmcntenset_el0", 0x80000001);
    WRITE("pmcr_el0", 0x47);
    uint64_t first = READ("pmccntr_el0");
    barrier();
    dojo_pmu = READ("pmccntr_el0") != first;
  }
  if ((READ("id_aa64pfr0_el1") >> 32 & 15) != 0) (void)dojo_returns((uintptr_t)read_vlen);
}

uint64_t dojo_machine_ticks(void) { return dojo_pmu ? READ("pmccntr_el0") : READ("cntvct_el0"); }

uint64_t dojo_machine_elapsed(void) {
  /* What counts instructions has 32 bits in older units. */
  if (dojo_guard.end[1] < dojo_guard.start[1]) dojo_guard.end[1] += UINT64_C(1) << 32;
  return dojo_guard.end[0] - dojo_guard.start[0];
}

uint8_t dojo_machine_cause(void) {
  if (dojo_guard.cause == ~UINT64_C(0)) {
    dojo_guard.address = 0;
    return DOJO_CAUSE_TIMEOUT; /* the only interrupt that is enabled */
  }
  switch (dojo_guard.cause >> 26 & 63) {
    case 0x20:
    case 0x21:
      return DOJO_CAUSE_ACCESS;
    case 0x24:
    case 0x25:
      return (dojo_guard.cause & 63) == 0x21 ? DOJO_CAUSE_MISALIGNED : DOJO_CAUSE_ACCESS;
    case 0x22:
    case 0x26:
      return DOJO_CAUSE_MISALIGNED;
    default:
      break;
  }
  dojo_guard.address = 0;
  switch (dojo_guard.cause >> 26 & 63) {
    case 0x00:
    case 0x07:
    case 0x0e:
    case 0x19:
      return DOJO_CAUSE_ILLEGAL;
    case 0x15:
      return DOJO_CAUSE_SYSTEM_CALL;
    case 0x2c:
      return DOJO_CAUSE_ARITHMETIC;
    default:
      return DOJO_CAUSE_TRAP;
  }
}

char* dojo_machine_isa(char* into) {
  uint64_t pfr0 = READ("id_aa64pfr0_el1"), isar0 = READ("id_aa64isar0_el1"),
           isar1 = READ("id_aa64isar1_el1");
  const struct {
    uint64_t from;
    uint8_t shift, least;
    const char* name;
  } features[] = {
      {isar0, 4, 1, " aes"},   {isar0, 12, 1, " sha2"},    {isar0, 16, 1, " crc"},
      {isar0, 20, 2, " lse"},  {isar0, 44, 1, " dotprod"}, {isar1, 52, 1, " i8mm"},
      {isar1, 44, 1, " bf16"}, {pfr0, 32, 1, " sve"},
  };
  into = dojo_text(into, "aarch64");
  unsigned floats = pfr0 >> 16 & 15;
  if (floats != 15)
    into = dojo_text(into, floats >= 1 ? " fp-armv8 neon fullfp16" : " fp-armv8 neon");
  for (unsigned i = 0; i < sizeof features / sizeof *features; ++i) {
    if ((features[i].from >> features[i].shift & 15) >= features[i].least) {
      into = dojo_text(into, features[i].name);
    }
  }
  if (vector_bits != 0) {
    if ((READ("s3_0_c0_c4_4") & 15) != 0) into = dojo_text(into, " sve2"); /* id_aa64zfr0_el1 */
    into = dojo_number(dojo_text(into, " vlen="), vector_bits);
  }
  return into;
}

uintptr_t dojo_machine_ask(uintptr_t operation, uintptr_t argument) {
  register uintptr_t x0 __asm__("x0") = operation;
  register uintptr_t x1 __asm__("x1") = argument;
  __asm__ volatile("hlt 0xf000" : "+r"(x0) : "r"(x1) : "memory");
  return x0;
}

void dojo_machine_stop(void) {
  static const uint64_t block[2] = {0x20026, 0};
  (void)dojo_machine_ask(0x18, (uintptr_t)block);
}

void dojo_machine_items(void) {
  static const char cycles[] = "\x00\x40pmccntr", timer[] =
                                                      "\x00\x40"
                                                      "cntvct";
  if (dojo_pmu) {
    dojo_item(DOJO_ITEM_COUNTER, cycles, sizeof cycles, cycles, 0);
  } else {
    dojo_item(DOJO_ITEM_COUNTER, timer, sizeof timer, timer, 0);
  }
}

static void each_line(uintptr_t at, uintptr_t end, int evict) {
  uintptr_t line = (uintptr_t)4 << (READ("ctr_el0") >> 16 & 15);
  for (at &= ~(line - 1); at < end; at += line) {
    if (evict) {
      __asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
    } else {
      __asm__ volatile("dc cvau, %0" ::"r"(at) : "memory");
    }
  }
  barrier();
}

void dojo_port_evict(uintptr_t address, uintptr_t size) { each_line(address, address + size, 1); }

void dojo_port_sync(void) {
  uintptr_t low, high;
  dojo_written(&low, &high);
  each_line(low, high, 0);
  __asm__ volatile("ic iallu" ::: "memory");
  barrier();
}

void dojo_start(void);
void dojo_port_reset(void) { dojo_start(); }
