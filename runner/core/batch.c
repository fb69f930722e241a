/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* In place of a link: commands from a list in memory, answers as lines of text. See "Batch" in
 * PROTOCOL.md. Takes the place of frame.c and link.c. */
#include "core/core.h"
#include "core/frame.h"

struct dojo_frame_room dojo_frame_room __attribute__((aligned(8)));

#define LIST ((const uint8_t*)DOJO_LIST_ADDRESS)

/* The record under way: head and body. */
static struct {
  size_t length;
  uint8_t bytes[DOJO_FRAME_MAX];
} out;
static unsigned copies;
static uint16_t parts_before;    /* that the present answer has already */
static uint16_t samples_printed; /* of the present CALL */

static void print(const char* text) {
  while (*text != 0) dojo_port_send((const uint8_t*)text++, 1);
}

static void print_hex(const uint8_t* bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  for (; count-- != 0; ++bytes) {
    const uint8_t pair[2] = {(uint8_t)digits[*bytes >> 4], (uint8_t)digits[*bytes & 15]};
    dojo_port_send(pair, 2);
  }
}

void dojo_frame_put(const void* bytes, size_t count) {
  const uint8_t* from = bytes;
  for (; count-- != 0; ++from) {
    if (out.length < sizeof out.bytes) out.bytes[out.length++] = *from;
  }
}

void dojo_frame_begin(uint8_t kind, uint8_t sequence, uint16_t part) {
  if (kind == DOJO_SAMPLE) samples_printed = part;
  part = (uint16_t)(part + parts_before);
  const uint8_t head[DOJO_HEAD_BYTES] = {kind, sequence, (uint8_t)part, (uint8_t)(part >> 8)};
  out.length = 0;
  dojo_frame_put(head, sizeof head);
}

void dojo_frame_end(void) {
  uint8_t crc[DOJO_CRC_BYTES];
  dojo_put(crc, dojo_crc32(0, out.bytes, out.length), sizeof crc);
  for (unsigned n = 0; n < copies; ++n) {
    print(DOJO_RECORD_OPEN);
    print_hex(out.bytes, out.length);
    print_hex(crc, sizeof crc);
    print(DOJO_RECORD_CLOSE);
  }
  dojo_port_flush(1);
}

/* What is printed is acknowledged. */
void dojo_listen(int wait) {
  (void)wait;
  dojo_frame[DOJO_HEAD_KIND] = DOJO_ACK;
  dojo_put(dojo_frame + DOJO_HEAD_BYTES, samples_printed + 1u, 3); /* without resend */
  dojo_execute(DOJO_ACK_BYTES);
}

/* The stretches of memory that differ from `bytes`, or from one byte, as CHANGED. */
static void compare(uintptr_t address, const uint8_t* bytes, int same, uintptr_t count) {
  const uint8_t* memory = (const uint8_t*)address;
  for (uintptr_t at = 0; at < count;) {
    uintptr_t end = at;
    while (end < count && end - at < DOJO_CHANGED_MOST && memory[end] != bytes[same ? 0 : end]) {
      ++end;
    }
    if (end == at) {
      ++at;
      continue;
    }
    uint8_t where[DOJO_CHANGED_BYTES];
    dojo_put(where, address + at, sizeof where);
    dojo_frame_begin(DOJO_CHANGED, dojo_frame[DOJO_HEAD_SEQUENCE], 0);
    dojo_frame_put(where, sizeof where);
    dojo_frame_put(memory + at, end - at);
    dojo_frame_end();
    ++parts_before;
    at = end;
  }
}

static size_t entry_bytes(const uint8_t* entry) { return (size_t)dojo_get(entry, 4); }
static const uint8_t* after(const uint8_t* entry) {
  return entry + 4 + ((entry_bytes(entry) + 3) & ~(size_t)3);
}

static void changes(const uint8_t* until) {
  for (const uint8_t* entry = LIST + DOJO_LIST_BYTES; entry != until; entry = after(entry)) {
    const uint8_t* body = entry + 4 + DOJO_HEAD_BYTES;
    uintptr_t address = (uintptr_t)dojo_get(body + DOJO_MEMORY_ADDRESS, 8);
    if (entry[4] == DOJO_WRITE) {
      compare(address, body + DOJO_WRITE_BYTES, 0,
              entry_bytes(entry) - DOJO_HEAD_BYTES - DOJO_WRITE_BYTES);
    } else if (entry[4] == DOJO_FILL) {
      compare(address, body + DOJO_FILL_BYTE, 1, (uintptr_t)dojo_get(body + DOJO_MEMORY_SIZE, 8));
    }
  }
  /* It ends in an OK, as a PING does. */
  dojo_frame[DOJO_HEAD_KIND] = DOJO_PING;
}

static int whole(void) {
  return dojo_get(LIST + DOJO_LIST_AT_MAGIC, 4) == DOJO_LIST_MAGIC &&
         dojo_get(LIST + DOJO_LIST_AT_VERSION, 2) == DOJO_LIST_VERSION &&
         dojo_get(LIST + DOJO_LIST_SIZE, 4) <= DOJO_LIST_ROOM - DOJO_LIST_BYTES &&
         dojo_crc32(0, LIST + DOJO_LIST_BYTES, (size_t)dojo_get(LIST + DOJO_LIST_SIZE, 4)) ==
             dojo_get(LIST + DOJO_LIST_CRC, 4);
}

void dojo_run(void) {
  uint8_t executed[DOJO_END_BYTES] = {0};
  uint32_t count = 0;
  copies = 1;
  uint8_t sequence = 0;
  if (whole()) {
    const uint8_t* end = LIST + DOJO_LIST_BYTES + dojo_get(LIST + DOJO_LIST_SIZE, 4);
    copies = (unsigned)dojo_get(LIST + DOJO_LIST_COPIES, 2);
    for (const uint8_t* entry = LIST + DOJO_LIST_BYTES; entry < end; entry = after(entry)) {
      size_t length = entry_bytes(entry);
      if (length < DOJO_HEAD_BYTES || length > DOJO_FRAME_MAX - DOJO_CRC_BYTES) break;
      for (size_t i = 0; i < length; ++i) dojo_frame[i] = entry[4 + i];
      sequence = dojo_frame[DOJO_HEAD_SEQUENCE];
      parts_before = samples_printed = 0;
      if (dojo_frame[DOJO_HEAD_KIND] == DOJO_CHANGES) changes(entry);
      dojo_execute(length - DOJO_HEAD_BYTES);
      ++count;
    }
  } else {
    const uint8_t refused[DOJO_REFUSED_BYTES] = {DOJO_REFUSED_LIST, 0};
    dojo_frame_begin(DOJO_REFUSED, 0, 0);
    dojo_frame_put(refused, sizeof refused);
    dojo_frame_end();
  }
  parts_before = 0;
  dojo_put(executed, count, sizeof executed);
  dojo_frame_begin(DOJO_END, sequence, 0);
  dojo_frame_put(executed, sizeof executed);
  dojo_frame_end();
}
