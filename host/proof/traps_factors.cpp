// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps about factors of sums, and sums of exponentials under a maximum that grows.
#include "proof/traps.h"

namespace dojo::proof {

const std::vector<std::string>& trapsOfFactors() {
  static const std::vector<std::string> traps = {
      // Terms that only their factor keeps in range, and products in a type of their own.
      R"(for factor_out
in x f16 [$N, 8]
out y f16 [$N]
tmp e f16 [$N, 8]

$N
| 8
| | e[{0}, {1}] = x[{0}, {1}] * 60000
| y[{0}] = 0
| 8
| | y[{0}] += e[{0}, {1}] * 0.125
)",
      R"(for factor_out factor_in
in x $L [$N, $M]
in a $L []
out y $W [$N]
tmp p $L [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] * a[]
| | y[{0}] += p[{0}, {1}]
)",
      R"(for factor_in
in x $L [$N, $M]
in a $L []
out y $W [$N]
tmp p $L [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}]
| | y[{0}] += p[{0}, {1}]
| y[{0}] = y[{0}] * a[]
)",
      R"(for factor_in
in x f32 [$N, $M]
in a f32 []
out y f64 [$N]
tmp p f32 [~$N, ~$M] @$P

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}]
| | y[{0}] += p[{0}, {1}]
| y[{0}] = y[{0}] / a[]
)",
      R"(for factor_out
in x f16 [$N, 4]
out y f16 [$N]

$N
| y[{0}] = 0
| 4
| | y[{0}] += 60000 * 0.125
)",
      // Terms that other leaves write, ...
      R"(for factor_out
in x $W [$N, $M]
in z $W [$N, $M]
in a $W []
out y $W [$N]
tmp p $W [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] * a[]
| | p[{0}, {1}] = z[{0}, {1}] if {1} in [0, $S)
| | y[{0}] += p[{0}, {1}]
)",
      R"(for factor_in
in x $W [$N, $M]
in a $W []
out y $W [$N]
out w $W [$N, $M]
tmp p $W [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] + 1
| | y[{0}] += p[{0}, {1}]
| | p[{0}, {1}] = x[{0}, {1}] * 2
| | w[{0}, {1}] = p[{0}, {1}]
| y[{0}] = y[{0}] * a[]
)",
      // ... or that go elsewhere too.
      R"(for factor_out
in x $W [$N, $M]
in a $W []
out y $W [$N]
out w $W [$N, $M]
tmp p $W [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] * a[]
| | y[{0}] += p[{0}, {1}]
| | w[{0}, {1}] = p[{0}, {1}] * 2
)",
      R"(for factor_out
in x $W [$N, $M]
in a $W []
out y $W [$N]
inout w $W [$N]
tmp p $W [$N, $M]

$N
| y[{0}] = 0
| $M
| | p[{0}, {1}] = x[{0}, {1}] * a[]
| | y[{0}] += p[{0}, {1}]
| | w[{0}] max= p[{0}, {1}]
)",
      // Streaming maxima: the loops don't run as one, ...
      R"(for online_rescale two_pass
in x $W [$N, $M]
inout z $W [$N, $M]
out y $W [$N]
tmp m $W [$N]
tmp e $W [$N, $M]

$N
| m[{0}] = -inf
| y[{0}] = 0
| $M
| | m[{0}] max= x[{0}, {1}]
| | z[{0}, {1}] = x[{0}, {1}] + 1
| $M
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | e[{0}, {1}] = exp(e[{0}, {1}])
| | y[{0}] += e[{0}, {1}] * z[{0}, $M - 1 - {1}]
)",
      // ... the difference is needed for more, ...
      R"(for online_rescale
in x $W [$N, $M]
out y $W [$N]
out w $W [$N, $M]
tmp m $W [$N]
tmp d $W [$N, $M]
tmp e $W [$N, $M]

$N
| m[{0}] = -inf
| y[{0}] = 0
| $M
| | m[{0}] max= x[{0}, {1}]
| $M
| | d[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | w[{0}, {1}] = d[{0}, {1}] * 2
| | e[{0}, {1}] = exp(d[{0}, {1}])
| | y[{0}] += e[{0}, {1}]
)",
      // ... or two exponentials make one term.
      R"(for online_rescale
in x $W [$N, $M]
in z $W [$N, $M]
out y $W [$N]
tmp m $W [$N]
tmp d $W [$N, $M]
tmp c $W [$N, $M]
tmp e $W [$N, $M]

$N
| m[{0}] = -inf
| y[{0}] = 0
| $M
| | m[{0}] max= x[{0}, {1}]
| $M
| | d[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | d[{0}, {1}] = exp(d[{0}, {1}])
| | c[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | c[{0}, {1}] = exp(c[{0}, {1}])
| | e[{0}, {1}] = d[{0}, {1}] * c[{0}, {1}]
| | y[{0}] += e[{0}, {1}]
)",
  };
  return traps;
}

}  // namespace dojo::proof
