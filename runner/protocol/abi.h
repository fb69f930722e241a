/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** \file
 * How a kernel is called and what it may call. C11 and C++.
 */
#ifndef DOJO_ABI_H
#define DOJO_ABI_H

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

#ifdef __cplusplus
}
#endif
#endif
