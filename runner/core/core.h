/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * The portable runner: framing, commands, samples. Freestanding C11: no heap, no libc.
 */
#ifndef DOJO_CORE_H
#define DOJO_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Serves the link for ever, or the list of a batch image to its end. link.c or batch.c. */
void dojo_run(void);
/** Executes what has come. wait: waits for something. link.c or batch.c. */
void dojo_listen(int wait);
/** Executes the command that stands in dojo_frame, with so many bytes of body. */
void dojo_execute(size_t length);

/** Emits one item of INFO; only from dojo_port_items(). A payload may be given in two pieces. */
void dojo_item(uint8_t tag, const void* head, uint16_t head_bytes, const void* tail,
               uint16_t tail_bytes);

/** CRC-32 of IEEE 802.3, continued from `crc` (0 to begin). A port may bring a faster one by not
 * linking crc32.c. */
uint32_t dojo_crc32(uint32_t crc, const void* bytes, size_t count);

/** Little-endian integers at any alignment. */
void dojo_put(uint8_t* at, uint64_t value, unsigned bytes);
uint64_t dojo_get(const uint8_t* at, unsigned bytes);

#ifdef __cplusplus
}
#endif
#endif
