/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * Frames: COBS and CRC-32, a byte at a time.
 */
#ifndef DOJO_FRAME_H
#define DOJO_FRAME_H

#include "core/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Takes one byte. Returns the bytes of head and body when it completes a whole, undamaged frame,
 * which then stands in dojo_frame until the next byte; else 0. */
size_t dojo_frame_take(uint8_t byte);
#define dojo_frame dojo_frame_room.bytes
extern struct dojo_frame_room {
  uint32_t gap; /* so that bodies are as aligned as what they hold */
  uint8_t bytes[DOJO_FRAME_MAX];
} dojo_frame_room;

/** Sending: begin, any number of pieces, end. */
void dojo_frame_begin(uint8_t kind, uint8_t sequence, uint16_t part);
void dojo_frame_put(const void* bytes, size_t count);
void dojo_frame_end(void);

#ifdef __cplusplus
}
#endif
#endif
