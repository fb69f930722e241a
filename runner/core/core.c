/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/core.h"

#include "core/frame.h"

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

/* The bodies of protocol.h as this machine lays them out, which costs the least code. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bodies are laid over structures");
struct hello {
  uint32_t magic;
  uint16_t version, session_low, session_high;
};
struct memory {
  uint64_t address, size;
  uint8_t byte;
};
struct call {
  uint64_t nonce, entry, tables, restore, evict, evict_bytes;
  uint32_t sets, stride, warmup, calls, min_ticks, samples, min_samples, budget, limit;
  uint16_t harts, restores;
  uint8_t counters, flags;
};
struct ack {
  uint16_t next;
  uint8_t resend;
};
struct restore {
  uint64_t to, from, bytes;
};
struct sample {
  uint64_t nonce;
  uint32_t index, calls; /* then the counts */
};
struct done {
  uint64_t nonce;
  uint32_t samples, calls;
  uint8_t reason, canary;
  uint16_t crc_low, crc_high;
};
#define AT(type, field, offset) \
  _Static_assert(offsetof(struct type, field) == (offset), #field " of " #type)
AT(hello, session_low, DOJO_HELLO_SESSION);
AT(memory, size, DOJO_MEMORY_SIZE);
AT(memory, byte, DOJO_FILL_BYTE);
AT(call, evict_bytes, DOJO_CALL_EVICT_BYTES);
AT(call, sets, DOJO_CALL_SETS);
AT(call, limit, DOJO_CALL_LIMIT_US);
AT(call, restores, DOJO_CALL_RESTORES);
AT(call, flags, DOJO_CALL_FLAGS);
AT(sample, calls, DOJO_SAMPLE_CALLS);
AT(dojo_counts, chain, DOJO_SAMPLE_CHAIN - DOJO_SAMPLE_TICKS);
AT(done, crc_low, DOJO_DONE_IMAGE_CRC);
AT(dojo_fault, cause, DOJO_FAULT_CAUSE);
AT(dojo_fault, image_crc, DOJO_FAULT_IMAGE_CRC);
AT(dojo_info, timer_hz, DOJO_INFO_TIMER_HZ);
AT(dojo_info, boot, DOJO_INFO_BOOT);

static const union {
  struct hello hello;
  struct memory memory;
  struct call call;
  struct ack ack;
  uint8_t bytes[1];
}* const body = (const void*)(dojo_frame + DOJO_HEAD_BYTES);

/* The last command: its sequence number and the answer, kept so that it can be sent again. */
static uint8_t sequence;
static uint8_t greeted;
static uint32_t session; /* of the last HELLO */
static uint8_t answer_kind;
static uint8_t answer_bytes;
static uint16_t answer_part;
static union {
  uint64_t nonce; /* of the present CALL, from its start */
  struct done done;
  struct dojo_fault fault;
  uint8_t bytes[DOJO_FAULT_BYTES];
} answer;
static const void* data; /* of a DATA answer, whose bytes are read again */
static uint32_t data_size;

/* The present CALL, which listening for others overwrites in its frame. */
static struct call call;
static uint8_t busy, aborted;
static uint32_t finished; /* samples */
static uint32_t acked;    /* samples that the host is known to have */
static struct dojo_counts ring[DOJO_SAMPLE_WINDOW];

/* Whether one of these addresses and sizes is one that this device doesn't have. */
#if UINTPTR_MAX > 0xffffffffu
#define HIGH(value) 0
#else
#define HIGH(value) (uint32_t)((value) >> 32)
#endif

static void send_info(void) {
  struct dojo_info info = {
      .magic = DOJO_PROTOCOL_MAGIC,
      .version = DOJO_PROTOCOL_VERSION,
      .pointer = sizeof(void*),
      .window = DOJO_SAMPLE_WINDOW,
      .frame = DOJO_FRAME_MAX,
      .harts = dojo_port_harts(),
      .image_crc = dojo_port_image_crc(),
  };
  dojo_port_facts(&info);
  dojo_frame_put(&info, sizeof info);
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
    dojo_frame_put(data, data_size);
  } else {
    dojo_frame_put(&answer, answer_bytes);
  }
  dojo_frame_end();
  dojo_port_flush(1);
}

/* What comes of a command: it's answered by a frame of that kind, or refused for a reason. */
#define REFUSE(reason) (0x100u | (reason))

static void reply(unsigned outcome) {
  if (outcome >= 0x100) {
    answer.bytes[0] = (uint8_t)outcome;
    answer.bytes[1] = dojo_frame[DOJO_HEAD_KIND];
    answer_bytes = DOJO_REFUSED_BYTES;
    outcome = DOJO_REFUSED;
  }
  answer_kind = (uint8_t)outcome;
  send_answer();
}

static void send_sample(uint32_t index) {
  const struct sample head = {answer.nonce, index, call.calls};
  size_t size = DOJO_SAMPLE_COUNTERS - DOJO_SAMPLE_TICKS;
  for (unsigned mask = call.counters >> 1; mask != 0; mask &= mask - 1) size += 8;
  dojo_frame_begin(DOJO_SAMPLE, sequence, (uint16_t)(index + 1));
  dojo_frame_put(&head, sizeof head);
  dojo_frame_put(&ring[index % DOJO_SAMPLE_WINDOW], size);
  dojo_frame_end();
}

static void send_started(void) {
  dojo_frame_begin(DOJO_STARTED, sequence, 0);
  dojo_frame_end();
}

static void send_again(uint32_t next) {
  if (call.calls != 0) { /* the last command was a CALL */
    if (next == 0) send_started();
    for (uint32_t i = acked; i < finished; ++i) send_sample(i);
  }
  if (!busy) send_answer();
  dojo_port_flush(1);
}

static void take_ack(void) {
  uint32_t next = body->ack.next;
  if (next > acked + 1 && next - 1 <= finished) acked = next - 1;
  if (body->ack.resend) send_again(next);
}

__attribute__((noinline)) static void copy(void* to, const void* from, uintptr_t bytes) {
  uint8_t* target = to;
  const uint8_t* source = from;
  while (bytes-- != 0) *target++ = *source++;
}

/* The restore entries of `count` sets from the set `first` on. check: 0 where one isn't allowed;
 * else they're carried out. */
static int restore(uint32_t first, uint32_t count, int check) {
  uintptr_t at = (uintptr_t)call.restore + first * call.restores * DOJO_RESTORE_BYTES;
  for (count *= call.restores; count-- != 0; at += DOJO_RESTORE_BYTES) {
    struct restore entry;
    copy(&entry, (const void*)at, sizeof entry);
    uintptr_t to = (uintptr_t)entry.to, from = (uintptr_t)entry.from,
              bytes = (uintptr_t)entry.bytes;
    if (!check) {
      copy((void*)to, (const void*)from, bytes);
    } else if (HIGH(entry.to) | HIGH(entry.from) | HIGH(entry.bytes) ||
               !dojo_port_allows(to, bytes, DOJO_REGION_WRITE) ||
               !dojo_port_allows(from, bytes, DOJO_REGION_READ)) {
      return 0;
    }
  }
  return 1;
}

/* One batch of `calls` calls with the table of a set. */
static int batch(uint32_t set, uint32_t calls, struct dojo_counts* counts) {
  const struct dojo_batch now = {(uintptr_t)call.entry,
                                 (uintptr_t)call.tables + set * call.stride,
                                 calls,
                                 call.harts,
                                 call.counters,
                                 call.flags};
  restore(set, 1, 0);
  if (call.evict_bytes != 0) dojo_port_evict((uintptr_t)call.evict, (uintptr_t)call.evict_bytes);
  return dojo_port_batch(&now, counts, &answer.fault);
}

static int run(void) {
  struct dojo_counts* counts = &ring[0];
  uint32_t start = dojo_port_micros();
  if (call.warmup != 0 && batch(0, call.warmup, counts)) return -1;
  /* Twice in a row, since the first of each is slowed by what it finds cold. */
  for (int enough = call.calls == 0 ? 0 : 2; enough < 2;) {
    if (call.calls == 0) call.calls = 1;
    if (batch(0, call.calls, counts)) return -1;
    if (counts->ticks >= call.min_ticks || call.calls >= 0x40000000u) {
      ++enough;
    } else {
      /* By eight while far away, then by two. */
      call.calls <<= counts->ticks < call.min_ticks >> 4 ? 3 : 1;
      enough = 0;
    }
  }
  for (uint32_t set = 0; finished < call.samples; set = set + 1 == call.sets ? 0 : set + 1) {
    while (finished - acked == DOJO_SAMPLE_WINDOW && !aborted) {
      dojo_port_flush(1);
      dojo_listen(1);
    }
    dojo_listen(0);
    if (aborted) return DOJO_REASON_ABORTED;
    if (call.budget != 0 && finished >= call.min_samples &&
        dojo_port_micros() - start >= call.budget) {
      return DOJO_REASON_BUDGET;
    }
    if (batch(set, call.calls, &ring[finished % DOJO_SAMPLE_WINDOW])) return -1;
    send_sample(finished++);
    dojo_port_flush(0);
  }
  return DOJO_REASON_COMPLETE;
}

static uint8_t refusal(void) {
  if (call.sets - 1 >= DOJO_CALL_MOST_SETS || call.stride > DOJO_CALL_MOST_STRIDE ||
      call.restores > DOJO_CALL_MOST_RESTORES || call.samples > DOJO_CALL_MOST_SAMPLES) {
    return DOJO_REFUSED_CALL;
  }
  if (call.harts - 1u >= dojo_port_harts()) return DOJO_REFUSED_HARTS;
  if ((call.counters & ~dojo_port_counters()) != 0) return DOJO_REFUSED_COUNTERS;
  uint32_t entries = call.sets * call.restores;
  if (HIGH(call.entry) | HIGH(call.tables) | HIGH(call.restore) | HIGH(call.evict) |
          HIGH(call.evict_bytes) ||
      !dojo_port_allows((uintptr_t)call.tables, call.sets * call.stride, DOJO_REGION_READ) ||
      (entries != 0 && !dojo_port_allows((uintptr_t)call.restore, entries * DOJO_RESTORE_BYTES,
                                         DOJO_REGION_READ)) ||
      !restore(0, call.sets, 1) ||
      (call.evict_bytes != 0 &&
       !dojo_port_allows((uintptr_t)call.evict, (uintptr_t)call.evict_bytes, DOJO_REGION_READ))) {
    return DOJO_REFUSED_MEMORY;
  }
  return 0;
}

static unsigned do_call(size_t length) {
  if (length != DOJO_CALL_BYTES) return REFUSE(DOJO_REFUSED_LENGTH);
  copy(&call, body, DOJO_CALL_BYTES);
  uint8_t refused = refusal();
  if (refused != 0) {
    call.calls = 0;
    return REFUSE(refused);
  }
  answer.nonce = call.nonce;
  aborted = 0;
  busy = 1;
  send_started();
  dojo_port_flush(0);
  dojo_port_sync();
  dojo_port_limit(call.limit);
  int reason = run();
  dojo_port_limit(0);
  busy = 0;
  uint8_t canary = dojo_port_canary();
  uint32_t crc = dojo_port_image_crc();
  answer_part = (uint16_t)(finished + 1);
  if (reason >= 0) {
    answer.done.samples = finished;
    answer.done.calls = call.calls;
    answer.done.reason = (uint8_t)reason;
    answer.done.canary = canary;
    answer.done.crc_low = (uint16_t)crc;
    answer.done.crc_high = (uint16_t)(crc >> 16);
    answer_bytes = DOJO_DONE_BYTES;
    return DOJO_DONE;
  }
  answer.nonce = call.nonce;
  answer.fault.canary = canary;
  answer.fault.sample = finished;
  answer.fault.image_crc = crc;
  answer_bytes = DOJO_FAULT_BYTES;
  return DOJO_FAULT;
}

static unsigned do_memory(uint8_t kind, size_t length) {
  int writes = kind == DOJO_WRITE || kind == DOJO_FILL;
  size_t need = kind == DOJO_WRITE  ? DOJO_WRITE_BYTES
                : kind == DOJO_FILL ? DOJO_FILL_BYTES
                                    : DOJO_READ_BYTES;
  if (length < need || (kind != DOJO_WRITE && length > need)) return REFUSE(DOJO_REFUSED_LENGTH);
  uint64_t wide = kind == DOJO_WRITE  ? length - need
                  : kind == DOJO_FILL ? body->memory.size
                                      : (uint32_t)body->memory.size;
  uintptr_t address = (uintptr_t)body->memory.address, size = (uintptr_t)wide;
  if (HIGH(body->memory.address) | HIGH(wide) ||
      !dojo_port_allows(address, size, writes ? DOJO_REGION_WRITE : DOJO_REGION_READ)) {
    return REFUSE(DOJO_REFUSED_MEMORY);
  }
  uint8_t* at = (uint8_t*)address;
  switch (kind) {
    case DOJO_WRITE:
      copy(at, body->bytes + DOJO_WRITE_BYTES, size);
      return DOJO_OK;
    case DOJO_FILL:
      while (size-- != 0) *at++ = body->memory.byte;
      return DOJO_OK;
    case DOJO_READ:
      data = at;
      data_size = (uint32_t)size;
      return DOJO_DATA;
    default:
      dojo_put(answer.bytes, dojo_crc32(0, at, (size_t)size), 4);
      answer_bytes = 4;
      return DOJO_CRC_IS;
  }
}

static unsigned act(uint8_t kind, size_t length) {
  switch (kind) {
    case DOJO_HELLO:
      return DOJO_INFO;
    case DOJO_WRITE:
    case DOJO_READ:
    case DOJO_FILL:
    case DOJO_CRC:
      return do_memory(kind, length);
    case DOJO_CALL:
      return do_call(length);
    case DOJO_PING:
      if (length > sizeof answer) return REFUSE(DOJO_REFUSED_LENGTH);
      copy(&answer, body, length);
      answer_bytes = (uint8_t)length;
      return DOJO_OK;
    case DOJO_RESET:
      return DOJO_OK;
    default:
      return REFUSE(DOJO_REFUSED_KIND);
  }
}

void dojo_execute(size_t length) {
  uint8_t kind = dojo_frame[DOJO_HEAD_KIND];
  uint8_t number = dojo_frame[DOJO_HEAD_SEQUENCE];
  if (kind == DOJO_ABORT) {
    if (length == DOJO_ABORT_BYTES && body->call.nonce == answer.nonce) aborted = 1;
    return;
  }
  if (kind == DOJO_ACK) {
    if (greeted && number == sequence && length == DOJO_ACK_BYTES) take_ack();
    return;
  }
  uint32_t meant = body->hello.session_low | (uint32_t)body->hello.session_high << 16;
  if (!busy && kind == DOJO_HELLO && length >= DOJO_HELLO_BYTES &&
      body->hello.magic == DOJO_PROTOCOL_MAGIC && (!greeted || meant != session)) {
    greeted = 1;
    session = meant;
  } else {
    if (!greeted) return;
    /* It comes twice: its answer was lost, or it was repeated on the way. */
    if (number == sequence) {
      send_again(0);
      return;
    }
    if (busy || number != (uint8_t)(sequence + 1) || kind == DOJO_HELLO) return;
  }
  sequence = number;
  call.calls = finished = acked = 0;
  answer_bytes = 0;
  answer_part = 0;
  unsigned outcome = act(kind, length);
  reply(outcome);
  if (kind == DOJO_RESET || (outcome == DOJO_FAULT && answer.fault.cause == DOJO_CAUSE_LOST)) {
    dojo_port_reset();
  }
}
