// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point on a table of hard cases, against this machine's IEEE 754 arithmetic.
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "bringup/steps.h"
#include "transport/frame.h"

namespace dojo::bringup {
namespace {

struct Format {
  const char* dtype;
  const char* llvm;
  int bytes;
  const char* suffix;  ///< Of intrinsics.
};
constexpr Format kFormats[] = {
    {"f64", "double", 8, "f64"}, {"f32", "float", 4, "f32"}, {"f16", "half", 2, "f16"}};

constexpr const char* kOps[] = {"a + b", "a - b", "a * b", "a / b", "sqrt(a)", "fma(a, b, a)"};
constexpr int kOpCount = 6;

/// Values whose arithmetic goes wrong first, in every format.
template <class T>
std::vector<T> hardValues() {
  using L = std::numeric_limits<T>;
  return {T(0),
          -T(0),
          T(1),
          -T(1),
          T(1) + L::epsilon(),
          T(1) - L::epsilon() / T(2),
          T(1) / T(3),
          T(2) / T(3),
          T(3),
          T(7),
          L::denorm_min(),
          -L::denorm_min(),
          L::min(),
          L::min() - L::denorm_min(),
          L::max(),
          -L::max(),
          L::max() / T(2),
          L::infinity(),
          -L::infinity(),
          L::quiet_NaN()};
}

template <class T>
T apply(int op, T a, T b) {
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a / b;
    case 4:
      return std::sqrt(a);
    default:
      return std::fma(a, b, a);
  }
}

#if defined(__FLT16_MANT_DIG__)
#define DOJO_HAS_HALF 1
using Half = _Float16;
#endif

/// All ordered pairs of `values`, and what each operation should give, as bits.
struct Table {
  std::vector<std::byte> operands;  ///< a, b, a, b, ...
  std::vector<std::uint64_t> expected;
  std::vector<bool> isNan;
  std::vector<std::string> text;  ///< Of a pair.
};

template <class T>
std::uint64_t bitsOf(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
Table tableOf(const std::vector<T>& values) {
  Table out;
  for (const T a : values) {
    for (const T b : values) {
      transport::put(out.operands, bitsOf(a), sizeof(T));
      transport::put(out.operands, bitsOf(b), sizeof(T));
      out.text.push_back(
          fmt::format("a = {:a}, b = {:a}", static_cast<double>(a), static_cast<double>(b)));
      for (int op = 0; op < kOpCount; ++op) {
        const T value = apply(op, a, b);
        out.expected.push_back(bitsOf(value));
        out.isNan.push_back(value != value);
      }
    }
  }
  return out;
}

#if DOJO_HAS_HALF
/// A float holds sums, products and quotients of halves exactly enough that rounding twice is
/// rounding once (it has more than twice the bits and two); their fused form needs a double.
Table halfTable() {
  std::vector<Half> values;
  using Bits = std::uint16_t;
  for (const Bits bits :
       {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3555, 0x3955, 0x4200, 0x4700,
        0x0001, 0x8001, 0x0400, 0x03ff, 0x7bff, 0xfbff, 0x77ff, 0x7c00, 0xfc00, 0x7e00}) {
    const Bits b = static_cast<Bits>(bits);
    Half value;
    std::memcpy(&value, &b, sizeof value);
    values.push_back(value);
  }
  Table out;
  for (const Half a : values) {
    for (const Half b : values) {
      transport::put(out.operands, bitsOf(a), 2);
      transport::put(out.operands, bitsOf(b), 2);
      out.text.push_back(
          fmt::format("a = {:a}, b = {:a}", static_cast<double>(a), static_cast<double>(b)));
      for (int op = 0; op < kOpCount; ++op) {
        const Half value =
            static_cast<Half>(apply(op, static_cast<float>(a), static_cast<float>(b)));
        out.expected.push_back(bitsOf(value));
        out.isNan.push_back(value != value);
      }
    }
  }
  return out;
}
#endif

/// Loops over %n pairs in %work; the results of the operations in `mask` follow the pairs.
Snippet program(const Format& format, const char* word, std::size_t pairs, int op) {
  const char* ops[] = {"fadd T %a, %b", "fsub T %a, %b", "fmul T %a, %b", "fdiv T %a, %b"};
  std::string value;
  Snippet out;
  if (op < 4) {
    value = ops[op];
    value.replace(value.find('T'), 1, format.llvm);
  } else if (op == 4) {
    value = fmt::format("call {0} @llvm.sqrt.{1}({0} %a)", format.llvm, format.suffix);
    out.declarations = fmt::format("declare {0} @llvm.sqrt.{1}({0})\n", format.llvm, format.suffix);
  } else {
    value =
        fmt::format("call {0} @llvm.fma.{1}({0} %a, {0} %b, {0} %a)", format.llvm, format.suffix);
    out.declarations =
        fmt::format("declare {0} @llvm.fma.{1}({0}, {0}, {0})\n", format.llvm, format.suffix);
  }
  out.body = fmt::format(R"(
  %into = getelementptr {0}, ptr %work, {1} {2}
  br label %loop
loop:
  %i = phi {1} [ 0, %entry ], [ %next, %loop ]
  %two = shl {1} %i, 1
  %pa = getelementptr {0}, ptr %work, {1} %two
  %pb = getelementptr {0}, ptr %pa, {1} 1
  %a = load {0}, ptr %pa
  %b = load {0}, ptr %pb
  %v = {3}
  %pv = getelementptr {0}, ptr %into, {1} %i
  store {0} %v, ptr %pv
  %next = add {1} %i, 1
  %end = icmp eq {1} %next, {4}
  br i1 %end, label %out, label %loop
out:
)",
                         format.llvm, word, 2 * pairs, value, pairs);
  return out;
}

}  // namespace

void checkFloats(Lab& lab, const std::string& dtype, Step& step) {
  const Format* format = nullptr;
  for (const Format& known : kFormats) {
    if (dtype == known.dtype) format = &known;
  }
  Table table;
  if (dtype == "f64") table = tableOf(hardValues<double>());
  if (dtype == "f32") table = tableOf(hardValues<float>());
#if DOJO_HAS_HALF
  if (dtype == "f16") table = halfTable();
#endif
  if (format == nullptr || table.expected.empty()) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("no table for {}", dtype);
    return;
  }
  const std::size_t pairs = table.text.size();
  const auto bytes = static_cast<std::size_t>(format->bytes);
  if (3 * pairs * bytes > lab.workBytes()) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("{} bytes of data memory are needed", 3 * pairs * bytes);
    return;
  }
  if (Status written = lab.writeWork(table.operands); !written) {
    return fail(step, written.error().text(), "see the step 'echo'");
  }
  std::vector<std::string> done;
  int cases = 0, wrong = 0;
  for (int op = 0; op < kOpCount; ++op) {
    if (op == 5 && (!lab.target().vector.fma || dtype == "f16")) continue;
    if (!lab.target().divides && (op == 3 || op == 4)) {
      step.lines.push_back(fmt::format("{}: no instruction, as the description says", kOps[op]));
      continue;
    }
    Result<Ran> ran = lab.run(program(*format, lab.word(), pairs, op), {});
    if (!ran && ran.error().code == "link.undefined") {
      step.lines.push_back(fmt::format("{}: not in hardware ({})", kOps[op], ran.error().message));
      continue;
    }
    if (!ran) {
      return fail(step, fmt::format("{}: {}", kOps[op], ran.error().text()),
                  "does start-up enable the floating-point unit?");
    }
    std::vector<std::byte> found(pairs * bytes);
    if (Status read = lab.device().read(lab.workBase() + 2 * pairs * bytes, found); !read) {
      return fail(step, read.error().text(), "see the step 'echo'");
    }
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::uint64_t got = transport::getAt(found, i * bytes, format->bytes);
      const std::size_t at = i * kOpCount + static_cast<std::size_t>(op);
      ++cases;
      const std::uint64_t magnitude = got & ((std::uint64_t{1} << (8 * bytes - 1)) - 1);
      const std::uint64_t infinity = dtype == "f64"   ? 0x7ff0000000000000U
                                     : dtype == "f32" ? 0x7f800000U
                                                      : 0x7c00U;
      const bool right = table.isNan[at] ? magnitude > infinity : got == table.expected[at];
      if (right) continue;
      ++wrong;
      if (step.lines.size() < 12) {
        step.lines.push_back(
            fmt::format("{} with {}: {:#x} instead of {}", kOps[op], table.text[i], got,
                        table.isNan[at] ? "NaN" : fmt::format("{:#x}", table.expected[at])));
      }
    }
    done.emplace_back(kOps[op]);
  }
  if (done.empty()) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("{} is not in hardware here", dtype);
    return;
  }
  std::string which = done.front();
  for (std::size_t i = 1; i < done.size(); ++i) which += "; " + done[i];
  step.seen = fmt::format("{} cases of {} equal bit for bit", cases - wrong, which);
  if (wrong > 0) {
    fail(step, fmt::format("{} of {} cases differ from IEEE 754", wrong, cases),
         "flush-to-zero or a rounding mode set by start-up (fcsr, FPSCR, FPCR)? a unit without "
         "subnormals? The results of kernels are judged against IEEE 754");
  }
}

}  // namespace dojo::bringup
