// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about copies that are padded with the identity of what reads them.
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfPadding() {
  static const std::vector<std::string> traps = {
      // Windows, most of which may be padded.
      R"(for pad_cache
in x $T [$N, $M]
in w $T [2, 3] finite
out y $T [$N, $M]

$N
| $M
| | y[{0}, {1}] = 0
| | 2
| | | 3
| | | | y[{0}, {1}] += x[{0} + {2} - 1, {1} + {3} - 1] * w[{2}, {3}] if {0} + {2} - 1 in [0, $N) and {1} + {3} - 1 in [0, $M)
)",
      R"(for pad_cache
in x $T [$N, $M]
inout y $T [$N, $M]

$N
| $M
| | 3
| | | y[{0}, {1}] $A x[{0}, {1}*2 + {2} - 1] if {1}*2 + {2} - 1 in [$S, $M)
)",
      R"(for pad_cache
in x i8 [$N]
in w i16 [$M]
inout y i32 [$N]

$N
| $M
| | y[{0}] += x[{0} - {1}] * w[{1}] if {0} - {1} in [0, $N) and {1} in [0, $S)
)",
      // Only under its guard does a factor still have its storage.
      R"(for pad_cache
in x i32 []
in v i32 [$N]
inout y i32 []
tmp t i32 [~2]

2
| t[{0}] = x[]
2
| y[] += v[{0}] * t[{0}] if {0} in [1, $N)
)",
      // What is copied is written meanwhile, ...
      R"(for pad_cache
inout x $T [$N]
out y $T [$N]

$N
| y[{0}] = 1
| 3
| | y[{0}] $A x[{0} + {1} - 1] if {0} + {1} - 1 in [0, $N)
| x[{0}] = y[{0}]
)",
      R"(for pad_cache
inout x $T [$N]
inout y $T [$N]

$N
| x[{0}] = y[{0}] + 1
$N
| y[{0}] $A x[{0} - 1] if {0} - 1 in [0, $N)
)",
      // ... has values in part, ...
      R"(for pad_cache
in x $T [$N]
out y $T [$M, $N + 2]
tmp t $T [$N*2]

$N
| t[{0}*2] = x[{0}]
$M
| $N + 2
| | y[{0}, {1}] = 1
| | y[{0}, {1}] $A t[{1}*2 - 2] if {1}*2 - 2 in [0, $N*2)
)",
      // ... is kept within different bounds, or within none.
      R"(for pad_cache
in x $T [$N]
inout y $T [$N]
inout z $T [$N]

$N
| $M
| | y[{0}] $A x[{0} + {1} - 1] if {0} + {1} - 1 in [0, $N)
| | z[{0}] $A x[{0} + {1} - 1] if {0} + {1} - 1 in [1, $N)
)",
      R"(for pad_cache
in x $T [$N]
inout y $T [$N]
out z $T [$N]

$N
| $M
| | y[{0}] $A x[{0} + {1}] if {0} + {1} in [1, $N)
| z[{0}] = x[{0}] + 1
)",
      // Guarded off, these keep what padding would change: values that are set, ...
      R"(for pad_cache
in x $T [$N]
out y $T [$N, 3]

$N
| 3
| | y[{0}, {1}] = 7
| | y[{0}, {1}] = x[{0} + {1} - 1] if {0} + {1} - 1 in [0, $N)
)",
      // ... products of products, ...
      R"(for pad_cache
in x $T [$N]
in w $T [3] finite
inout y $T [$N]

$N
| 3
| | y[{0}] $A x[{0} + {1} - 1] * w[{1}] if {0} + {1} - 1 in [0, $N)
)",
      // ... sums whose other factor may be infinite where they are off, ...
      R"(for pad_cache
in x $T [$N]
in w $T [3]
out y $T [$N]
tmp f $T [$N, 3]

$N
| 3
| | f[{0}, {1}] = inf
| | f[{0}, {1}] = w[{1}] if {0} + {1} - 1 in [0, $N)
$N
| y[{0}] = 0
| 3
| | y[{0}] += x[{0} + {1} - 1] * f[{0}, {1}] if {0} + {1} - 1 in [0, $N)
)",
      R"(for pad_cache
in x $T [$N]
inout f $T [$N, 3] finite
out y $T [$N]

$N
| 3
| | f[{0}, {1}] = -inf if {0} in [0, 1) and {1} in [0, 1)
$N
| y[{0}] = 0
| 3
| | y[{0}] fma+= x[{0} + {1} - 1] * f[{0}, {1}] if {0} + {1} - 1 in [0, $N)
)",
      R"(for pad_cache
in x $T [$N]
out y $T [$N + 1]
tmp f $T [$N + 1]

$N + 1
| f[{0}] = inf
$N + 1
| y[{0}] = 2
$N + 1
| y[{0}] += x[{0} - 1] * f[{0}] if {0} - 1 in [0, $N)
)",
      // ... extremes of wider types, ...
      R"(for pad_cache
in x i8 [$N]
out y f32 [$N + 2]

$N + 2
| y[{0}] = -1000
| y[{0}] max= x[{0} - 1] if {0} - 1 in [0, $N)
)",
      R"(for pad_cache
in x i8 [$N]
out z i32 [$N + 2]

$N + 2
| z[{0}] = 1000
| z[{0}] min= x[{0} - 1] if {0} - 1 in [0, $N)
)",
      // ... and reductions by two operators.
      R"(for pad_cache
in x $T [$N]
inout y $T [$N]
inout z $T [$N]

$N
| $M
| | y[{0}] $A x[{0} + {1} - 1] if {0} + {1} - 1 in [0, $N)
| | z[{0}] $B x[{0} + {1} - 1] if {0} + {1} - 1 in [0, $N)
)",
      // Without the guard there is nothing to reduce into, ...
      R"(for pad_cache
in x $T [$N]
inout y $T [$N]

$N + 2
| y[{0} - 1] $A x[{0} - 1] if {0} - 1 in [0, $N)
)",
      // ... or with.
      R"(for pad_cache
in x $T [$N]
out y $T [$N]
tmp s $T [$N + 2] @$P

$N + 2
| s[{0}] = 3 if {0} - 1 in [0, $N)
$N + 2
| s[{0}] $A x[{0} - 1] if {0} - 1 in [0, $N)
$N
| y[{0}] = s[{0} + 1]
)",
      // Copies that are padded, with what or where none would be.
      R"(for unpad_cache
in x $T [$N]
inout y $T [$N]
tmp t $T [$N + 2]

$N + 2
| t[{0}] = 1
| t[{0}] = x[{0} - 1] if {0} - 1 in [0, $N)
$N
| 3
| | y[{0}] $A t[{0} + {1}]
)",
      R"(for unpad_cache
in x $T [$N]
inout y $T [$N]
tmp t $T [$N + 2]

$N + 2
| t[{0}] = 0
| t[{0}] = x[{0} - 1] if {0} - 1 in [0, $N) and {0} in [2, $N + 1)
$N
| 3
| | y[{0}] += t[{0} + {1}]
)",
  };
  return traps;
}

}  // namespace dojo::proof
