/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * Extensions that are found by trying them, see extensions.S.
 */
#ifndef DOJO_RISCV_EXTENSIONS_H
#define DOJO_RISCV_EXTENSIONS_H

#include <stdint.h>

#define DOJO_EXTENSION_BYTES 12

extern const uint8_t dojo_extension_code[];
extern const char dojo_extension_names[];

#endif
