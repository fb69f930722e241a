/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where one hart runs everything. */
#include "ports/bare/bare.h"
#include "protocol/abi.h"

uint32_t dojo_port_harts(void) { return 1; }
void dojo_machine_use(uint32_t harts) { (void)harts; }
uint16_t dojo_machine_hart(void) { return 0; }
uint8_t dojo_machine_stuck(void) { return 0; }

void dojo_parallel_for(dojo_body_fn body, void* context, int64_t count) {
  for (intptr_t i = 0; i < (intptr_t)count; ++i) body(context, i);
}
