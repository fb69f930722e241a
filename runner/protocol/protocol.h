/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * The wire protocol between host and runner: codes, layouts, limits. C11 and C++.
 * PROTOCOL.md beside this file draws the bytes. Append-only: a number once given means that for
 * ever; new fields go to the end of a body, new facts into new items of INFO.
 *
 * A frame on the wire is 0x00 COBS(head body crc) 0x00; all integers are little-endian.
 * Layouts are given as offsets, so that neither side depends on how its compiler packs structures.
 */
#ifndef DOJO_PROTOCOL_H
#define DOJO_PROTOCOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOJO_PROTOCOL_VERSION 1u
#define DOJO_PROTOCOL_MAGIC 0x4f4a4f44u /* "DOJO" */

/** head: kind u8, sequence u8, part u16. crc: CRC-32 (IEEE 802.3) of head and body, u32. */
enum {
  DOJO_HEAD_KIND = 0,
  DOJO_HEAD_SEQUENCE = 1,
  DOJO_HEAD_PART = 2,
  DOJO_HEAD_BYTES = 4,
  DOJO_CRC_BYTES = 4,
};

enum dojo_kind {
  /* host to device */
  DOJO_HELLO = 0x01,
  DOJO_WRITE = 0x02,
  DOJO_READ = 0x03,
  DOJO_FILL = 0x04,
  DOJO_CRC = 0x05,
  DOJO_CALL = 0x06,
  DOJO_PING = 0x07,
  DOJO_ABORT = 0x08,
  DOJO_RESET = 0x09,
  DOJO_ACK = 0x0a,
  DOJO_CHANGES = 0x0b, /* only in a list */
  /* device to host */
  DOJO_INFO = 0x41,
  DOJO_OK = 0x42,
  DOJO_DATA = 0x43,
  DOJO_CRC_IS = 0x44,
  DOJO_STARTED = 0x45,
  DOJO_SAMPLE = 0x46,
  DOJO_DONE = 0x47,
  DOJO_FAULT = 0x48,
  DOJO_REFUSED = 0x49,
  DOJO_CHANGED = 0x4a,
  DOJO_END = 0x4b,
};

/* HELLO: magic u32, version u16, session u32. Executed whatever its sequence number, which it sets,
 * unless one with the same session was executed before: then it is a copy that came late. */
enum {
  DOJO_HELLO_MAGIC = 0,
  DOJO_HELLO_VERSION = 4,
  DOJO_HELLO_SESSION = 6,
  DOJO_HELLO_BYTES = 10,
};

/* INFO: the fixed part, then items: tag u8, length u16, payload. Unknown tags are skipped. */
enum {
  DOJO_INFO_MAGIC = 0,      /* u32 */
  DOJO_INFO_VERSION = 4,    /* u16 */
  DOJO_INFO_POINTER = 6,    /* u8: bytes of an address in argument tables */
  DOJO_INFO_WINDOW = 7,     /* u8: samples that are kept until acknowledged */
  DOJO_INFO_FRAME = 8,      /* u32: largest head + body + crc that the device accepts */
  DOJO_INFO_HARTS = 12,     /* u32 */
  DOJO_INFO_TIMER_HZ = 16,  /* u64: of counter 0; 0: not known */
  DOJO_INFO_IMAGE_CRC = 24, /* u32: of the runner's code and constants */
  DOJO_INFO_BOOT = 28,      /* u32: differs after each start of the device where it can */
  DOJO_INFO_BYTES = 32,
};
enum dojo_item {
  DOJO_ITEM_PORT = 1,    /* text: name of the port, "linux" */
  DOJO_ITEM_ISA = 2,     /* text: as probed, see PROTOCOL.md */
  DOJO_ITEM_REGION = 3,  /* base u64, size u64, offset u64 (in the shared file), flags u32, name */
  DOJO_ITEM_COUNTER = 4, /* id u8, width u8 (bits; 0: not there), name, 0x00, remark */
  DOJO_ITEM_SERVICE = 5, /* address u64, name */
  DOJO_ITEM_CHAIN = 6,   /* cycles u32: of the dependent-multiply chain around each batch */
  DOJO_ITEM_CORES = 7,   /* u16 each: the core on which each hart is pinned */
};
enum {
  DOJO_REGION_READ = 1,
  DOJO_REGION_WRITE = 2,
  DOJO_REGION_EXECUTE = 4,
  DOJO_REGION_SHARED = 8, /* the host sees the same bytes in the shared file at `offset` */
  DOJO_REGION_STACK = 16, /* what a kernel has as its stack; not for WRITE */
};
enum {
  DOJO_COUNTER_TIME = 0, /* always there: what `ticks` of a SAMPLE counts */
  DOJO_COUNTER_CYCLES = 1,
  DOJO_COUNTER_INSTRUCTIONS = 2,
  DOJO_COUNTERS = 3,
};

/* WRITE: address u64, bytes. READ, CRC: address u64, size u32. FILL: address u64, size u64,
 * byte u8. PING: anything, echoed in OK. RESET: nothing. */
enum { DOJO_MEMORY_ADDRESS = 0, DOJO_MEMORY_SIZE = 8, DOJO_WRITE_BYTES = 8, DOJO_READ_BYTES = 12 };
enum { DOJO_FILL_BYTE = 16, DOJO_FILL_BYTES = 17 };

/* CALL: sample i calls the entry with the argument table of set i mod sets. */
enum {
  DOJO_CALL_NONCE = 0,        /* u64: names the candidate */
  DOJO_CALL_ENTRY = 8,        /* u64 */
  DOJO_CALL_TABLES = 16,      /* u64: argument tables, arrays of addresses */
  DOJO_CALL_RESTORE = 24,     /* u64: restore list: for each set `restores` entries */
  DOJO_CALL_EVICT = 32,       /* u64: what is evicted from the caches before each sample */
  DOJO_CALL_EVICT_BYTES = 40, /* u64: 0: caches stay warm */
  DOJO_CALL_SETS = 48,        /* u32: at least 1 */
  DOJO_CALL_STRIDE = 52,      /* u32: bytes from one table to the next */
  DOJO_CALL_WARMUP = 56,      /* u32: calls before the first sample */
  DOJO_CALL_CALLS = 60,       /* u32: in a sample; 0: doubled from 1 until `min ticks` are met */
  DOJO_CALL_MIN_TICKS = 64,   /* u32 */
  DOJO_CALL_SAMPLES = 68,     /* u32: at most */
  DOJO_CALL_MIN_SAMPLES = 72, /* u32: taken even when the budget is spent */
  DOJO_CALL_BUDGET_US = 76,   /* u32: sampling stops after; 0: never */
  DOJO_CALL_LIMIT_US = 80,    /* u32: the whole CALL is stopped after; 0: never */
  DOJO_CALL_HARTS = 84,       /* u16 */
  DOJO_CALL_RESTORES = 86,    /* u16: entries for each set */
  DOJO_CALL_COUNTERS = 88,    /* u8: bit n asks for counter n besides 0 */
  DOJO_CALL_FLAGS = 89,       /* u8 */
  DOJO_CALL_BYTES = 90,
};
enum { DOJO_CALL_FLAG_CHAIN = 1 }; /* interleave the dependent-multiply chain */
enum {
  DOJO_CALL_MOST_SETS = 1024,
  DOJO_CALL_MOST_STRIDE = 4096,
  DOJO_CALL_MOST_RESTORES = 256,
  DOJO_CALL_MOST_SAMPLES = 0xfff0,
};
/* An entry of the restore list: destination u64, source u64, bytes u64. */
enum { DOJO_RESTORE_BYTES = 24 };

/* SAMPLE */
enum {
  DOJO_SAMPLE_NONCE = 0,     /* u64 */
  DOJO_SAMPLE_INDEX = 8,     /* u32 */
  DOJO_SAMPLE_CALLS = 12,    /* u32 */
  DOJO_SAMPLE_TICKS = 16,    /* u64: of the whole batch */
  DOJO_SAMPLE_CHAIN = 24,    /* u64: ticks of the chain; 0: none */
  DOJO_SAMPLE_COUNTERS = 32, /* u64 each, ascending ids, those asked for */
};
/* DONE */
enum {
  DOJO_DONE_NONCE = 0,      /* u64 */
  DOJO_DONE_SAMPLES = 8,    /* u32 */
  DOJO_DONE_CALLS = 12,     /* u32: in a sample */
  DOJO_DONE_REASON = 16,    /* u8: enum dojo_reason */
  DOJO_DONE_CANARY = 17,    /* u8: 0 where the canaries are whole */
  DOJO_DONE_IMAGE_CRC = 18, /* u32 */
  DOJO_DONE_BYTES = 22,
};
/* Of the canary byte, in FAULT and DONE. */
enum {
  DOJO_CANARY_BROKEN = 1,
  DOJO_CANARY_RESTART =
      2, /* units are in a state that only a reset ends (streams under way, ...) */
};
enum dojo_reason { DOJO_REASON_COMPLETE = 0, DOJO_REASON_BUDGET = 1, DOJO_REASON_ABORTED = 2 };
/* FAULT */
enum {
  DOJO_FAULT_NONCE = 0,      /* u64 */
  DOJO_FAULT_PC = 8,         /* u64 */
  DOJO_FAULT_ADDRESS = 16,   /* u64: that was accessed; 0: none */
  DOJO_FAULT_CAUSE = 24,     /* u8: enum dojo_cause */
  DOJO_FAULT_CANARY = 25,    /* u8: 0 where the canaries are whole */
  DOJO_FAULT_HART = 26,      /* u16 */
  DOJO_FAULT_NATIVE = 28,    /* u32: the port's own number (signal, mcause) */
  DOJO_FAULT_SAMPLE = 32,    /* u32: samples finished before */
  DOJO_FAULT_REPEAT = 36,    /* u32: calls finished in the batch */
  DOJO_FAULT_IMAGE_CRC = 40, /* u32 */
  DOJO_FAULT_BYTES = 44,
};
enum dojo_cause {
  DOJO_CAUSE_ILLEGAL = 1,    /* instruction */
  DOJO_CAUSE_ACCESS = 2,     /* bad address */
  DOJO_CAUSE_MISALIGNED = 3, /* or a bus error */
  DOJO_CAUSE_ARITHMETIC = 4,
  DOJO_CAUSE_TIMEOUT = 5,
  DOJO_CAUSE_STACK = 6, /* returned with the stack pointer moved */
  DOJO_CAUSE_SYSTEM_CALL = 7,
  DOJO_CAUSE_TRAP = 8,     /* any other */
  DOJO_CAUSE_LOST = 9,     /* a hart doesn't come back; the device must be reset */
  DOJO_CAUSE_COUNTER = 10, /* the counter went round more than once: the count isn't known */
};
/* REFUSED: reason u8, the kind refused u8. */
enum dojo_refusal {
  DOJO_REFUSED_KIND = 1,     /* not known */
  DOJO_REFUSED_LENGTH = 2,   /* of the body */
  DOJO_REFUSED_MEMORY = 3,   /* outside the regions or their access */
  DOJO_REFUSED_HARTS = 4,    /* more than there are */
  DOJO_REFUSED_COUNTERS = 5, /* asks for one that isn't there */
  DOJO_REFUSED_CALL = 6,     /* sets, samples or calls out of range */
  DOJO_REFUSED_LIST = 7,     /* its magic word, version, size or crc is wrong */
};
enum { DOJO_REFUSED_BYTES = 2 };

/* ACK: executed at once, also during a CALL, and never answered: every part below `next` of the
 * command with this sequence number has arrived; `resend`: send again what comes after.
 * ABORT: nonce u64; ends the CALL of that nonce after the present batch; not answered either. */
enum { DOJO_ACK_NEXT = 0, DOJO_ACK_RESEND = 2, DOJO_ACK_BYTES = 3, DOJO_ABORT_BYTES = 8 };

/* MAILBOX: at the origin of the target's memory with role "mailbox", 8-byte aligned, also the ELF
 * symbol dojo_mailbox. The header, then two rings of bytes that carry the frames of the serial
 * link. Offsets count from the header; sizes are powers of two and at least 64. A position counts
 * all bytes that were ever written to or read from its ring, mod 2^32; byte n lies at n mod size.
 * The device fills the header in and writes the magic word last. */
#define DOJO_MAILBOX_MAGIC 0x424d4a44u /* "DJMB" */
#define DOJO_MAILBOX_VERSION 1u
enum {
  DOJO_MAILBOX_AT_MAGIC = 0,          /* u32 */
  DOJO_MAILBOX_AT_VERSION = 4,        /* u16 */
  DOJO_MAILBOX_AT_HEADER = 6,         /* u16: bytes of this header */
  DOJO_MAILBOX_COMMANDS = 8,          /* u32: offset of the ring of commands, host to device */
  DOJO_MAILBOX_COMMANDS_SIZE = 12,    /* u32 */
  DOJO_MAILBOX_RECORDS = 16,          /* u32: offset of the ring of records, device to host */
  DOJO_MAILBOX_RECORDS_SIZE = 20,     /* u32 */
  DOJO_MAILBOX_COMMANDS_WRITTEN = 32, /* u32: the host's */
  DOJO_MAILBOX_RECORDS_READ = 36,     /* u32: the host's */
  DOJO_MAILBOX_COMMANDS_READ = 48,    /* u32: the device's */
  DOJO_MAILBOX_RECORDS_WRITTEN = 52,  /* u32: the device's */
  DOJO_MAILBOX_BYTES = 64,
  DOJO_MAILBOX_LEAST_RING = 64,
};

/* LIST of a batch image: lies where the mailbox would. The header, then entries: bytes u32 (of head
 * and body), head, body, zeros up to a multiple of 4. */
#define DOJO_LIST_MAGIC 0x534c4a44u /* "DJLS" */
#define DOJO_LIST_VERSION 1u
enum {
  DOJO_LIST_AT_MAGIC = 0,   /* u32 */
  DOJO_LIST_AT_VERSION = 4, /* u16 */
  DOJO_LIST_COPIES = 6,     /* u16: how often each record is printed; at least 1 */
  DOJO_LIST_SIZE = 8,       /* u32: bytes of all entries */
  DOJO_LIST_CRC = 12,       /* u32: of all entries */
  DOJO_LIST_BYTES = 16,
};
/* CHANGES: nothing. CHANGED: address u64, bytes (at most 64). END: entries executed u32. */
enum { DOJO_CHANGED_BYTES = 8, DOJO_CHANGED_MOST = 64, DOJO_END_BYTES = 4 };
/** A record: this, then head, body and crc in hexadecimal, then the other. */
#define DOJO_RECORD_OPEN "{dojo:"
#define DOJO_RECORD_CLOSE "}\n"

#ifdef __cplusplus
}
#endif
#endif
