/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * How hart 0, which runs the runner, sets the others to work. All harts of the cluster, the one
 * beside the DMA engine among them, wait at the hardware barrier, which lets go when the last has
 * come. A command is written here, a first barrier starts it, a second ends it:
 *   section  the compute harts run their part of a dojo_parallel_for
 *   copy     the DMA hart hands a transfer to its engine
 *   wait     the DMA hart comes to the second barrier when the engine is done
 *   run      the DMA hart calls a function
 *   sync     each hart forgets the instructions that it holds
 * A hart that faults between the two writes the fault down and goes to the second barrier.
 */
#ifndef DOJO_SNITCH_CLUSTER_H
#define DOJO_SNITCH_CLUSTER_H

#include "port_config.h"

/* Control and status registers, and register blocks, of the cluster. */
#define CSR_SSR 0x7c0
#define CSR_BARRIER 0x7c2
#define SCRATCH1 0x10021188      /* where the boot ROM goes at an interrupt */
#define INTERRUPT_SET 0x100211a0 /* the cluster's interrupts, a bit a hart */
#define INTERRUPT_CLEAR 0x100211a8

#define COMMAND_SECTION 0
#define COMMAND_COPY 1
#define COMMAND_WAIT 2
#define COMMAND_RUN 3
#define COMMAND_SYNC 4

/* Offsets into dojo_cluster. What all harts read at once lies in banks of its own. */
#define CLUSTER_COMMAND 0
#define CLUSTER_INSIDE 4
#define CLUSTER_BODY 8
#define CLUSTER_FAULTED 12
#define CLUSTER_CONTEXT 16
#define CLUSTER_HARTS 20
#define CLUSTER_COUNT 24
#define CLUSTER_STUCK 28
#define CLUSTER_USED 32
#define CLUSTER_PRESENT 36
#define CLUSTER_DST 40
#define CLUSTER_SRC 44
#define CLUSTER_BYTES 48
#define CLUSTER_DST_STRIDE 52
#define CLUSTER_SRC_STRIDE 56
#define CLUSTER_ROWS 60
#define CLUSTER_WARMING 64
#define CLUSTER_ENTRY 68
#define CLUSTER_LEFT 72
#define CLUSTER_SIZE 76

#ifndef __ASSEMBLER__
#include <stdint.h>

struct dojo_cluster {
  uint32_t command;
  uint32_t inside;  /* hart 0 runs its part of a section */
  uint32_t body;    /* of a section or a run */
  uint32_t faulted; /* what came first stands in dojo_guard */
  uint32_t context; /* as the body */
  uint32_t harts;   /* that compute */
  uint32_t count;   /* of iterations; of a run, its stack */
  uint32_t stuck;   /* a hart faulted with streams on: nothing brings them to their end */
  uint32_t used;    /* harts of the present CALL */
  uint32_t present; /* a bit each, at start-up */
  uint32_t dst, src, bytes, dst_stride, src_stride, rows; /* of a copy */
  uint32_t warming, entry, left; /* what comes after the call that warms the runner's own code */
};
extern struct dojo_cluster dojo_cluster;
_Static_assert(sizeof(struct dojo_cluster) == CLUSTER_SIZE, "the assembly knows it");
#endif

#endif
