// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about streams, hardware loops, transfers, and buffers that are filled an iteration ahead.
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfStreams() {
  static const std::vector<std::string> traps = {
      // What may be streamed: two are read and one is written, ...
      R"(for stream frep unmap
in a $T [$N, $M]
in b $T [$M]
out y $T [$N, $M]

$N
| $M
| | y[{0}, {1}] = a[{0}, {1}] * b[{1}]
)",
      // ... or updated element by element, ...
      R"(for stream frep unmap
in a $T []
in x $T [$N]
inout y $T [$N]

$N
| y[{0}] += a[] * x[{0}]
)",
      R"(for frep unmap
in a f64 [$N, $M]
in b f64 [$M]
out y f64 [$N]
tmp s f64 [$N, ~$M] @register

$N:stream(a, b, y)
| 1
| | s[{0}, {1}] = 0
| $M
| | s[{0}, {1}] = a[{0}, {1}] * b[{1}]
| | 2:unroll
| | | s[{0}, {1}] += 1
| 1
| | y[{0}] = 3
)",
      R"(for stream frep unmap join_scopes
in a f64 [$N]
out y f64 [$N]
out z f64 [$N]

$N
| 2:unroll
| | y[{0}] = a[{0}] * 3
| z[{0}] = a[{0}] + 1
)",
      R"(for frep unmap
in a f32 [$N, $M]
out y f32 [$N, $M]

$N:stream(a, y)+frep
| $M:unroll
| | y[{0}, {1}] = a[{0}, {1}] * 3
)",
      R"(for frep unmap
in a f64 [$N, $M]
out y f64 [$N, $M]

$N:stream(a, y)
| $M:frep
| | y[{0}, {1}] = a[{0}, {1}] * 3
)",
      // ... but nothing that is read again where it was written.
      R"(for stream
inout y $T [$N + 1]

$N
| y[{0} + 1] = y[{0}] * 2
)",
      R"(for stream
inout y $T [$N + 1]

$N
| y[{0}] = y[{0} + 1] * 2
)",
      R"(for stream
in x $T [$N, $M]
out y $T [$N]

$N
| y[{0}] = 0
| $M
| | y[{0}] $A x[{0}, {1}]
)",
      R"(for stream
in x $T [$N]
out y $T [$N]
tmp t $T [~$N]

$N
| t[{0}] = x[{0}] * 2
| y[{0}] = t[{0}]
)",
      R"(for stream
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$N~2, $M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}] * 2
| $M
| | y[{0}, {1}] = t[{0}, {1}]
)",
      R"(for stream
inout y $T [$N, $M]

$N
| $M
| | y[{0}, {1}] = y[{0}, 0] + 1
)",
      R"(for stream
inout y $T [$N*2]

$N
| y[{0}*2] = y[{0}*2 + 1] * 2
)",
      // Storage that two share: what streams write comes late.
      R"(for stream share_storage
in x $T [$N]
out y $T [$N]
out z $T [$N]
tmp t $T [$N]
tmp u $T [$N] shares t

$N
| t[{0}] = x[{0}] * 2
$N
| y[{0}] = t[{0}] + 1
$N
| u[{0}] = y[{0}] * 3
| z[{0}] = u[{0}] * 2
)",
      R"(for stream share_storage
in x $T [$N]
out y $T [$N]
out z $T [$N]
tmp t $T [~$N]
tmp u $T [~$N] shares t

$N
| t[{0}] = x[{0}] * 2
| y[{0}] = t[{0}] + 1
| u[{0}] = x[{0}] * 3
| z[{0}] = u[{0}] * 2
)",
      // Moves of what is streamed: values would go round.
      R"(for join_scopes swap_siblings
in x $T [$N]
out y $T [$N]
out z $T [$N]

1:stream(y)
| $N
| | y[{0} + {1}] = x[{1}] * 2
$N
| z[{0}] = y[{0}] + 1
)",
      R"(for sink hoist reuse_dim materialize_dim
in x $T [$N, $M]
out y $T [$N, $M]
out z $T [$N, $M]
tmp t $T [$N, $M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}] * 2
$N:stream(t, y)
| $M
| | y[{0}, {1}] = t[{0}, {1}] + 1
$N
| $M
| | z[{0}, {1}] = t[{0}, {1}] + 2
)",
      R"(for merge_peeled peel_scope
inout y $T [$N + 2]

1:stream(y)
| y[{0} + 1] = y[{0}] * 2
1:stream(y)
| y[{0} + 2] = y[{0} + 1] * 2
)",
      R"(for split_buffer join_buffers add_dim drop_dim recompute forward_copy
in x $T [$N]
out y $T [$N]
tmp t $T [$N]

$N
| t[{0}] = x[{0}] * 2
$N:stream(t)
| y[{0}] = t[{0}] + 1
)",
      R"(for contract_fma expand_fma fold_init unfold_init fold_copy unfold_copy
in a $T [$N]
in b $T [$N]
inout y $T [$N]
tmp t $T [~$N] @register

$N:stream(a, b, y)
| t[{0}] = a[{0}] * b[{0}]
| y[{0}] += t[{0}]
)",
      R"(for cache_read cache_write forward_copy
in a $T [$N, $M]
inout y $T [$N, $M]

$N:stream(a, y)
| $M
| | y[{0}, {1}] += a[{0}, {1}]
)",
      // Guards and what data decides.
      R"(for stream push_guard lift_guard
in x $T [$N]
out y $T [$N]

$N
| y[{0}] = 1
$N
| y[{0}] = x[{0}] if {0} in [0, $S)
)",
      R"(for stream
in i i32 [$N] in [0, $M)
in x $T [$M]
out y $T [$N]

$N
| y[{0}] = x[i[{0}]] * 2
)",
      // Transfers: any order, so no element twice, ...
      R"(for dma unmap pipeline
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [~$N, $M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}]
| $M
| | y[{0}, {1}] = t[{0}, {1}] * 2
)",
      R"(for dma unmap
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$N, $M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}]
$N
| $M
| | y[{0}, {1}] = t[{0}, {1}] * 2
)",
      R"(for dma
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$N, ~$M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}, $M - 1] = t[{0}, $M - 1] * 2
$N
| $M
| | y[{0}, {1}] = 1
)",
      R"(for dma
in x $T [$N, $M]
out y $T [$N]

$N
| $M
| | y[{0}] = x[{0}, {1}]
)",
      R"(for dma
in x $T [$N, $M]
out y $T [$N + $M]

$N
| $M
| | y[{0} + {1}] = x[{0}, {1}]
1
| y[{0} + $N + $M - 1] = 2
)",
      R"(for dma
inout x $T [$N + 1]

$N
| x[{0}] = x[{0} + 1]
)",
      R"(for dma
in x f32 [$N]
out y f64 [$N]

$N
| y[{0}] = x[{0}]
)",
      // Filled an iteration ahead, ...
      R"(for pipeline unpipeline
in x $T [$N, $M]
out y $T [$N]
tmp t $T [~$N, $M]

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| $M
| | y[{0}] += t[{0}, {1}]
)",
      R"(for unpipeline pipeline
in x $T [$N, $M]
out y $T [$N]
tmp t $T [$N~2, $M]

$M
| t[0, {0}] = x[0, {0}]
$N
| $M if {0} in [0, $N - 1)
| | t[{0} + 1, {1}] = x[{0} + 1, {1}]
| y[{0}] = 1
| $M
| | y[{0}] $A t[{0}, {1}]
)",
      R"(for unpipeline pipeline
in x $T [$N]
out y $T [$N]
tmp t $T [$N]

1
| t[{0}] = x[{0}]
$N
| t[{0} + 1] = x[{0} + 1] if {0} in [0, $N - 1)
| y[{0}] = t[{0}] * 2
)",
      R"(for pipeline unpipeline
in x $T [2, $N]
out y $T [2, $N]
tmp t $T [~$N]

2
| $N
| | t[{1}] = x[{0}, {1}]
| | y[{0}, {1}] = t[{1}] * 2
)",
      // ... but not where the others make what fills it, ...
      R"(for pipeline
inout x $T [$N + 1]
out y $T [$N]
tmp t $T [~$N]

$N
| t[{0}] = x[{0}]
| x[{0} + 1] = t[{0}] * 2
| y[{0}] = t[{0}]
)",
      R"(for pipeline
inout x $T [$N + 1]
out y $T [$N]
tmp t $T [~$N]

$N
| t[{0}] = x[{0} + 1]
| x[{0}] = t[{0}] * 2
| y[{0}] = t[{0}]
)",
      R"(for pipeline
in x $T [$N]
out y $T [$N]
tmp s $T []
tmp t $T [~$N]

s[] = 1
$N
| t[{0}] = x[{0}] + s[]
| s[] = s[] + 1
| y[{0}] = t[{0}]
)",
      // ... it is used later or in other iterations, ...
      R"(for pipeline unpipeline
in x $T [$N]
out y $T [$N]
inout z $T []
tmp t $T [~$N]

$N
| t[{0}] = x[{0}]
| y[{0}] = t[{0}] * 2
z[] += t[$N - 1]
)",
      R"(for pipeline unpipeline
in x $T [$N]
out y $T [$N]
inout z $T []
tmp t $T [$N]

$N
| t[{0}] = x[{0}]
| y[{0}] = t[{0}] * 2
$N
| z[] += t[{0}]
)",
      R"(for pipeline
in x $T [$N]
out y $T [$N]
tmp t $T [$N + 1]

1
| t[{0} + $N] = 3
$N
| t[-{0} + $N - 1] = x[{0}]
| y[{0}] = t[-{0} + $N] * 2
)",
      R"(for pipeline
in x $T [$N]
inout y $T [$N]
tmp t $T [$N]

$N
| t[{0}] = x[{0}]
| y[{0}] = t[{0}] * 2
| y[{0}] += t[{0} - 1] if {0} in [1, $N)
)",
      R"(for pipeline
in x $T [$N]
out y $T [$N]
tmp t $T [$N]

$N
| t[{0}] = 0
$N
| t[{0}] = x[{0}]
| y[{0}] = t[{0}] * 2
)",
      // ... or both use something between.
      R"(for pipeline unpipeline
in x $T [$N]
out y $T [$N]
tmp s $T [~$N] @$P
tmp t $T [~$N]

$N
| t[{0}] = x[{0}] * 2
| s[{0}] = t[{0}] + 1
| y[{0}] = s[{0}] * 3
)",
  };
  return traps;
}

}  // namespace dojo::proof
