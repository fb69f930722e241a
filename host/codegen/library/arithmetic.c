/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arithmetic that a target has no instructions for, under the names by which LLVM calls it: floats
 * of both formats (IEEE 754, round to nearest even) and division in 64 bits. Compiled to LLVM's
 * intermediate form when PerfDojo is built; code generation adds to a kernel what it calls. Nothing
 * here uses a float instruction.
 */
#include <stdint.h>

/* sig * 2^(exp - 62), with bit 62 the first one of sig, and bit 0 set where lower bits are lost. */
typedef struct {
  enum { kZero, kFinite, kInfinite, kNan } kind;
  int negative;
  int exp;
  uint64_t sig;
} number;

typedef struct {
  int digits, bias;
} format;
static const format kSingle = {24, 127};
static const format kDouble = {53, 1023};

typedef struct {
  uint64_t high, low;
} wide;

static inline int leading_zeros(uint64_t x) { return x == 0 ? 64 : __builtin_clzll(x); }

static inline uint64_t jammed(uint64_t sig, unsigned by) {
  if (by == 0) return sig;
  if (by > 63) return sig != 0;
  return sig >> by | ((sig << (64 - by)) != 0);
}

/* Apart from where its bits are taken from a float, or a compiler finds the test for a NaN in it
 * and makes that one comparison of floats, which is a call of what this is for. */
__attribute__((noinline)) static number unpack(uint64_t bits, const format f) {
  const int fraction = f.digits - 1;
  number out;
  out.negative = (int)(bits >> (f.digits == 53 ? 63 : 31)) & 1;
  out.exp = (int)(bits >> fraction) & (2 * f.bias + 1);
  out.sig = bits & ((UINT64_C(1) << fraction) - 1);
  out.kind = kFinite;
  if (out.exp == 2 * f.bias + 1) {
    out.kind = out.sig == 0 ? kInfinite : kNan;
  } else if (out.exp == 0) {
    if (out.sig == 0) out.kind = kZero;
    int zeros = leading_zeros(out.sig) - 1;
    out.exp = 1 - f.bias - fraction + 62 - zeros;
    out.sig <<= zeros & 63;
  } else {
    out.sig = (out.sig | UINT64_C(1) << fraction) << (62 - fraction);
    out.exp -= f.bias;
  }
  return out;
}

static inline uint64_t pack(number x, const format f) {
  const int fraction = f.digits - 1;
  const uint64_t sign = (uint64_t)x.negative << (f.digits == 53 ? 63 : 31);
  const uint64_t infinity = (uint64_t)(2 * f.bias + 1) << fraction;
  if (x.kind == kNan) return infinity | UINT64_C(1) << (fraction - 1);
  if (x.kind == kZero) return sign;
  int biased = x.exp + f.bias;
  if (x.kind == kInfinite || biased > 2 * f.bias) return sign | infinity;
  uint64_t base = 0;
  if (biased <= 0) {
    x.sig = jammed(x.sig, (unsigned)(1 - biased));
  } else {
    base = (uint64_t)(biased - 1) << fraction;
  }
  const int shift = 63 - f.digits;
  const uint64_t rest = x.sig & ((UINT64_C(1) << shift) - 1);
  const uint64_t half = UINT64_C(1) << (shift - 1);
  uint64_t kept = x.sig >> shift;
  kept += rest > half || (rest == half && (kept & 1) != 0);
  return sign | (base + kept);
}

static inline number special(int kind, int negative) {
  number out = {kind, negative, 0, 0};
  return out;
}

/* Of any sig but 0. */
static inline number normal(int negative, int exp, uint64_t sig) {
  number out = {kFinite, negative, exp, sig};
  int zeros = leading_zeros(sig);
  if (zeros == 0) {
    out.sig = jammed(sig, 1);
    out.exp = exp + 1;
  } else {
    out.sig = sig << (zeros - 1);
    out.exp = exp - (zeros - 1);
  }
  return out;
}

static number add(number a, number b) {
  if (a.kind == kNan || b.kind == kNan) return special(kNan, 0);
  if (a.kind == kInfinite) {
    return b.kind == kInfinite && a.negative != b.negative ? special(kNan, 0) : a;
  }
  if (b.kind == kInfinite) return b;
  if (a.kind == kZero && b.kind == kZero) return special(kZero, a.negative & b.negative);
  if (a.kind == kZero) return b;
  if (b.kind == kZero) return a;
  if (a.exp < b.exp || (a.exp == b.exp && a.sig < b.sig)) {
    number other = a;
    a = b;
    b = other;
  }
  uint64_t low = jammed(b.sig, (unsigned)(a.exp - b.exp));
  uint64_t sig = a.negative == b.negative ? a.sig + low : a.sig - low;
  return sig == 0 ? special(kZero, 0) : normal(a.negative, a.exp, sig);
}

static wide product(uint64_t a, uint64_t b) {
  uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
  uint64_t low = a0 * b0;
  uint64_t middle = a1 * b0 + (low >> 32);
  uint64_t other = a0 * b1 + (uint32_t)middle;
  wide out = {a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
  return out;
}

/* The special cases of products and quotients; kFinite: none. */
static number product_kind(number a, number b) {
  int negative = a.negative ^ b.negative;
  if (a.kind == kNan || b.kind == kNan) return special(kNan, 0);
  if (a.kind == kInfinite || b.kind == kInfinite) {
    return special(a.kind == kZero || b.kind == kZero ? kNan : kInfinite, negative);
  }
  return special(a.kind == kZero || b.kind == kZero ? kZero : kFinite, negative);
}

static number multiply(number a, number b) {
  number out = product_kind(a, b);
  if (out.kind != kFinite) return out;
  wide p = product(a.sig, b.sig);
  uint64_t sig = p.high << 2 | p.low >> 62 | ((p.low << 2) != 0);
  return normal(out.negative, a.exp + b.exp, sig);
}

static number divide(number a, number b) {
  int negative = a.negative ^ b.negative;
  if (a.kind == kNan || b.kind == kNan || (a.kind == b.kind && a.kind != kFinite)) {
    return special(kNan, 0);
  }
  if (a.kind == kInfinite || b.kind == kZero) return special(kInfinite, negative);
  if (a.kind == kZero || b.kind == kInfinite) return special(kZero, negative);
  int exp = a.exp - b.exp;
  uint64_t rest = a.sig;
  if (rest < b.sig) {
    rest <<= 1;
    --exp;
  }
  uint64_t sig = 0;
  for (int i = 0; i < 63; ++i) {
    sig <<= 1;
    if (rest >= b.sig) {
      rest -= b.sig;
      sig |= 1;
    }
    rest <<= 1;
  }
  return normal(negative, exp, sig | (rest != 0));
}

static number root(number a) {
  if (a.kind == kZero || a.kind == kNan) return a;
  if (a.negative) return special(kNan, 0);
  if (a.kind == kInfinite) return a;
  if ((a.exp & 1) != 0) {
    a.sig <<= 1;
    --a.exp;
  }
  wide square = {a.sig >> 2, a.sig << 62};
  uint64_t sig = 0;
  wide least = {0, 0};
  for (int bit = 62; bit >= 0; --bit) {
    uint64_t tried = sig | UINT64_C(1) << bit;
    wide p = product(tried, tried);
    if (p.high < square.high || (p.high == square.high && p.low <= square.low)) {
      sig = tried;
      least = p;
    }
  }
  return normal(0, a.exp / 2, sig | (least.high != square.high || least.low != square.low));
}

static wide wide_jammed(wide x, unsigned by) {
  if (by == 0) return x;
  if (by > 127) {
    wide out = {0, (x.high | x.low) != 0};
    return out;
  }
  wide out;
  if (by >= 64) {
    out.high = 0;
    out.low = jammed(x.high, by - 64) | (x.low != 0);
  } else {
    out.high = x.high >> by;
    out.low = x.high << (64 - by) | x.low >> by | ((x.low << (64 - by)) != 0);
  }
  return out;
}

static number fused(number a, number b, number c) {
  number p = product_kind(a, b);
  if (p.kind != kFinite || c.kind == kNan || c.kind == kInfinite) return add(p, c);
  p.exp = a.exp + b.exp;
  wide x = product(a.sig, b.sig); /* bit 124 or 125 is the first one: x * 2^(exp - 124) */
  wide y = {c.sig >> 2, c.sig << 62};
  int distance = p.exp - c.exp;
  int negative = p.negative;
  int exp = p.exp;
  if (c.kind != kZero) {
    if (distance >= 0) {
      y = wide_jammed(y, (unsigned)distance);
    } else {
      x = wide_jammed(x, (unsigned)-distance);
      exp = c.exp;
    }
    if (p.negative == c.negative) {
      uint64_t low = x.low + y.low;
      x.high += y.high + (low < x.low);
      x.low = low;
    } else {
      if (x.high < y.high || (x.high == y.high && x.low < y.low)) {
        wide other = x;
        x = y;
        y = other;
        negative = c.negative;
      }
      x.high -= y.high + (x.low < y.low);
      x.low -= y.low;
    }
  }
  if ((x.high | x.low) == 0) return special(kZero, 0);
  int zeros = x.high == 0 ? 64 + leading_zeros(x.low) : leading_zeros(x.high);
  int shift = zeros - 1; /* so that bit 126 is the first one */
  if (shift > 0) {
    if (shift >= 64) {
      x.high = x.low << (shift - 64);
      x.low = 0;
    } else {
      x.high = x.high << shift | x.low >> (64 - shift);
      x.low <<= shift;
    }
  }
  return normal(negative, exp + 2 - shift, x.high | (x.low != 0));
}

/* -1, 0, 1; 2 where they don't compare. */
static int order(number a, number b) {
  if (a.kind == kNan || b.kind == kNan) return 2;
  if (a.kind == kZero && b.kind == kZero) return 0;
  int up = a.negative ? -1 : 1;
  if (a.kind == kZero) return b.negative ? 1 : -1;
  if (b.kind == kZero) return up;
  if (a.negative != b.negative) return up;
  if (a.kind != b.kind) return a.kind == kInfinite ? up : -up;
  if (a.kind == kInfinite) return 0;
  if (a.exp != b.exp) return a.exp > b.exp ? up : -up;
  if (a.sig != b.sig) return a.sig > b.sig ? up : -up;
  return 0;
}

/* Truncated; the nearest where the type doesn't hold it, 0 of NaN. */
static uint64_t to_integer(number a, int bits, int is_signed) {
  uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1
                            : (bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1);
  if (a.kind == kNan || a.kind == kZero || (a.negative && !is_signed)) return 0;
  uint64_t least = a.negative ? most + 1 : most;
  if (a.kind == kInfinite || a.exp > 63) return a.negative ? 0 - least : most;
  uint64_t size = a.exp < 0 ? 0 : a.exp > 62 ? a.sig << (a.exp - 62) : a.sig >> (62 - a.exp);
  if (size > least) size = least;
  return a.negative ? 0 - size : size;
}

static number from_integer(uint64_t x, int is_signed) {
  int negative = is_signed && (int64_t)x < 0;
  uint64_t size = negative ? 0 - x : x;
  return size == 0 ? special(kZero, 0) : normal(negative, 62, size);
}

static inline number of_f(float x) { return unpack(__builtin_bit_cast(uint32_t, x), kSingle); }
static inline number of_d(double x) { return unpack(__builtin_bit_cast(uint64_t, x), kDouble); }
static inline float to_f(number x) { return __builtin_bit_cast(float, (uint32_t)pack(x, kSingle)); }
static inline double to_d(number x) { return __builtin_bit_cast(double, pack(x, kDouble)); }
static inline number minus(number x) {
  x.negative ^= 1;
  return x;
}

/* The general names and those of the Arm EABI. */
#define BOTH(result, general, arm, parameters, body) \
  result general parameters{body} result arm parameters { body }

#define FORMAT(T, of, to, s, a)                                                                   \
  BOTH(T, __add##s##3, __aeabi_##a##add, (T x, T y), return to(add(of(x), of(y)));)               \
  BOTH(T, __sub##s##3, __aeabi_##a##sub, (T x, T y), return to(add(of(x), minus(of(y))));)        \
  BOTH(T, __mul##s##3, __aeabi_##a##mul, (T x, T y), return to(multiply(of(x), of(y)));)          \
  BOTH(T, __div##s##3, __aeabi_##a##div, (T x, T y), return to(divide(of(x), of(y)));)            \
  int __eq##s##2(T x, T y) { return order(of(x), of(y)) != 0; }                                   \
  int __ne##s##2(T x, T y) { return order(of(x), of(y)) != 0; }                                   \
  int __lt##s##2(T x, T y) { return order(of(x), of(y)); }                                        \
  int __le##s##2(T x, T y) { return order(of(x), of(y)); }                                        \
  int __gt##s##2(T x, T y) {                                                                      \
    int o = order(of(x), of(y));                                                                  \
    return o == 2 ? -1 : o;                                                                       \
  }                                                                                               \
  int __ge##s##2(T x, T y) {                                                                      \
    int o = order(of(x), of(y));                                                                  \
    return o == 2 ? -1 : o;                                                                       \
  }                                                                                               \
  int __aeabi_##a##cmpeq(T x, T y) { return order(of(x), of(y)) == 0; }                           \
  int __aeabi_##a##cmplt(T x, T y) { return order(of(x), of(y)) == -1; }                          \
  int __aeabi_##a##cmple(T x, T y) { return order(of(x), of(y)) <= 0; }                           \
  int __aeabi_##a##cmpgt(T x, T y) { return order(of(x), of(y)) == 1; }                           \
  int __aeabi_##a##cmpge(T x, T y) {                                                              \
    int o = order(of(x), of(y));                                                                  \
    return o == 0 || o == 1;                                                                      \
  }                                                                                               \
  BOTH(int, __unord##s##2, __aeabi_##a##cmpun, (T x, T y), return order(of(x), of(y)) == 2;)      \
  BOTH(int32_t, __fix##s##si, __aeabi_##a##2iz, (T x), return (int32_t)to_integer(of(x), 32, 1);) \
  BOTH(uint32_t, __fixuns##s##si, __aeabi_##a##2uiz, (T x),                                       \
       return (uint32_t)to_integer(of(x), 32, 0);)                                                \
  BOTH(int64_t, __fix##s##di, __aeabi_##a##2lz, (T x), return (int64_t)to_integer(of(x), 64, 1);) \
  BOTH(uint64_t, __fixuns##s##di, __aeabi_##a##2ulz, (T x), return to_integer(of(x), 64, 0);)     \
  BOTH(T, __floatsi##s, __aeabi_i2##a, (int32_t x),                                               \
       return to(from_integer((uint64_t)(int64_t)x, 1));)                                         \
  BOTH(T, __floatunsi##s, __aeabi_ui2##a, (uint32_t x), return to(from_integer(x, 0));)           \
  BOTH(T, __floatdi##s, __aeabi_l2##a, (int64_t x), return to(from_integer((uint64_t)x, 1));)     \
  BOTH(T, __floatundi##s, __aeabi_ul2##a, (uint64_t x), return to(from_integer(x, 0));)

FORMAT(float, of_f, to_f, sf, f)
FORMAT(double, of_d, to_d, df, d)
BOTH(double, __extendsfdf2, __aeabi_f2d, (float x), return to_d(of_f(x));)
BOTH(float, __truncdfsf2, __aeabi_d2f, (double x), return to_f(of_d(x));)
float sqrtf(float x) { return to_f(root(of_f(x))); }
double sqrt(double x) { return to_d(root(of_d(x))); }
float fmaf(float x, float y, float z) { return to_f(fused(of_f(x), of_f(y), of_f(z))); }
double fma(double x, double y, double z) { return to_d(fused(of_d(x), of_d(y), of_d(z))); }

typedef uint64_t quotient __attribute__((vector_size(16))); /* and remainder, in four registers */

static quotient divided(uint64_t a, uint64_t b) {
  uint64_t rest = 0, out = 0;
  for (int i = 63; i >= 0; --i) {
    uint64_t carry = rest >> 63;
    rest = rest << 1 | (a >> i & 1);
    if (carry != 0 || rest >= b) {
      rest -= b;
      out |= UINT64_C(1) << i;
    }
  }
  quotient both = {out, rest};
  return both;
}

static quotient signed_divided(uint64_t a, uint64_t b) {
  int a_negative = (int64_t)a < 0, b_negative = (int64_t)b < 0;
  quotient both = divided(a_negative ? 0 - a : a, b_negative ? 0 - b : b);
  if (a_negative != b_negative) both[0] = 0 - both[0];
  if (a_negative) both[1] = 0 - both[1];
  return both;
}

quotient __aeabi_uldivmod(uint64_t a, uint64_t b) { return divided(a, b); }
quotient __aeabi_ldivmod(uint64_t a, uint64_t b) { return signed_divided(a, b); }
uint64_t __udivdi3(uint64_t a, uint64_t b) { return divided(a, b)[0]; }
uint64_t __umoddi3(uint64_t a, uint64_t b) { return divided(a, b)[1]; }
uint64_t __divdi3(uint64_t a, uint64_t b) { return signed_divided(a, b)[0]; }
uint64_t __moddi3(uint64_t a, uint64_t b) { return signed_divided(a, b)[1]; }
