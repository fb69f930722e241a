/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runner's core with a way back to its first state. */
#include <string.h>

#include "core/core.c"
#include "core/frame.c"
#include "core/link.c"

void core_restart(void);
void core_restart(void) {
  memset(&in, 0, sizeof in);
  memset(&call, 0, sizeof call);
  memset(&answer, 0, sizeof answer);
  sequence = greeted = busy = aborted = 0;
  session = finished = acked = data_size = 0;
  answer_kind = answer_bytes = 0;
  answer_part = 0;
  data = NULL;
}
