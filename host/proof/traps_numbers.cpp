// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about numbers that decide, divisors, dtypes, neighbours and guards.
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfNumbers() {
  static const std::vector<std::string> traps = {
      // Sums whose rounding decides (every bit of them shows in the integers), with a factor, ...
      R"(for factor_out
in x $W [$N, $M]
in a $W []
out k i64 [$N]
tmp s $W [$N]

$N
| s[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}] * a[]
| k[{0}] = cast(s[{0}] * 1e17)
)",
      R"(for factor_in
in x $W [$N, $M]
in a $W []
out k i64 [$N]
tmp s $W [$N]

$N
| s[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}]
| s[{0}] = s[{0}] * a[]
| k[{0}] = cast(s[{0}] * 1e17)
)",
      R"(for factor_out
in x $T [$N, $M]
in a $T []
out k bool [$N]
tmp s $T [$N]
tmp t $T [$N]

$N
| s[{0}] = 0
| t[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}] * a[]
| $M
| | t[{0}] += x[{0}, {1}] * a[]
| k[{0}] = s[{0}] == t[{0}]
)",
      // ... of exponentials, ...
      R"(for online_rescale join_scopes
in x $T [$N, $M*4]
out k bool [$N]
tmp m $T [$N]
tmp e $T [$N, $M*4]
tmp f $T [$N, $M*4]
tmp s $T [$N]
tmp t $T [$N]

$N
| m[{0}] = x[{0}, 0]
| s[{0}] = 0
| t[{0}] = 0
| $M*4
| | m[{0}] max= x[{0}, {1}]
| $M*4
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | s[{0}] += exp(e[{0}, {1}])
| $M*4
| | f[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | t[{0}] += exp(f[{0}, {1}])
| k[{0}] = s[{0}] == t[{0}]
)",
      R"(for online_rescale
in x $W [$N, $M*4]
out k i64 [$N]
tmp m $W [$N]
tmp e $W [$N, $M*4]
tmp s $W [$N]

$N
| m[{0}] = -inf
| s[{0}] = 0
| $M*4
| | m[{0}] max= x[{0}, {1}]
| $M*4
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | s[{0}] += exp(e[{0}, {1}])
| k[{0}] = cast(s[{0}] * 1e17)
)",
      // ... or of products.
      R"(for contract_fma privatize
in x $W [$N, $M]
in z $W [$N, $M]
out k i64 [$N]
tmp s $W [$N]

$N
| s[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}] * z[{0}, {1}]
| k[{0}] = cast(s[{0}] * 1e17)
)",
      R"(for swap_scopes
in x $W [$N, $M]
out k i64 []
tmp s $W []

s[] = 0
$N
| $M
| | s[] += x[{0}, {1}]
k[] = cast(s[] * 1e17)
)",
      R"(for contract_fma privatize join_scopes
in x $T [$N, $M]
in z $T [$N, $M]
out k bool [$N]
tmp s $T [$N]
tmp t $T [$N]

$N
| s[{0}] = 0
| t[{0}] = 0
| $M
| | s[{0}] += x[{0}, {1}] * z[{0}, {1}]
| $M
| | t[{0}] += z[{0}, $M - 1 - {1}] * x[{0}, $M - 1 - {1}]
| k[{0}] = s[{0}] $C t[{0}]
)",
      R"(for reciprocal
in x $W [$N, $M]
in d $W [$N]
out k i64 [$N, $M]
tmp q $W [$N, $M]

$N
| $M
| | q[{0}, {1}] = x[{0}, {1}] / d[{0}]
| | k[{0}, {1}] = cast(q[{0}, {1}] * 1e16)
)",
      R"(for reciprocal
in x i32 [$N, $M]
in d i32 [$N]
out y i32 [$N, $M]
tmp s i32 [$N]

$N
| s[{0}] = abs(d[{0}])
| s[{0}] = max(s[{0}], 1)
| $M
| | y[{0}, {1}] = x[{0}, {1}] / s[{0}]
)",
      // A divisor that has no value where nothing is divided.
      R"(for reciprocal
in x $T [$N, $M]
inout y $T [$N, $M]
tmp s $T [$N]

$N
| s[{0}] = x[{0}, 0] + 4 if {0} in [1, $N)
$N
| $M
| | y[{0}, {1}] = x[{0}, {1}] / s[{0}] if {0} in [1, $N)
)",
      R"(for reciprocal
in x $T [$N, $M]
inout y $T [$N, $M]
tmp s $T [$N]

$N if 0 in [0, 1)
| s[{0}] = x[{0}, 0] + 4 if {0} in [1, $N)
$N
| $M if {0} in [1, $N)
| | y[{0}, {1}] = x[{0}, {1}] / s[{0}]
)",
      // Products in another type than the sums.
      R"(for fold_copy contract_fma
in x $L [$N]
in z $L [$N]
out s $W []
tmp p $L [$N]

s[] = 0
$N
| p[{0}] = x[{0}] * z[{0}]
| s[] += p[{0}]
)",
      R"(for fold_copy contract_fma
in x $L [$N]
in z $L [$N]
out y $W [$N]
tmp p $L [$N] @$P

$N
| p[{0}] = x[{0}] * z[{0}]
| y[{0}] = p[{0}]
)",
      // A value that is used for the next in its own place, ...
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp p $T [$N] @$P

$N
| p[{0}] = x[{0}] * z[{0}]
| p[{0}] = p[{0}] + x[{0}]
| y[{0}] = p[{0}]
)",
      // ... or beside it, ...
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp p $T [$N, 2]

$N
| p[{0}, 1] = x[{0}] + 3
| p[{0}, 0] = x[{0}] * z[{0}]
| y[{0}] = p[{0}, 1] + z[{0}]
| y[{0}] += p[{0}, 0]
)",
      // ... or is a result.
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out p $T [$N]
out y $T [$N]

$N
| p[{0}] = x[{0}] * z[{0}]
| y[{0}] = p[{0}]
)",
      // Neighbours that are almost alike.
      R"(for join_scopes
in x $T [$N, $M]
inout y $T [$N, $M]
inout z $T [$N, $M]

$N
| $M
| | y[{0}, {1}] = x[{0}, {1}] + 1
| $S
| | z[{0}, {1}] = x[{0}, {1}] * 2
)",
      R"(for join_scopes
in x $T [$N, $M]
inout y $T [$N, $M]
inout z $T [$N, $M]

$N
| $M if {0} in [1, $N)
| | y[{0}, {1}] = x[{0}, {1}] + 1
| $M
| | z[{0}, {1}] = x[{0}, {1}] * 2
)",
      R"(for merge_peeled
in x $T [$N, $M + $S]
inout y $T [$N, $M + $S]

$N
| $S if {0} in [1, $N)
| | y[{0}, {1}] = x[{0}, {1}] + 1
| $M
| | y[{0}, {1} + $S] = x[{0}, {1} + $S] + 1
)",
      // Guards of a node and of the scope around it.
      R"(for lift_guard sink hoist push_guard
in x $T [$N, $M]
inout y $T [$N, $M]
inout s $T [$N]

$N
| $M if {0} in [0, $S)
| | s[{0}] = x[{0}, 0] if {0} in [1, $N)
| | y[{0}, {1}] = x[{0}, {1}] + 1
)",
      R"(for lift_guard push_guard
in x $T [$N, $M]
inout y $T [$N, $M]

$N
| $M if {0} in [0, $S)
| | y[{0}, {1}] = x[{0}, {1}] + 1 if {0} in [1, $N) and {1} in [1, $M)
)",
      // One iteration reads what another writes of the same array.
      R"(for join_scopes swap_siblings
in x $T [$N]
inout y $T [$N + 1]

$N
| y[{0} + 1] = x[{0}] + 1
$N
| y[{0}] = y[{0} + 1] * 2
)",
      // Contracted sums, and partial ones, whose rounding decides.
      R"(for expand_fma
in x $W [$N, $M]
in z $W [$N, $M]
out k i64 [$N]
tmp s $W [$N]

$N
| s[{0}] = 0
| $M
| | s[{0}] fma+= x[{0}, {1}] * z[{0}, {1}]
| k[{0}] = cast(s[{0}] * 1e17)
)",
      R"(for expand_fma
in x $T [$N]
in z $T [$N]
in a $T [$N]
out k bool [$N]

$N
| k[{0}] = fma(x[{0}], z[{0}], a[{0}]) $C a[{0}]
)",
      R"(for combine
in x $W [$N, $M]
in z $W [$N, $M]
out k i64 [$N]
tmp s $W [$N]
tmp p $W [$M] @$P

$N
| s[{0}] = 0
| $M
| | p[{1}] = 0
| $M
| | p[{1}] += x[{0}, {1}] * z[{0}, {1}]
| $M
| | s[{0}] += p[{1}]
| k[{0}] = cast(s[{0}] * 1e17)
)",
      // A product that is added to itself, or to something in its own place.
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp p $T [] @$P

$N
| p[] = x[{0}] * z[{0}]
| p[] += p[]
| y[{0}] = p[]
)",
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp p $T [] @$P

$N
| p[] = x[{0}] * z[{0}]
| p[] = z[{0}] + p[]
| y[{0}] = p[] * 2
)",
      R"(for fold_copy contract_fma
in x $T [$N, $M]
in z $T [$N, $M]
out y $T [$N]
tmp p $T [~$N, ~$M] @$P

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] * z[{0}, {1}]
| | p[{0}, {1}] += x[{0}, {1}]
| | y[{0}] += p[{0}, {1}]
)",
      // The neighbour of a product, and two loops that nearly are one.
      R"(for fold_copy contract_fma
in x $T [$N]
in z $T [$N]
out y $T [$N]
tmp p $T [2] @$P

$N
| p[1] = x[{0}] + 3
| p[0] = x[{0}] * z[{0}]
| y[{0}] = p[1] + z[{0}]
)",
      R"(for collapse_scopes
in x $T [$N*$M]
inout y $T [$N*$M]

$N
| $M if {0} in [1, $N)
| | y[{0}*$M + {1}] = x[{0}*$M + {1}] * 2
)",
      // Interchanged, another write is the last, or another value is read.
      R"(for swap_scopes
in x $T [$N, $M]
inout y $T [$N + $M]

$N
| $M
| | y[{0} + {1}] = x[{0}, {1}]
)",
      R"(for swap_scopes
inout y $T [$N + 1, $M + 1]

$N
| $M
| | y[{0} + 1, {1}] = y[{0}, {1} + 1] * 2
)",
      // A sum that begins under another guard than it goes on.
      R"(for fold_init
in x $T [$N]
inout s $T [$N]

$N
| s[{0}] = 0 if {0} in [0, $S)
| s[{0}] += x[{0}]
)",
      R"(for collapse_scopes
in x $T [$M, $N]
inout y $T [$M, $N]

$M
| $N if {0} in [0, 1)
| | y[{0}, {1}] = x[{0}, {1}] * 2
)",
      R"(for merge_peeled
in x $T [$N, $M + $S]
inout y $T [$N, $M + $S]

$N
| $S if {0} in [0, 1)
| | y[{0}, {1}] = x[{0}, {1}] + 1
| $M if {0} in [1, $N)
| | y[{0}, {1} + $S] = x[{0}, {1} + $S] + 1
)",
  };
  return traps;
}

}  // namespace dojo::proof
