// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about where values come from and who still needs them.
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfValues() {
  static const std::vector<std::string> traps = {
      // A copy whose guard keeps what it held before.
      R"(for forward_copy
in x $T [$S]
out y $T [$N]
tmp t $T []

$N
| t[] = x[{0}] if {0} in [0, $S)
| y[{0}] = t[]
)",
      // Values that are written over in part: under a guard, ...
      R"(for split_buffer cache_write forward_copy
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$N, $M] @$P

$N
| $M
| | t[{0}, {1}] = 1
| $M
| | t[{0}, {1}] = x[{0}, {1}] if {1} in [1, $M)
| $M
| | y[{0}, {1}] = t[{0}, {1}] * 2
)",
      R"(for split_buffer cache_write
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$M]

$N
| $M
| | t[{1}] = 1
| $M if {0} in [1, $N)
| | t[{1}] = x[{0}, {1}]
| $M
| | y[{0}, {1}] = t[{1}] * 2
)",
      // ... on a diagonal, ...
      R"(for split_buffer cache_write cache_read
in x $T [$N, $N]
out y $T [$N, $N]
tmp t $T [$N, $N] @$P

$N
| $N
| | t[{0}, {1}] = 3
$N
| t[{0}, {0}] = x[{0}, {0}]
$N
| $N
| | y[{0}, {1}] = t[{0}, {1}] + x[{0}, {1}]
)",
      R"(for split_buffer cache_write
in x $T [$M, $N, $N]
out y $T [$M, $N, $N]
tmp t $T [$N, $N]

$M
| $N
| | $N
| | | t[{1}, {2}] = 3
| $N
| | t[{1}, {1}] = x[{0}, {1}, {1}]
| $N
| | $N
| | | y[{0}, {1}, {2}] = t[{1}, {2}] + x[{0}, {1}, {2}]
)",
      // ... in steps, ...
      R"(for cache_read cache_write
in x $T [$M, $N]
out y $T [$M, $N]
tmp t $T [$N*2]

$N
| t[{0}*2] = 2
$M
| $N
| | y[{0}, {1}] = t[{1}*2] + x[{0}, {1}]
)",
      R"(for split_buffer cache_write
in x $T [$M, $N]
out y $T [$M, $N*2]
tmp t $T [$N*2]

$M
| $N*2
| | t[{1}] = 1
| $N
| | t[{1}*2] = x[{0}, {1}]
| $N*2
| | y[{0}, {1}] = t[{1}] * 2
)",
      // ... or in rows that data decides.
      R"(for split_buffer cache_write cache_read
in row i32 [$N + 1] monotone in [0, $M]
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$M]

$N
| $M
| | t[{1}] = 1
| row[{0}]..row[{0} + 1]
| | t[{1}] = x[{0}, {1}]
| $M
| | y[{0}, {1}] = t[{1}] * 2
)",
      R"(for split_buffer cache_write cache_read
in row i32 [$N + 1] monotone in [0, $M]
in x $T [$N, $M]
in s $T [$N]
inout y $T [$N, $M]

$N
| row[{0}]..row[{0} + 1]
| | y[{0}, {1}] = x[{0}, {1}] / s[{0}]
)",
      // Rows of which at most one has an element: two loops over them don't show it.
      R"(for fission_scope
in row i32 [$N + 1] monotone in [0, 1]
in x $T [$N]
inout y $T []
tmp t $T [~$N] @$P

$N
| row[{0}]..row[{0} + 1]
| | t[{0}] = x[{0}]
| row[{0}]..row[{0} + 1]
| | y[] = t[{0}]
)",
      // Two operators on one accumulator, together or in turn.
      R"(for fission_scope privatize
in x $T [$N, $M]
in z $T [$N, $M]
out s $T [$N]

$N
| s[{0}] = 1
| $M
| | s[{0}] $A x[{0}, {1}]
| | s[{0}] $B z[{0}, {1}]
)",
      R"(for swap_siblings join_scopes
in x $T [$N, $M]
in z $T [$N]
inout s $T [$N]

$N
| $M
| | s[{0}] $A x[{0}, {1}]
| s[{0}] $B z[{0}]
$N
| s[{0}] $A z[{0}]
)",
      R"(for join_scopes swap_siblings
in x $T [$N]
in z $T [$N]
inout s $T []

$N
| s[] $A x[{0}]
$N
| s[] $B z[{0}]
)",
      // An accumulator that begins anew while it is summed up, or is read.
      R"(for privatize cache_write split_buffer
in x $T [$N, $M]
out y $T [$N]
tmp s $T [] @$P

$N
| s[] = x[{0}, 0]
| $M
| | s[] $A x[{0}, {1}]
| y[{0}] = s[]
)",
      R"(for fission_scope privatize join_buffers
in x $T [$N, $M]
out y $T [$N, $M]
tmp s $T []

s[] = 0
$N
| $M
| | s[] += x[{0}, {1}]
| | y[{0}, {1}] = s[]
)",
      // Two sums into one buffer, one along the loop.
      R"(for privatize swap_scopes
in x $T [$N, $M]
in z $T [$N, $M]
inout s $T [$M]

$N
| $M
| | s[0] += x[{0}, {1}]
| | s[{1}] += z[{0}, {1}]
)",
      // Sums of which only some elements begin.
      R"(for factor_out privatize cache_write
in x $T [$N, $M]
out y $T [$N]
tmp s $T [$N*2]

$N
| s[{0}*2] = 0
$N
| $M
| | s[{0}*2] += x[{0}, {1}]
$N
| y[{0}] = s[{0}*2]
)",
      R"(for privatize cache_write
in x $T [$N, $M]
out y $T [$N]
tmp s $T [$N]

$N if 1 in [0, 2)
| s[{0}] = 0 if {0} in [0, $S)
$N
| $M
| | s[{0}] += x[{0}, {1}] if {0} in [0, $S)
$N
| y[{0}] = x[{0}, 0]
$S
| y[{0}] = s[{0}]
)",
      // A result that is scratch before.
      R"(for split_buffer cache_write
in x $T [$N]
out y $T [$N]
out z $T [$N]
out w $T [$N]

$N
| y[{0}] = x[{0}] * 2
| z[{0}] = y[{0}] + 1
$N
| y[{0}] = x[{0}] + 3
| w[{0}] = y[{0}] * 5
)",
      R"(for cache_write fission_scope
in x $T [$N]
out y $T []
out z $T [$N]

$N
| y[] = x[{0}] * 2
| z[{0}] = y[] + 1
)",
      // A value of one iteration that later ones use.
      R"(for parallelize vectorize split_buffer
in x $T [$N]
out y $T [$N]
tmp t $T [] @$P

$N
| t[] = x[{0}] if {0} in [0, 1)
| y[{0}] = t[] + x[{0}]
)",
      R"(for materialize_dim cache_write recompute
in x $T [$N, $M]
out y $T [$N]
tmp t $T [~$M] @$P

$N
| $M
| | t[$M - 1 - {1}] = x[{0}, {1}]
| y[{0}] = t[0]
)",
      // Indices that use a part of a dim without storage.
      R"(for drop_dim add_dim
in x $T [$S]
out y $T [$S]
tmp t $T [~$N] @$P

$S
| t[{0}] = x[{0}] + 1
| y[{0}] = t[{0}] * 2
)",
      // What iterations that run at once had for themselves, to make a value again from.
      R"(for recompute
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [~$N, $M] @stack
tmp e $T [$N, $M]

$N
| $M:parallel
| | t[{0}, {1}] = x[{0}, {1}] + 1
| | e[{0}, {1}] = exp(t[{0}, {1}])
$N
| $M
| | y[{0}, {1}] = e[{0}, {1}] * 2
)",
      // Sums without a term, which stay 0 whatever the factor.
      R"(for factor_out
in x $T [$N, $M]
out y $T [$N]

$N
| y[{0}] = 0
| $M
| | y[{0}] += x[{0}, {1}] / 0 if {0} + {1} in [0, 2)
)",
      R"(for recompute
in x $T [$N, $M]
out y $T [$N]
out z $T [$N, $M]
tmp t $T [~$N, $M] @stack

$N
| y[{0}] = 0
| $M:vector
| | t[{0}, {1}] = x[{0}, {1}] * 2
| | z[{0}, {1}] = exp(t[{0}, {1}])
$N
| $M
| | y[{0}] += z[{0}, {1}]
)",
      // Elements that are written again by an earlier leaf, which may run later.
      R"(for recompute
in x $T [$N]
out y $T [$N]
tmp e $T [$N]

$N
| e[{0} - 1] = 3 if {0} in [1, $N)
| e[{0}] = exp(x[{0}])
$N
| y[{0}] = e[{0}] * 2
)",
      // Elements that have no value, between those that are summed up.
      R"(for factor_out privatize
in x $T [$M, $N]
out y $T [$N*2]

$N
| y[{0}*2] = 0
$M
| $N
| | y[{1}*2] += x[{0}, {1}]
$N
| y[{0}*2 + 1] = 1
)",
      // Runs of siblings that reduce into one accumulator.
      R"(for privatize
in x $T [$N, $M]
in z $T [$N, $M]
out s $T [$N]

$N
| s[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}]
| $S
| | s[{0}] += z[{0}, {1}]
| s[{0}] = s[{0}] * 2
)",
      R"(for privatize
in x $T [$N, $M]
in z $T [$N, $M]
out s $T [$N]
out w $T [$N]

$N
| s[{0}] = 1
| $M
| | s[{0}] $A x[{0}, {1}]
| $M
| | s[{0}] $A z[{0}, {1}]
| | w[{0}] = s[{0}]
)",
      R"(for join_scopes privatize
in x $T [$N, $M]
in z $T [$N, $M]
out s $T [$N]

$N
| s[{0}] = 1
| $M
| | s[{0}] $A x[{0}, {1}]
| $M
| | s[{0}] $B z[{0}, {1}]
)",
      // ... written again in the order against the copy's, ...
      R"(for materialize_dim cache_write forward_copy
in x $T [$N, $M]
out y $T [$N]
tmp t $T [~$M] @$P

$N
| 2
| | $M
| | | t[$M - 1 - {2}] = x[{0}, {2}] + 1
| y[{0}] = t[0]
)",
      // ... in rows that data decides, over values of before the loop.
      R"(for split_buffer cache_write cache_read
in row i32 [$N + 1] monotone in [0, $M]
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$M]

$M
| t[{0}] = 1
$N
| row[{0}]..row[{0} + 1]
| | t[{1}] = x[{0}, {1}]
| $M
| | y[{0}, {1}] = t[{1}] * 2
)",
      R"(for split_buffer cache_write cache_read
in row i32 [$N + 1] monotone in [0, $M]
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$M] @$P

$M
| t[{0}] = x[0, {0}]
$N
| $M
| | y[{0}, {1}] = t[{1}] + 1
| row[{0}]..row[{0} + 1]
| | t[{1}] = x[{0}, {1}] * 2
| $M
| | y[{0}, {1}] += t[{1}]
)",
      // Values of what each lane has to itself, and values made twice.
      R"(for recompute
in x $T [$N]
out y $T [$N]
tmp r $T [] @register
tmp t $T [$N]

$N:vector
| r[] = x[{0}] + 1
| t[{0}] = r[] * 2
$N
| y[{0}] = t[{0}]
)",
      R"(for recompute
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp t $T [$N] @$P

$N
| t[{0}] = x[{0}] * 2
$N
| t[{0}] = z[{0}] + 1 if {0} in [1, $N)
$N
| y[{0}] = t[{0}]
)",
      // Dims without storage: what is never lost, though that isn't seen in each iteration, ...
      R"(for drop_dim materialize_dim
in x $T [$N]
inout y $T [$N]
tmp t $T [~$N] @$P

$N
| t[{0}] = x[{0}] + 1 if {0} in [0, 1)
$N
| y[{0}] = t[{0}] * 2 if {0} in [0, 1)
)",
      R"(for drop_dim materialize_dim
in x $T [$N, $M]
inout y $T [$N, $M]
tmp t $T [$N, ~$M] @$P

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}] + 1 if {1} in [1, 2)
| $M
| | y[{0}, {1}] = t[{0}, {1}] * 2 if {1} in [1, 2)
)",
      R"(for materialize_dim
in x $T [$N]
out y $T []
tmp t $T [~$N] @$P

$N
| t[{0}] = x[{0}] + 1
y[] = t[$N - 1] * 2
)",
      // ... with elements between, ...
      R"(for drop_dim
in x $T [$N]
out y $T [$N]
tmp t $T [~$N pad 1] @$P

$N
| t[{0}] = x[{0}] + 1
| y[{0}] = t[{0}] * 2
)",
      R"(for drop_dim
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [~$N pad 2, ~$M] @$P

$N
| $M
| | t[{0}, {1}] = x[{0}, {1}] * 2
| | y[{0}, {1}] = t[{0}, {1}] + 1
)",
      // ... and in part of their range.
      R"(for drop_dim add_dim
in x $T [$S, $M]
out y $T [$S, $M]
tmp t $T [~$N, ~$M] @$P

$S
| $M
| | t[{0}, {1}] = x[{0}, {1}] + 1
| | y[{0}, {1}] = t[{0}, {1}] * 2
)",
      R"(for drop_dim
in row i32 [$N + 1] monotone in [0, $M]
in x $T [$N, $M]
inout y $T [$N, $M]
tmp t $T [~$M] @$P

$N
| row[{0}]..row[{0} + 1]
| | t[{1}] = x[{0}, {1}] + 1
| | y[{0}, {1}] = t[{1}] * 2
)",
      R"(for cache_write cache_read
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [~$M] @$P

$N
| $M
| | t[{1}] = x[{0}, {1}] + 1
| | y[{0}, {1}] = t[{1}] * 2
)",
      // What later iterations find in storage that each would have to itself.
      R"(for parallelize vectorize
in x $T [$N]
out y $T [$N]
tmp t $T [] @stack

$N
| t[] = 1 if {0} in [0, 1)
| t[] += x[{0}] if {0} in [1, 2)
| y[{0}] = t[] * 2
)",
      R"(for parallelize vectorize
in x $T [$N, $M]
out y $T [$N]
tmp s $T [] @register

$N
| s[] = x[0, {0}] if {0} in [0, 1)
| $M if {0} in [0, 1)
| | s[] $A x[{0}, {1}]
| y[{0}] = s[]
)",
      R"(for parallelize vectorize
in x $T [$N, $M]
out y $T [$N, $M]
tmp t $T [$M] @stack

$N
| $M if {0} in [0, 1)
| | t[{1}] = x[{0}, {1}] + 1
| $M
| | y[{0}, {1}] = t[{1}] * 2
)",
  };
  return traps;
}

}  // namespace dojo::proof
