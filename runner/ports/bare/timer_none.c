/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A device without a timer: budgets don't end, and the host stops what doesn't return. */
#include "ports/bare/bare.h"

uint32_t dojo_port_micros(void) { return 0; }
void dojo_port_limit(uint32_t us) { (void)us; }
