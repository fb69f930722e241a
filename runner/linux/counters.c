/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ticks, and hardware events where the system lets us. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "linux/linux.h"
#include "linux/machine.h"

double dojo_ticks_hz;

static struct event {
  const char* name;
  uint64_t config;
  int fd;
  int error;
} events[DOJO_EXTRA_COUNTERS] = {
    {"perf-cycles", PERF_COUNT_HW_CPU_CYCLES, -1, 0},
    {"perf-instructions", PERF_COUNT_HW_INSTRUCTIONS, -1, 0},
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void dojo_counters_init(void) {
  double start = seconds();
  uint64_t first = dojo_machine_ticks();
  for (int i = 0; i < DOJO_EXTRA_COUNTERS; ++i) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = events[i].config,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    events[i].fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    events[i].error = errno;
  }
  double now;
  uint64_t last;
  do {
    now = seconds();
    last = dojo_machine_ticks();
  } while (now - start < 2e-3);
  dojo_ticks_hz = (double)(last - first) / (now - start);
}

uint8_t dojo_port_counters(void) {
  uint8_t mask = 1;
  for (int i = 0; i < DOJO_EXTRA_COUNTERS; ++i) {
    if (events[i].fd >= 0) mask |= (uint8_t)(2 << i);
  }
  return mask;
}

void dojo_counters_read(uint8_t mask, uint64_t values[DOJO_EXTRA_COUNTERS]) {
  int n = 0;
  for (int i = 0; i < DOJO_EXTRA_COUNTERS; ++i) {
    if ((mask >> 1 >> i & 1) == 0) continue;
    if (read(events[i].fd, &values[n], 8) != 8) values[n] = 0;
    ++n;
  }
}

static void item(uint8_t id, uint8_t width, const char* name, const char* remark) {
  char text[128] = {(char)id, (char)width};
  size_t used = 2 + strlen(name);
  memcpy(text + 2, name, strlen(name) + 1);
  strncpy(text + used + 1, remark, sizeof text - used - 2);
  dojo_item(DOJO_ITEM_COUNTER, text, (uint16_t)(used + 1 + strlen(text + used + 1)), NULL, 0);
}

void dojo_counters_items(void) {
  item(DOJO_COUNTER_TIME, 64, dojo_machine_counter(), "");
  for (int i = 0; i < DOJO_EXTRA_COUNTERS; ++i) {
    int there = events[i].fd >= 0;
    item((uint8_t)(i + 1), there ? 64 : 0, events[i].name, there ? "" : strerror(events[i].error));
  }
}
