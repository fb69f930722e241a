/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The CRC of core/crc32.c, eight bytes at a time, for machines with room for tables. */
#include <string.h>

#include "core/core.h"

static uint32_t table[8][256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    table[0][n] = crc;
  }
  for (uint32_t n = 0; n < 256; ++n) {
    for (int k = 1; k < 8; ++k) {
      table[k][n] = table[k - 1][n] >> 8 ^ table[0][table[k - 1][n] & 255];
    }
  }
}

uint32_t dojo_crc32(uint32_t crc, const void* bytes, size_t count) {
  const uint8_t* at = bytes;
  crc = ~crc;
  for (; count >= 8; count -= 8, at += 8) {
    uint32_t a = crc ^ (uint32_t)dojo_get(at, 4), b = (uint32_t)dojo_get(at + 4, 4);
    crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
          table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
  }
  for (; count != 0; --count) crc = crc >> 8 ^ table[0][(crc ^ *at++) & 255];
  return ~crc;
}
