/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * As small as a microcontroller's.
 */
#ifndef DOJO_PORT_CONFIG_H
#define DOJO_PORT_CONFIG_H

#define DOJO_FRAME_MAX 192
#define DOJO_SAMPLE_WINDOW 4
#define DOJO_EXTRA_COUNTERS 1

#endif
