/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/frame.h"

#include "core/core.h"

struct dojo_frame_room dojo_frame_room __attribute__((aligned(8)));

static struct {
  size_t length;
  uint8_t code; /* of the present block; 0: no block yet */
  uint8_t left; /* bytes of it still to come */
  uint8_t bad;
} in;

static void keep(uint8_t byte) {
  if (in.length == sizeof dojo_frame) {
    in.bad = 1;
  } else {
    dojo_frame[in.length++] = byte;
  }
}

size_t dojo_frame_take(uint8_t byte) {
  if (byte != 0) {
    if (in.left != 0) {
      in.left--;
      keep(byte);
    } else {
      /* The zero that the block before stands for; the last block stands for none. */
      if (in.code != 0 && in.code != 0xff) keep(0);
      in.code = byte;
      in.left = (uint8_t)(byte - 1);
    }
    return 0;
  }
  size_t length = in.length;
  int whole = !in.bad && in.left == 0 && length >= DOJO_HEAD_BYTES + DOJO_CRC_BYTES;
  in.length = 0;
  in.code = in.left = in.bad = 0;
  if (!whole) return 0;
  /* Of all that is followed by its own CRC-32. */
  return dojo_crc32(0, dojo_frame, length) == 0x2144df1c ? length - DOJO_CRC_BYTES : 0;
}

static struct {
  uint32_t crc;
  uint8_t code; /* bytes in the block, itself included */
  uint8_t block[255];
} out;

static void block_end(void) {
  out.block[0] = out.code;
  dojo_port_send(out.block, out.code);
  out.code = 1;
}

static void stuff(const uint8_t* at, size_t count) {
  while (count-- != 0) {
    uint8_t byte = *at++;
    if (byte != 0) out.block[out.code++] = byte;
    if (byte == 0 || out.code == 255) block_end();
  }
}

void dojo_frame_put(const void* bytes, size_t count) {
  out.crc = dojo_crc32(out.crc, bytes, count);
  stuff(bytes, count);
}

static const uint8_t zero = 0;

void dojo_frame_begin(uint8_t kind, uint8_t sequence, uint16_t part) {
  uint8_t head[DOJO_HEAD_BYTES] = {kind, sequence, (uint8_t)part, (uint8_t)(part >> 8)};
  out.crc = 0;
  out.code = 1;
  dojo_port_send(&zero, 1);
  dojo_frame_put(head, sizeof head);
}

void dojo_frame_end(void) {
  uint32_t crc = out.crc;
  stuff((const uint8_t*)&crc, sizeof crc); /* little-endian, as core.c says */
  block_end();
  dojo_port_send(&zero, 1);
}
