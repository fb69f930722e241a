/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core/core.h"
#include "ports/bare/bare.h"

extern const uint8_t dojo_image[], dojo_image_end[];

uint32_t dojo_port_image_crc(void) {
  return dojo_crc32(0, dojo_image, (size_t)(dojo_image_end - dojo_image));
}
