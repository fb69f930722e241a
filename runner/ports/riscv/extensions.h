/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * Extensions that are found by trying them, see extensions.S.
 */
#ifndef DOJO_RISCV_EXTENSIONS_H
#define DOJO_RISCV_EXTENSIONS_H

#include <stdint.h>

#ifdef __riscv_compressed
#define DOJO_EXTENSION_BYTES 6
#else
#define DOJO_EXTENSION_BYTES 8
#endif

extern const uint8_t dojo_extension_code[];
extern const char dojo_extension_names[], dojo_extension_names_end[];

#endif
