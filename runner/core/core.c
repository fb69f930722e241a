/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/core.h"

#include "core/frame.h"

#define BODY (dojo_frame + DOJO_HEAD_BYTES)

__attribute__((noinline)) void dojo_put(uint8_t* at, uint64_t value, unsigned bytes) {
  while (bytes-- != 0) {
    *at++ = (uint8_t)value;
    value >>= 8;
  }
}

__attribute__((noinline)) uint64_t dojo_get(const uint8_t* at, unsigned bytes) {
  uint64_t value = 0;
  while (bytes-- != 0) value = value << 8 | at[bytes];
  return value;
}

/* Out of line: called from everywhere, and the image must stay small. */
#define SMALL __attribute__((noinline)) static

SMALL uint32_t get32(unsigned offset) { return (uint32_t)dojo_get(BODY + offset, 4); }
SMALL uint64_t get64(unsigned offset) { return dojo_get(BODY + offset, 8); }

static uint8_t wide; /* an address was read that this device doesn't have */

SMALL uintptr_t address_at(const uint8_t* at) {
  uint64_t value = dojo_get(at, 8);
  wide |= (uintptr_t)value != value;
  return (uintptr_t)value;
}

/* The last command: its sequence number and the answer, kept so that it can be sent again. */
static uint8_t sequence;
static uint8_t greeted;
static uint32_t session; /* of the last HELLO */
static uint8_t answer_kind;
static uint8_t answer_bytes;
static uint16_t answer_part;
static uint8_t answer[DOJO_FAULT_BYTES];
static uintptr_t data_address; /* of a DATA answer, whose bytes are read again */
static uint32_t data_size;

/* The present CALL. */
static uint64_t nonce;
static uint8_t counters, busy, aborted;
static uint32_t calls;    /* in a sample */
static uint32_t finished; /* samples */
static uint32_t acked;    /* samples that the host is known to have */
static struct dojo_counts ring[DOJO_SAMPLE_WINDOW];

static void send_info(void) {
  uint8_t info[DOJO_INFO_BYTES];
  dojo_port_facts(info);
  dojo_put(info + DOJO_INFO_MAGIC, DOJO_PROTOCOL_MAGIC, 4);
  dojo_put(info + DOJO_INFO_VERSION, DOJO_PROTOCOL_VERSION, 2);
  info[DOJO_INFO_WINDOW] = DOJO_SAMPLE_WINDOW;
  dojo_put(info + DOJO_INFO_FRAME, DOJO_FRAME_MAX, 4);
  dojo_frame_put(info, sizeof info);
  dojo_port_items();
}

void dojo_item(uint8_t tag, const void* head, uint16_t head_bytes, const void* tail,
               uint16_t tail_bytes) {
  uint8_t start[3] = {tag};
  dojo_put(start + 1, (uint32_t)head_bytes + tail_bytes, 2);
  dojo_frame_put(start, sizeof start);
  dojo_frame_put(head, head_bytes);
  dojo_frame_put(tail, tail_bytes);
}

static void send_answer(void) {
  dojo_frame_begin(answer_kind, sequence, answer_part);
  if (answer_kind == DOJO_INFO) {
    send_info();
  } else if (answer_kind == DOJO_DATA) {
    dojo_frame_put((const void*)data_address, data_size);
  } else {
    dojo_frame_put(answer, answer_bytes);
  }
  dojo_frame_end();
  dojo_port_flush(1);
}

static void reply(uint8_t kind, uint8_t bytes) {
  answer_kind = kind;
  answer_bytes = bytes;
  answer_part = 0;
  send_answer();
}

SMALL void refuse(uint8_t reason) {
  answer[0] = reason;
  answer[1] = dojo_frame[DOJO_HEAD_KIND];
  reply(DOJO_REFUSED, DOJO_REFUSED_BYTES);
}

static void send_sample(uint32_t index) {
  const struct dojo_counts* counts = &ring[index % DOJO_SAMPLE_WINDOW];
  uint8_t body[DOJO_SAMPLE_COUNTERS];
  dojo_put(body + DOJO_SAMPLE_NONCE, nonce, 8);
  dojo_put(body + DOJO_SAMPLE_INDEX, index, 4);
  dojo_put(body + DOJO_SAMPLE_CALLS, calls, 4);
  dojo_put(body + DOJO_SAMPLE_TICKS, counts->ticks, 8);
  dojo_put(body + DOJO_SAMPLE_CHAIN, counts->chain, 8);
  dojo_frame_begin(DOJO_SAMPLE, sequence, (uint16_t)(index + 1));
  dojo_frame_put(body, sizeof body);
#if DOJO_EXTRA_COUNTERS
  for (unsigned n = 0; n < DOJO_EXTRA_COUNTERS && (counters >> 1 >> n) != 0; ++n) {
    uint8_t extra[8];
    dojo_put(extra, counts->extra[n], 8);
    dojo_frame_put(extra, sizeof extra);
  }
#endif
  dojo_frame_end();
}

static void send_started(void) {
  dojo_frame_begin(DOJO_STARTED, sequence, 0);
  dojo_frame_end();
}

static void take_ack(void) {
  uint32_t next = (uint32_t)dojo_get(BODY + DOJO_ACK_NEXT, 2);
  if (next > 0 && next - 1 > acked && next - 1 <= finished) acked = next - 1;
  if (!BODY[DOJO_ACK_RESEND]) return;
  if (calls != 0) { /* the last command was a CALL */
    if (next == 0) send_started();
    for (uint32_t i = acked; i < finished; ++i) send_sample(i);
  }
  if (!busy) send_answer();
  dojo_port_flush(1);
}

/* A command came twice: its answer was lost, or it was repeated on the way. */
static void send_all_again(void) {
  BODY[DOJO_ACK_NEXT] = BODY[DOJO_ACK_NEXT + 1] = 0;
  BODY[DOJO_ACK_RESEND] = 1;
  take_ack();
}

/* What may come while a CALL runs. */
static void take_busy(size_t length) {
  uint8_t kind = dojo_frame[DOJO_HEAD_KIND];
  length -= DOJO_HEAD_BYTES;
  if (kind == DOJO_ABORT) {
    if (length == DOJO_ABORT_BYTES && get64(0) == nonce) aborted = 1;
  } else if (dojo_frame[DOJO_HEAD_SEQUENCE] == sequence) {
    if (kind == DOJO_CALL) send_all_again();
    if (kind == DOJO_ACK && length == DOJO_ACK_BYTES) take_ack();
  }
}

static void listen(int wait) {
  uint8_t chunk[16];
  size_t count;
  while ((count = dojo_port_receive(chunk, sizeof chunk, wait)) != 0) {
    for (size_t i = 0; i < count; ++i) {
      size_t length = dojo_frame_take(chunk[i]);
      if (length != 0) take_busy(length);
    }
    wait = 0;
  }
}

SMALL void copy(uintptr_t to, uintptr_t from, uintptr_t bytes) {
  uint8_t* target = (uint8_t*)to;
  const uint8_t* source = (const uint8_t*)from;
  while (bytes-- != 0) *target++ = *source++;
}

/* A CALL, read out of its frame, which listening overwrites. */
struct request {
  uintptr_t tables, restore, evict, evict_bytes;
  uint32_t sets, stride, warmup, min_ticks, samples, min_samples, budget;
  uint16_t restores;
  uint8_t choose;
};

/* Calls `visit` on each of the entries until it returns 0. */
static int each_restore(uintptr_t list, uint32_t entries,
                        int (*visit)(uintptr_t to, uintptr_t from, uintptr_t bytes)) {
  for (const uint8_t* at = (const uint8_t*)list; entries-- != 0; at += DOJO_RESTORE_BYTES) {
    if (!visit(address_at(at), address_at(at + 8), address_at(at + 16))) return 0;
  }
  return 1;
}

static int restore_one(uintptr_t to, uintptr_t from, uintptr_t bytes) {
  copy(to, from, bytes);
  return 1;
}

static int restore_allowed(uintptr_t to, uintptr_t from, uintptr_t bytes) {
  return dojo_port_allows(to, bytes, DOJO_REGION_WRITE) &&
         dojo_port_allows(from, bytes, DOJO_REGION_READ);
}

static void prepare(const struct request* r, uint32_t set) {
  each_restore(r->restore + set * r->restores * DOJO_RESTORE_BYTES, r->restores, restore_one);
  if (r->evict_bytes != 0) dojo_port_evict(r->evict, r->evict_bytes);
}

static int run(const struct request* r, struct dojo_batch* batch, struct dojo_fault* fault) {
  struct dojo_counts counts;
  uint32_t start = dojo_port_micros();
  batch->table = r->tables;
  if (r->warmup != 0) {
    prepare(r, 0);
    batch->calls = r->warmup;
    if (dojo_port_batch(batch, &counts, fault)) return -1;
  }
  /* Twice in a row, since the first of each is slowed by what it finds cold. */
  for (int enough = 0; r->choose && enough < 2;) {
    prepare(r, 0);
    batch->calls = calls;
    if (dojo_port_batch(batch, &counts, fault)) return -1;
    if (counts.ticks >= r->min_ticks || calls >= 0x40000000u) {
      ++enough;
    } else {
      /* By eight while far away, then by two. */
      calls <<= counts.ticks < r->min_ticks >> 4 ? 3 : 1;
      enough = 0;
    }
  }
  batch->calls = calls;
  for (uint32_t set = 0; finished < r->samples; set = set + 1 == r->sets ? 0 : set + 1) {
    while (finished - acked == DOJO_SAMPLE_WINDOW && !aborted) {
      dojo_port_flush(1);
      listen(1);
    }
    listen(0);
    if (aborted) return DOJO_REASON_ABORTED;
    if (r->budget != 0 && finished >= r->min_samples && dojo_port_micros() - start >= r->budget) {
      return DOJO_REASON_BUDGET;
    }
    prepare(r, set);
    batch->table = r->tables + set * r->stride;
    if (dojo_port_batch(batch, &ring[finished % DOJO_SAMPLE_WINDOW], fault)) return -1;
    send_sample(finished++);
    dojo_port_flush(0);
  }
  return DOJO_REASON_COMPLETE;
}

static void do_call(size_t length) {
  if (length != DOJO_CALL_BYTES) {
    refuse(DOJO_REFUSED_LENGTH);
    return;
  }
  wide = 0;
  struct request r = {
      .tables = address_at(BODY + DOJO_CALL_TABLES),
      .restore = address_at(BODY + DOJO_CALL_RESTORE),
      .evict = address_at(BODY + DOJO_CALL_EVICT),
      .evict_bytes = address_at(BODY + DOJO_CALL_EVICT_BYTES),
      .sets = get32(DOJO_CALL_SETS),
      .stride = get32(DOJO_CALL_STRIDE),
      .warmup = get32(DOJO_CALL_WARMUP),
      .min_ticks = get32(DOJO_CALL_MIN_TICKS),
      .samples = get32(DOJO_CALL_SAMPLES),
      .min_samples = get32(DOJO_CALL_MIN_SAMPLES),
      .budget = get32(DOJO_CALL_BUDGET_US),
      .restores = (uint16_t)dojo_get(BODY + DOJO_CALL_RESTORES, 2),
  };
  struct dojo_batch batch = {
      .entry = address_at(BODY + DOJO_CALL_ENTRY),
      .harts = (uint16_t)dojo_get(BODY + DOJO_CALL_HARTS, 2),
      .counters = BODY[DOJO_CALL_COUNTERS],
      .flags = BODY[DOJO_CALL_FLAGS],
  };
  uint32_t wanted = get32(DOJO_CALL_CALLS);
  uint32_t entries = r.sets * r.restores;
  uint8_t refusal = 0;
  if (r.sets - 1 >= DOJO_CALL_MOST_SETS || r.stride > DOJO_CALL_MOST_STRIDE ||
      r.restores > DOJO_CALL_MOST_RESTORES || r.samples > DOJO_CALL_MOST_SAMPLES) {
    refusal = DOJO_REFUSED_CALL;
  } else if (batch.harts == 0 || batch.harts > dojo_port_harts()) {
    refusal = DOJO_REFUSED_HARTS;
  } else if ((batch.counters & ~dojo_port_counters()) != 0) {
    refusal = DOJO_REFUSED_COUNTERS;
  } else if (!dojo_port_allows(r.tables, r.sets * r.stride, DOJO_REGION_READ) ||
             (entries != 0 &&
              !dojo_port_allows(r.restore, entries * DOJO_RESTORE_BYTES, DOJO_REGION_READ)) ||
             !each_restore(r.restore, entries, restore_allowed) ||
             (r.evict_bytes != 0 && !dojo_port_allows(r.evict, r.evict_bytes, DOJO_REGION_READ)) ||
             wide) {
    refusal = DOJO_REFUSED_MEMORY;
  }
  if (refusal != 0) {
    refuse(refusal);
  } else {
    struct dojo_fault fault = {0};
    nonce = get64(DOJO_CALL_NONCE);
    counters = batch.counters;
    aborted = 0;
    r.choose = wanted == 0;
    calls = r.choose ? 1 : wanted;
    busy = 1;
    send_started();
    dojo_port_flush(0);
    dojo_port_sync();
    dojo_port_limit(get32(DOJO_CALL_LIMIT_US));
    int reason = run(&r, &batch, &fault);
    dojo_port_limit(0);
    busy = 0;
    uint8_t canary = dojo_port_canary();
    uint32_t image = dojo_port_image_crc();
    dojo_put(answer, nonce, 8);
    if (reason >= 0) {
      dojo_put(answer + DOJO_DONE_SAMPLES, finished, 4);
      dojo_put(answer + DOJO_DONE_CALLS, calls, 4);
      answer[DOJO_DONE_REASON] = (uint8_t)reason;
      answer[DOJO_DONE_CANARY] = canary;
      dojo_put(answer + DOJO_DONE_IMAGE_CRC, image, 4);
    } else {
      dojo_put(answer + DOJO_FAULT_PC, fault.pc, 8);
      dojo_put(answer + DOJO_FAULT_ADDRESS, fault.address, 8);
      answer[DOJO_FAULT_CAUSE] = fault.cause;
      answer[DOJO_FAULT_CANARY] = canary;
      dojo_put(answer + DOJO_FAULT_HART, fault.hart, 2);
      dojo_put(answer + DOJO_FAULT_NATIVE, fault.native, 4);
      dojo_put(answer + DOJO_FAULT_SAMPLE, finished, 4);
      dojo_put(answer + DOJO_FAULT_REPEAT, fault.repeat, 4);
      dojo_put(answer + DOJO_FAULT_IMAGE_CRC, image, 4);
    }
    answer_kind = reason >= 0 ? DOJO_DONE : DOJO_FAULT;
    answer_bytes = reason >= 0 ? DOJO_DONE_BYTES : DOJO_FAULT_BYTES;
    answer_part = (uint16_t)(finished + 1);
    send_answer();
    if (reason < 0 && fault.cause == DOJO_CAUSE_LOST) dojo_port_reset();
  }
}

static void do_memory(uint8_t kind, size_t length) {
  size_t need = kind == DOJO_WRITE  ? DOJO_WRITE_BYTES
                : kind == DOJO_FILL ? DOJO_FILL_BYTES
                                    : DOJO_READ_BYTES;
  if (length < need || (kind != DOJO_WRITE && length > need)) {
    refuse(DOJO_REFUSED_LENGTH);
    return;
  }
  wide = 0;
  uintptr_t address = address_at(BODY + DOJO_MEMORY_ADDRESS);
  uintptr_t size = kind == DOJO_WRITE  ? length - need
                   : kind == DOJO_FILL ? address_at(BODY + DOJO_MEMORY_SIZE)
                                       : get32(DOJO_MEMORY_SIZE);
  int writes = kind == DOJO_WRITE || kind == DOJO_FILL;
  if (wide || !dojo_port_allows(address, size, writes ? DOJO_REGION_WRITE : DOJO_REGION_READ)) {
    refuse(DOJO_REFUSED_MEMORY);
    return;
  }
  uint8_t* at = (uint8_t*)address;
  switch (kind) {
    case DOJO_WRITE:
      copy(address, (uintptr_t)(BODY + DOJO_WRITE_BYTES), size);
      reply(DOJO_OK, 0);
      break;
    case DOJO_FILL:
      for (uintptr_t i = 0; i < size; ++i) at[i] = BODY[DOJO_FILL_BYTE];
      reply(DOJO_OK, 0);
      break;
    case DOJO_READ:
      data_address = address;
      data_size = (uint32_t)size;
      reply(DOJO_DATA, 0);
      break;
    default:
      dojo_put(answer, dojo_crc32(0, at, (size_t)size), 4);
      reply(DOJO_CRC_IS, 4);
      break;
  }
}

static void execute(size_t length) {
  uint8_t kind = dojo_frame[DOJO_HEAD_KIND];
  uint8_t number = dojo_frame[DOJO_HEAD_SEQUENCE];
  length -= DOJO_HEAD_BYTES;
  if (kind == DOJO_ACK) {
    if (greeted && number == sequence && length == DOJO_ACK_BYTES) take_ack();
    return;
  }
  if (kind == DOJO_ABORT) return; /* of a CALL that has ended */
  if (kind == DOJO_HELLO && length >= DOJO_HELLO_BYTES &&
      get32(DOJO_HELLO_MAGIC) == DOJO_PROTOCOL_MAGIC &&
      (!greeted || get32(DOJO_HELLO_SESSION) != session)) {
    greeted = 1;
    session = get32(DOJO_HELLO_SESSION);
  } else {
    if (!greeted) return;
    if (number == sequence) {
      send_all_again();
      return;
    }
    if (number != (uint8_t)(sequence + 1) || kind == DOJO_HELLO) return;
  }
  sequence = number;
  calls = finished = acked = 0;
  switch (kind) {
    case DOJO_HELLO:
      reply(DOJO_INFO, 0);
      break;
    case DOJO_WRITE:
    case DOJO_READ:
    case DOJO_FILL:
    case DOJO_CRC:
      do_memory(kind, length);
      break;
    case DOJO_CALL:
      do_call(length);
      break;
    case DOJO_PING:
      if (length > sizeof answer) {
        refuse(DOJO_REFUSED_LENGTH);
      } else {
        for (size_t i = 0; i < length; ++i) answer[i] = BODY[i];
        reply(DOJO_OK, (uint8_t)length);
      }
      break;
    case DOJO_RESET:
      reply(DOJO_OK, 0);
      dojo_port_reset();
      break;
    default:
      refuse(DOJO_REFUSED_KIND);
      break;
  }
}

void dojo_serve(const uint8_t* bytes, size_t count) {
  while (count-- != 0) {
    size_t length = dojo_frame_take(*bytes++);
    if (length != 0) execute(length);
  }
}

void dojo_run(void) {
  for (;;) {
    uint8_t chunk[64];
    size_t count = dojo_port_receive(chunk, sizeof chunk, 1);
    dojo_serve(chunk, count);
  }
}
