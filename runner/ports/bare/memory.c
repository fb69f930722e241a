/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What compilers call without being asked. */
#include <stddef.h>
#include <stdint.h>

void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  uint8_t* target = to;
  const uint8_t* source = from;
  while (bytes-- != 0) *target++ = *source++;
  return to;
}

void* memset(void* at, int value, size_t bytes) {
  uint8_t* byte = at;
  while (bytes-- != 0) *byte++ = (uint8_t)value;
  return at;
}
