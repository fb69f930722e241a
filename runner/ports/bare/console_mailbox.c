/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two rings in memory that the host reads and writes from outside; see "Mailbox" in PROTOCOL.md. */
#include "ports/bare/bare.h"

/* The rings share what the header leaves, each the largest power of two. */
#define HALF ((DOJO_MAILBOX_SIZE - DOJO_MAILBOX_BYTES) / 2)
#define POWER_UP_TO(n) (1u << (31 - __builtin_clz(n)))
#define RING POWER_UP_TO(HALF)
_Static_assert(HALF >= DOJO_MAILBOX_LEAST_RING, "the mailbox is too small");

#define WORD(at) (*(volatile uint32_t*)(DOJO_MAILBOX_ADDRESS + (at)))
#define BYTE(at) (*(volatile uint8_t*)(DOJO_MAILBOX_ADDRESS + (at)))

/* Debuggers and back doors see what the caches of the core hold, or the memory isn't cached. */
static void share(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

void dojo_console_init(void) {
  WORD(DOJO_MAILBOX_AT_MAGIC) = 0;
  for (unsigned at = 4; at < DOJO_MAILBOX_BYTES; at += 4) WORD(at) = 0;
  WORD(DOJO_MAILBOX_AT_VERSION) = DOJO_MAILBOX_VERSION | DOJO_MAILBOX_BYTES << 16;
  WORD(DOJO_MAILBOX_COMMANDS) = DOJO_MAILBOX_BYTES;
  WORD(DOJO_MAILBOX_RECORDS) = DOJO_MAILBOX_BYTES + RING;
  WORD(DOJO_MAILBOX_COMMANDS_SIZE) = WORD(DOJO_MAILBOX_RECORDS_SIZE) = RING;
  share();
  WORD(DOJO_MAILBOX_AT_MAGIC) = DOJO_MAILBOX_MAGIC;
  share();
}

void dojo_console_put(uint8_t byte) {
  uint32_t written = WORD(DOJO_MAILBOX_RECORDS_WRITTEN);
  while (written - WORD(DOJO_MAILBOX_RECORDS_READ) == RING) share();
  BYTE(DOJO_MAILBOX_BYTES + RING + written % RING) = byte;
  share();
  WORD(DOJO_MAILBOX_RECORDS_WRITTEN) = written + 1;
}

int dojo_console_get(int wait) {
  (void)wait;

  uint32_t read = WORD(DOJO_MAILBOX_COMMANDS_READ);
  share();
  if (WORD(DOJO_MAILBOX_COMMANDS_WRITTEN) == read) return -1;
  int byte = BYTE(DOJO_MAILBOX_BYTES + read % RING);
  WORD(DOJO_MAILBOX_COMMANDS_READ) = read + 1;
  return byte;
}

void dojo_console_flush(void) {}
