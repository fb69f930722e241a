/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What C does for the cluster; the rest is start.S. */
#include <stddef.h>

#include "core/port.h"
#include "ports/bare/bare.h"
#include "ports/snitch/cluster.h"

#define AT(field, offset) _Static_assert(offsetof(struct dojo_cluster, field) == (offset), #field)
AT(body, CLUSTER_BODY);
AT(count, CLUSTER_COUNT);
AT(used, CLUSTER_USED);
AT(inside, CLUSTER_INSIDE);
AT(faulted, CLUSTER_FAULTED);
AT(harts, CLUSTER_HARTS);
AT(dst, CLUSTER_DST);
AT(rows, CLUSTER_ROWS);
AT(present, CLUSTER_PRESENT);
AT(stuck, CLUSTER_STUCK);

struct dojo_cluster dojo_cluster __attribute__((aligned(64)));

uint32_t dojo_port_harts(void) { return dojo_cluster.harts; }
void dojo_machine_use(uint32_t harts) { dojo_cluster.used = harts; }
uint16_t dojo_machine_hart(void) { return (uint16_t)dojo_guard.unused; }
uint8_t dojo_machine_stuck(void) { return dojo_cluster.stuck ? DOJO_CANARY_RESTART : 0; }

/* Nothing holds data but the memories. */
void dojo_port_evict(uintptr_t address, uintptr_t size) {
  (void)address;
  (void)size;
}

void dojo_machine_stop(void) {
  if (dojo_console_end != 0) dojo_console_end();
  for (;;) continue;
}
