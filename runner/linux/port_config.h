/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * Sizes of the Linux port.
 */
#ifndef DOJO_PORT_CONFIG_H
#define DOJO_PORT_CONFIG_H

#define DOJO_FRAME_MAX 65536
#define DOJO_SAMPLE_WINDOW 128
#define DOJO_EXTRA_COUNTERS 2
#define DOJO_VECTORS 1

#endif
