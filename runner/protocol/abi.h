/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * How a kernel is called and what it may call. C11 and C++.
 */
#ifndef DOJO_ABI_H
#define DOJO_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A compiled kernel. `buffers`: the arguments in declared order, then the addressable tmp buffers
 * (one for all that share storage), each aligned to DOJO_BUFFER_ALIGN. */
typedef void (*dojo_kernel_fn)(void* const* buffers);

#define DOJO_BUFFER_ALIGN 64

/** One iteration of a `parallel` scope. */
typedef void (*dojo_body_fn)(void* context, int64_t iteration);

/** Service symbols that the runner reports in HELLO and kernels may refer to:
 *   dojo_parallel_for(body, context, count): runs body(context, i) for all 0 <= i < count over the
 *   harts of the CALL and returns when all are done. Not reentrant. */
typedef void (*dojo_parallel_for_fn)(dojo_body_fn body, void* context, int64_t count);

/** Where there is an engine that copies memory beside the harts (targets with the mapping `dma`):
 *   dojo_dma_copy2d(dst, src, bytes, dst_stride, src_stride, rows): copies `rows` rows of `bytes`
 *   each, the strides in bytes from one row to the next (not used where there is one row). Returns
 *   when the transfer has been handed to the engine, which carries transfers out in their order.
 *   What the hart has stored by then is what is copied.
 *   dojo_dma_wait(): returns when every transfer that was asked for is done.
 * They are for hart 0 outside of the bodies of dojo_parallel_for. Within a body a copy is carried
 * out by the hart that asks for it, at once, and there is nothing to wait for. */
typedef void (*dojo_dma_copy2d_fn)(void* dst, const void* src, size_t bytes, ptrdiff_t dst_stride,
                                   ptrdiff_t src_stride, size_t rows);
typedef void (*dojo_dma_wait_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
