/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runner's core with a way back to its first state. */
#include "core/core.c"
#include "core/frame.c"

void core_restart(void);
void core_restart(void) {
  in.length = 0;
  in.code = in.left = in.bad = 0;
  sequence = greeted = busy = aborted = counters = wide = 0;
  session = calls = finished = acked = data_size = 0;
  answer_kind = answer_bytes = 0;
  answer_part = 0;
  data_address = 0;
  nonce = 0;
}
