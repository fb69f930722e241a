/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/port.h"

/* Not a CRC: what counts is that it changes with any word. DRAM answers after many cycles and takes
 * requests meanwhile, so four words are under way at once. */
extern const uint32_t dojo_image[], dojo_image_end[];

uint32_t dojo_port_image_crc(void) {
  uint32_t sum = 0;
  const uint32_t* at = dojo_image;
  for (; at + 4 <= dojo_image_end; at += 4) {
    uint32_t a = at[0], b = at[1], c = at[2], d = at[3];
    sum = (sum << 5 | sum >> 27) ^ a;
    sum = (sum << 5 | sum >> 27) ^ b;
    sum = (sum << 5 | sum >> 27) ^ c;
    sum = (sum << 5 | sum >> 27) ^ d;
  }
  for (; at != dojo_image_end; ++at) sum = (sum << 5 | sum >> 27) ^ *at;
  return sum;
}
