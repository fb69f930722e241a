/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Commands as they come over the link. */
#include "core/core.h"
#include "core/frame.h"

void dojo_listen(int wait) {
  uint8_t chunk[32];
  size_t count;
  while ((count = dojo_port_receive(chunk, sizeof chunk, wait)) != 0) {
    for (size_t i = 0; i < count; ++i) {
      size_t length = dojo_frame_take(chunk[i]);
      if (length != 0) dojo_execute(length - DOJO_HEAD_BYTES);
    }
    wait = 0;
  }
}

void dojo_run(void) {
  for (;;) dojo_listen(1);
}
