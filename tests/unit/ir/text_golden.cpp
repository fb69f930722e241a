// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in, canonical text out.
#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo::ir;

namespace {

struct Golden {
  const char* about;
  const char* text;
  const char* canonical;
};

const Golden kGoldens[] = {
    {"softmax: parameters are bound, tmps stand in order of first write", R"(
# softmax over the last dimension
kernel softmax
param N = 64, M = 512
in  x f32 [N, M]
out y f32 [N, M]
tmp s f32 [N]
tmp m f32 [N]
tmp e f32 [N, M]

N
| m[{0}] = -inf
| M
| | m[{0}] max= x[{0}, {1}]
N
| s[{0}] = 0
| M
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | e[{0}, {1}] = exp(e[{0}, {1}])
| | s[{0}] += e[{0}, {1}]
N
| M
| | y[{0}, {1}] = e[{0}, {1}] / s[{0}]
)",
     R"(kernel softmax
in x f32 [64, 512]
out y f32 [64, 512]
tmp m f32 [64]
tmp s f32 [64]
tmp e f32 [64, 512]

64
| m[{0}] = -inf
| 512
| | m[{0}] max= x[{0}, {1}]
64
| s[{0}] = 0
| 512
| | e[{0}, {1}] = x[{0}, {1}] - m[{0}]
| | e[{0}, {1}] = exp(e[{0}, {1}])
| | s[{0}] += e[{0}, {1}]
64
| 512
| | y[{0}, {1}] = e[{0}, {1}] / s[{0}]
)"},
    {"mappings, locations, storage of dims", R"(
kernel mapped
out y f32 [64]
in x f32 [64, 512]
tmp m f32 [~64] @register
tmp mv f32 [~64,16 pad 8]@stack
tmp two f32 [512~2]
64 : parallel
| 16:vector
| | mv[{0},{1}]=-inf
| 32
| | 16:vector
| | | mv[{0}, {2}] max = x[{0}, {2} + 16*{1}]
| m[{0}] = -inf
| 16:frep+stream(mv, x)
| | two[{1}] = 1
| | m[{0}] max= mv[{0}, {1}]
| y[{0}] = m
)",
     nullptr},
    {"mappings, locations, storage of dims (rank stated)", R"(
kernel mapped
out y f32 [64]
in x f32 [64, 512]
tmp m f32 [~64] @register
tmp mv f32 [~64,16 pad 8]@stack
tmp two f32 [512~2]
64 : parallel
| 16:vector
| | mv[{0},{1}]=-inf
| 32
| | 16:vector
| | | mv[{0}, {2}] max = x[{0}, {2} + 16*{1}]
| m[{0}] = -inf
| 16:frep+stream(mv, x)
| | two[{1}] = 1
| | m[{0}] max= mv[{0}, {1}]
| y[{0}] = m[{0}]
)",
     R"(kernel mapped
in x f32 [64, 512]
out y f32 [64]
tmp mv f32 [~64, 16 pad 8] @stack
tmp m f32 [~64] @register
tmp two f32 [512~2]

64:parallel
| 16:vector
| | mv[{0}, {1}] = -inf
| 32
| | 16:vector
| | | mv[{0}, {2}] max= x[{0}, {1}*16 + {2}]
| m[{0}] = -inf
| 16:stream(x, mv)+frep
| | two[{1}] = 1
| | m[{0}] max= mv[{0}, {1}]
| y[{0}] = m[{0}]
)"},
    {"index buffers, gathers, data-dependent extents", R"(
kernel spmv
param N = 4, M = 7, E = 10
in row i32 [N+1] monotone in [0, E]
in col i32 [E] in [0, M)
in val f32 [E]
in x f32 [M]
out y f32 [N]
N
| y[{0}] = 0
| row[{0}]..row[{0}+1]
| | y[{0}] += val[{1}] * x[col[{1}]]
)",
     R"(kernel spmv
in row i32 [5] monotone in [0, 10]
in col i32 [10] in [0, 7)
in val f32 [10]
in x f32 [7]
out y f32 [4]

4
| y[{0}] = 0
| row[{0}]..row[{0} + 1]
| | y[{0}] += val[{1}] * x[col[{1}]]
)"},
    {"compound lines become single operations", R"(
kernel compound
in x f32 [8]
in m f32 []
in s f32 [1]
out y f32 [8]
8
| y[{0}] = exp(x[{0}] - m) * s[0]
)",
     R"(kernel compound
in x f32 [8]
in m f32 []
in s f32 [1]
out y f32 [8]
tmp t0 f32 [~8] @register
tmp t1 f32 [~8] @register

8
| t0[{0}] = x[{0}] - m[]
| t1[{0}] = exp(t0[{0}])
| y[{0}] = s[0] * t1[{0}]
)"},
    {"compound lines: types of comparisons, conditions and casts", R"(
kernel typed
in a i8 [8]
in b i16 [8]
in x f16 [8]
out y f32 [8]
out z i8 [8]
8
| y[{0}] = select(a[{0}] < b[{0}] & x[{0}] > 0.1, cast(a[{0}] * b[{0}]), x[{0}])
| z[{0}] = sat_cast(cast(a[{0}], i32) * 3 >> 1)
)",
     R"(kernel typed
in a i8 [8]
in b i16 [8]
in x f16 [8]
out y f32 [8]
out z i8 [8]
tmp t0 bool [~8] @register
tmp t1 bool [~8] @register
tmp t2 bool [~8] @register
tmp t3 i16 [~8] @register
tmp t4 f32 [~8] @register
tmp t5 i32 [~8] @register
tmp t6 i32 [~8] @register
tmp t7 i32 [~8] @register

8
| t0[{0}] = a[{0}] < b[{0}]
| t1[{0}] = x[{0}] > 0.1
| t2[{0}] = t0[{0}] & t1[{0}]
| t3[{0}] = a[{0}] * b[{0}]
| t4[{0}] = cast(t3[{0}])
| y[{0}] = select(t2[{0}], t4[{0}], x[{0}])
| t5[{0}] = cast(a[{0}])
| t6[{0}] = t5[{0}] * 3
| t7[{0}] = t6[{0}] >> 1
| z[{0}] = sat_cast(t7[{0}])
)"},
    {"guards: on scopes and leaves, ordered, merged", R"(
kernel guarded
param H = 5
in x f32 [H]
out y f32 [H]
H
| y[{0}] = 0
| 3 if {0} in [0, 4)
| | y[{0}] += x[{0} + {1} - 1] if {1}+{0} - 1 in [0, H) and {0} in [1, 4) and {0} in [0, 3)
)",
     R"(kernel guarded
in x f32 [5]
out y f32 [5]

5
| y[{0}] = 0
| 3 if {0} in [0, 4)
| | y[{0}] += x[{0} + {1} - 1] if {0} in [1, 3) and {0} + {1} - 1 in [0, 5)
)"},
    {"index values", R"(
kernel iota
out y i64 [4, 4]
out z i64 [4, 4]
out f f32 [4, 4]
out b bool [4, 4]
4
| 4
| | y[{0}, {1}] = 2*{1} + {0}*3 - 1 - {0}
| | z[{0}, {1}] = y[{0}, {1}] - ({1} + 1) * 2
| | f[{0}, {1}] = cast({0} + 1)
| | f[{0}, {1}] += cast({1})
| | b[{0}, {1}] = {0} < {1}
| | z[{0}, {1}] += {0} * {1}
| | z[{0}, {1}] = -{0}
| | z[{0}, {1}] += {1} / 2
| | z[{0}, {1}] += {1} - {1}
)",
     R"(kernel iota
out y i64 [4, 4]
out z i64 [4, 4]
out f f32 [4, 4]
out b bool [4, 4]

4
| 4
| | y[{0}, {1}] = {0}*2 + {1}*2 - 1
| | z[{0}, {1}] = y[{0}, {1}] - ({1}*2 + 2)
| | f[{0}, {1}] = cast({0} + 1)
| | f[{0}, {1}] += cast({1})
| | b[{0}, {1}] = {0} < {1}
| | z[{0}, {1}] += {0} * {1}
| | z[{0}, {1}] = -{0}
| | z[{0}, {1}] += {1} / 2
| | z[{0}, {1}] += 0
)"},
    {"constants are rounded to the leaf's type and print shortest", R"(
kernel constants
param eps f32 = 1e-5
param half f64 = 0.5
out d f64 []
out f f32 []
out h f16 []
out g bf16 []
out i i8 []
out u u8 []
out b bool []
out l i64 []
d = 0.1
d = 1e300
d = 5e-324
d = eps
f = 0.10
f = 1.0e+20
f = 3.40282347e38
f = 1e-45
f = -0
f = half
f = 16777217
f = 1E-5
h = 0.1
h = 65504
h = 1e-10
h = inf
g = 0.1
g = 3e38
i = -128
u = 255
b = 1
l = -9223372036854775808
l = 1e5
l = -0
)",
     R"(kernel constants
out d f64 []
out f f32 []
out h f16 []
out g bf16 []
out i i8 []
out u u8 []
out b bool []
out l i64 []

d[] = 0.1
d[] = 1e300
d[] = 5e-324
d[] = 9.999999747378752e-6
f[] = 0.1
f[] = 1e20
f[] = 3.4028235e38
f[] = 1e-45
f[] = -0
f[] = 0.5
f[] = 16777216
f[] = 1e-5
h[] = 0.1
h[] = 65504
h[] = 0
h[] = inf
g[] = 0.1
g[] = 3e38
i[] = -128
u[] = 255
b[] = 1
l[] = -9223372036854775808
l[] = 100000
l[] = 0
)"},
    {"commutative operands: elements by buffer and index, index values, constants", R"(
kernel order
in a f32 [8]
in b f32 [8]
out y f32 [8]
out z i64 [8]
8
| y[{0}] = b[{0}] + a[{0}]
| y[{0}] = a[7 - {0}] * a[{0}]
| y[{0}] = 2 * a[{0}]
| y[{0}] = b[{0}] - a[{0}]
| y[{0}] = max(1, a[{0}])
| y[{0}] = fma(b[{0}], a[{0}], 1)
| y[{0}] fma+= b[{0}] * a[{0}]
| y[{0}] = -a[{0}]
| y[{0}] = - - 3
| z[{0}] = ({0} + 1) * z[{0}]
| z[{0}] = 3 ^ ~z[{0}]
)",
     R"(kernel order
in a f32 [8]
in b f32 [8]
out y f32 [8]
out z i64 [8]
tmp t0 i64 [~8] @register

8
| y[{0}] = a[{0}] + b[{0}]
| y[{0}] = a[-{0} + 7] * a[{0}]
| y[{0}] = a[{0}] * 2
| y[{0}] = b[{0}] - a[{0}]
| y[{0}] = max(a[{0}], 1)
| y[{0}] = fma(a[{0}], b[{0}], 1)
| y[{0}] fma+= a[{0}] * b[{0}]
| y[{0}] = neg(a[{0}])
| y[{0}] = 3
| z[{0}] = z[{0}] * ({0} + 1)
| t0[{0}] = bit_not(z[{0}])
| z[{0}] = t0[{0}] ^ 3
)"},
    {"precedence", R"(
kernel precedence
in a i32 []
in b i32 []
in c i32 []
out y i32 []
out p bool []
y = a + b * c
y = (a + b) * c
y = a - b - c
y = a << b + c
y = a | b ^ c & a
p = a + b < c == (a < b)
)",
     R"(kernel precedence
in a i32 []
in b i32 []
in c i32 []
out y i32 []
out p bool []
tmp t0 i32 [] @register
tmp t1 i32 [] @register
tmp t2 i32 [] @register
tmp t3 i32 [] @register
tmp t4 i32 [] @register
tmp t5 i32 [] @register
tmp t6 i32 [] @register
tmp t7 bool [] @register
tmp t8 bool [] @register

t0[] = b[] * c[]
y[] = a[] + t0[]
t1[] = a[] + b[]
y[] = c[] * t1[]
t2[] = a[] - b[]
y[] = t2[] - c[]
t3[] = b[] + c[]
y[] = a[] << t3[]
t4[] = a[] & c[]
t5[] = b[] ^ t4[]
y[] = a[] | t5[]
t6[] = a[] + b[]
t7[] = t6[] < c[]
t8[] = a[] < b[]
p[] = t7[] == t8[]
)"},
    {"parameter expressions", R"(
kernel params
param H = 56, S = 2
param OH = (H - 1)/S + 1
param Neg = -7/2
in x f32 [OH, -Neg, OH*S - 1]
out y f32 [1]
tmp unused f32 [3]
y[OH - 28] = x[S, 3 - S, 2*(S + 1)]
)",
     R"(kernel params
in x f32 [28, 4, 55]
out y f32 [1]

y[0] = x[2, 1, 6]
)"},
    {"carriage returns, tabs, comments, no bars between spaces, no final newline",
     "kernel k # name\r\n\r\nout\ty f32 [2, 2] # result\r\n2\r\n|2 # inner\r\n||y[{0},{1}]=0",
     "kernel k\nout y f32 [2, 2]\n\n2\n| 2\n| | y[{0}, {1}] = 0\n"},
    {"packed arguments and memories", R"(
kernel packed
in a f32 [4 pad 2, 4] packed
in b f32 [4, 4] @spm packed
inout c f32 [4]
c[0] *= a[0, 1]
c[0] min= b[0, 1]
)",
     R"(kernel packed
in a f32 [4 pad 2, 4] packed
in b f32 [4, 4] @spm packed
inout c f32 [4]

c[0] *= a[0, 1]
c[0] min= b[0, 1]
)"},
    {"floats that are promised to be finite", R"(
kernel finite_weights
in a f32 [4 pad 2, 4] @spm packed [1, 4] finite
inout c f16 [4] finite
c[0] *= c[1]
)",
     R"(kernel finite_weights
in a f32 [4 pad 2, 4] @spm packed [1, 4] finite
inout c f16 [4] finite

c[0] *= c[1]
)"},
    {"shared storage is named by the first that is written", R"(
kernel shared
out y f32 [1]
tmp unused f32 [9] @stack
tmp c f32 [4] @stack shares unused
tmp b f32 [2, 2] @stack shares c
tmp a f32 [~8] @stack shares b
tmp other f32 [1] @stack shares unused
tmp alone f32 [] @stack
a[0] = 1
y[0] = a[0]
alone = 2
b[0, 1] = alone
y[0] = b[0, 1]
c[3] = 2
y[0] = c[3]
)",
     R"(kernel shared
out y f32 [1]
tmp a f32 [~8] @stack
tmp alone f32 [] @stack
tmp b f32 [2, 2] @stack shares a
tmp c f32 [4] @stack shares a

a[0] = 1
y[0] = a[0]
alone[] = 2
b[0, 1] = alone[]
y[0] = b[0, 1]
c[3] = 2
y[0] = c[3]
)"},
    {"one that is left over shares nothing", R"(
kernel left
out y f32 [1]
tmp a f32 [9]
tmp b f32 [4] shares a
b[0] = 1
y[0] = b[0]
)",
     R"(kernel left
out y f32 [1]
tmp b f32 [4]

b[0] = 1
y[0] = b[0]
)"},
    {"a user's t0 is not taken", R"(
kernel taken
param t1 = 2
in t0 f32 []
out y f32 []
y = t0 * t0 + t1
)",
     R"(kernel taken
in t0 f32 []
out y f32 []
tmp t2 f32 [] @register

t2[] = t0[] * t0[]
y[] = t2[] + 2
)"},
};

}  // namespace

TEST_CASE("text becomes canonical text") {
  for (const Golden& golden : kGoldens) {
    INFO(golden.about);
    const auto parsed = parse(golden.text);
    if (golden.canonical == nullptr) {
      CHECK_FALSE(parsed.ok());
      continue;
    }
    INFO((parsed.ok() ? "" : parsed.error().text()));
    REQUIRE(parsed.ok());
    CHECK(print(parsed->program) == golden.canonical);
    const auto again = parse(golden.canonical);
    INFO((again.ok() ? "" : again.error().text()));
    REQUIRE(again.ok());
    CHECK(again->program == parsed->program);
    CHECK(print(again->program) == golden.canonical);
  }
}
