/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * All that the core sees of the world. A port implements these functions and has a port_config.h in
 * its include path with
 *   DOJO_FRAME_MAX      bytes of the largest frame accepted (head, body, crc)
 *   DOJO_SAMPLE_WINDOW  samples kept until acknowledged, a power of two, 2..128
 *   DOJO_EXTRA_COUNTERS counters beside ticks and chain, 0..2
 */
#ifndef DOJO_PORT_H
#define DOJO_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "port_config.h"
#include "protocol/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One batch of calls. */
struct dojo_batch {
  uintptr_t entry;
  uintptr_t table; /* address of the argument table */
  uint32_t calls;
  uint16_t harts;
  uint8_t counters; /* mask, see DOJO_CALL_COUNTERS */
  uint8_t flags;    /* DOJO_CALL_FLAG_* */
};

/** What was counted in a batch. */
struct dojo_counts {
  uint64_t ticks;
  uint64_t chain;
#if DOJO_EXTRA_COUNTERS
  uint64_t extra[DOJO_EXTRA_COUNTERS]; /* those asked for, ascending ids */
#endif
};

/** How a batch failed, as in the body of FAULT. The core fills in nonce, canary, sample and
 * image_crc. */
struct dojo_fault {
  uint64_t nonce, pc, address;
  uint8_t cause, canary; /* enum dojo_cause */
  uint16_t hart;
  uint32_t native, sample, repeat, image_crc;
};

/** The fixed part of INFO. The port knows timer_hz and boot. */
struct dojo_info {
  uint32_t magic;
  uint16_t version;
  uint8_t pointer, window;
  uint32_t frame, harts;
  uint64_t timer_hz; /* of counter 0 */
  uint32_t image_crc;
  uint32_t boot; /* differs after each start of the device where it can */
};

/** Takes what has arrived, at most `most` bytes. wait: returns with at least one byte; else
 * returns 0 at once where there is nothing. Doesn't return when the link is closed for good. */
size_t dojo_port_receive(uint8_t* into, size_t most, int wait);
void dojo_port_send(const uint8_t* bytes, size_t count);
/** urgent: what was sent must leave now; else the port may gather more. */
void dojo_port_flush(int urgent);

/** Fills in timer_hz and boot. */
void dojo_port_facts(struct dojo_info* info);
/** The items of INFO, by dojo_item(). */
void dojo_port_items(void);

/** 1 where [address, address + size) lies in one region that has all of `flags`. */
int dojo_port_allows(uintptr_t address, uintptr_t size, uint32_t flags);
/** Counters that are there, as a mask. */
uint8_t dojo_port_counters(void);
uint32_t dojo_port_harts(void);

/** Microseconds on a clock that may wrap. */
uint32_t dojo_port_micros(void);
/** From now on a batch is stopped with DOJO_CAUSE_TIMEOUT after `us`; 0 disarms. */
void dojo_port_limit(uint32_t us);
/** Runs a batch. 0: done, `counts` filled; else `fault` filled. */
int dojo_port_batch(const struct dojo_batch* batch, struct dojo_counts* counts,
                    struct dojo_fault* fault);
/** Evicts the range from all data caches. */
void dojo_port_evict(uintptr_t address, uintptr_t size);
/** After code was written: makes it visible to instruction fetch. */
void dojo_port_sync(void);
/** CRC-32 of the runner's own code and constants. */
uint32_t dojo_port_image_crc(void);
/** 0 where all canaries are whole; they're whole again after. */
uint8_t dojo_port_canary(void);
/** Restarts the device; doesn't return where it can. */
void dojo_port_reset(void);

#ifdef __cplusplus
}
#endif
#endif
