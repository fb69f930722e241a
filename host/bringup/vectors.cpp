// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vector unit: its length, and on RISC-V every element width and grouping, tails and masks.
// RISC-V "V" Vector Extension 1.0, sections 3.4 (vtype, vill) and 6.
#include <algorithm>

#include <fmt/format.h>

#include "bringup/steps.h"
#include "codegen/text.h"

namespace dojo::bringup {
namespace {

constexpr const char* kGroupings[] = {"mf8", "mf4", "mf2", "m1", "m2", "m4", "m8"};
constexpr int kEighths[] = {1, 2, 4, 8, 16, 32, 64};
constexpr int kWidths[] = {8, 16, 32, 64};

std::string storeResult(int index, const char* word, const std::string& value) {
  std::string text = fmt::format("  %s{0} = getelementptr i64, ptr %results, i32 {0}\n", index);
  if (std::string(word) == "i32") {
    text += fmt::format("  %x{0} = zext i32 {1} to i64\n", index, value);
    return text + fmt::format("  store i64 %x{0}, ptr %s{0}\n", index);
  }
  return text + fmt::format("  store i64 {1}, ptr %s{0}\n", index, value);
}

/// VLMAX of every width and grouping; 0 where the device refuses it.
Snippet lengths(const char* word) {
  Snippet out;
  int n = 0;
  for (const int width : kWidths) {
    for (const char* grouping : kGroupings) {
      out.body += fmt::format(
          "  %v{0} = call {1} asm sideeffect \"vsetvli $0, zero, e{2}, {3}, ta, ma\", \"=r\"()\n",
          n, word, width, grouping);
      out.body += storeResult(n, word, fmt::format("%v{}", n));
      ++n;
    }
  }
  return out;
}

/// Adds 1 to the first three elements of fives, with each policy, and stores all of a register:
/// tail undisturbed, tail agnostic, then masked (every second) undisturbed and agnostic.
Snippet policies(int width) {
  std::string text;
  const auto part = [&](const char* tail, const char* mask, bool masked) {
    text += fmt::format("vsetvli t0, zero, e{0}, m1, ta, ma\\0Avmv.v.i v8, 5\\0A", width);
    if (masked)
      text += fmt::format(
          "li t0, 5\\0Avsetvli t1, zero, e{}, m1, ta, ma\\0A"
          "vmv.v.x v0, t0\\0A",
          width);
    text += fmt::format("vsetivli t0, 3, e{}, m1, {}, {}\\0A", width, tail, mask);
    text += masked ? "vadd.vi v8, v8, 1, v0.t\\0A" : "vadd.vi v8, v8, 1\\0A";
    text += fmt::format("vsetvli t0, zero, e{}, m1, ta, ma\\0Avse{}.v v8, ($0)\\0A", width, width);
    text += "csrr t0, vlenb\\0Aadd $0, $0, t0\\0A";
  };
  part("tu", "mu", false);
  part("ta", "mu", false);
  part("tu", "mu", true);
  part("tu", "ma", true);
  Snippet out;
  out.body = fmt::format(
      "  %end = call ptr asm sideeffect \"{}\", "
      "\"=r,0,~{{x5}},~{{x6}},~{{v0}},~{{v8}},~{{memory}}\""
      "(ptr %work)\n",
      text);
  return out;
}

/// "" where the four registers that policies() stored are as the specification allows.
std::string judge(const std::vector<std::byte>& found, std::size_t vlenb, std::size_t width,
                  bool& ones) {
  const char* names[] = {"tail undisturbed", "tail agnostic", "mask undisturbed", "mask agnostic"};
  const std::size_t step = width / 8;
  for (std::size_t p = 0; p < 4; ++p) {
    for (std::size_t i = 0; i < vlenb / step; ++i) {
      std::uint64_t value = 0;
      bool all = true;
      for (std::size_t b = 0; b < step; ++b) {
        const auto byte = std::to_integer<std::uint64_t>(found[p * vlenb + i * step + b]);
        value |= byte << (8 * b);
        all = all && byte == 0xff;
      }
      const bool body = i < 3;
      const bool active = body && (p < 2 || i % 2 == 0);
      const bool agnostic = (p == 1 && !body) || (p == 3 && body && !active);
      if (agnostic && all) {
        ones = true;
        continue;
      }
      const std::uint64_t expected = active ? 6 : 5;
      if (value != expected) {
        return fmt::format("e{}, {}: element {} is {:#x} instead of {}", width, names[p], i, value,
                           expected);
      }
    }
  }
  return "";
}

void checkRiscv(Lab& lab, Step& step) {
  Result<Ran> ran = lab.run(lengths(lab.word()), {.results = 28});
  if (!ran) {
    return fail(step, ran.error().text(), "does start-up set mstatus.VS? is V 1.0 there at all?");
  }
  const std::int64_t vlen = ran->results[3] * 8;  // e8, m1
  int n = 0;
  for (const int width : kWidths) {
    std::string line = fmt::format("e{}:", width);
    for (std::size_t g = 0; g < 7; ++g, ++n) {
      const std::int64_t most = ran->results[static_cast<std::size_t>(n)];
      line += fmt::format(" {}={}", kGroupings[g], most);
      const std::int64_t right = vlen / width * kEighths[g] / 8;
      // A fraction smaller than SEW/ELEN needn't be there.
      const bool mayMiss = kEighths[g] < 8 && width * 8 > 64 * kEighths[g];
      if (most == right || (mayMiss && most == 0)) continue;
      fail(step,
           fmt::format("e{}, {}: at most {} elements, VLEN {} gives {}", width, kGroupings[g], most,
                       vlen, right),
           "vsetvli computes a wrong VLMAX, or the grouping is missing");
    }
    step.lines.push_back(line);
  }
  if (step.verdict == Verdict::failed) return;
  if (vlen != lab.target().vector.bits) {
    return fail(
        step,
        fmt::format("VLEN is {}, and the description says {}", vlen, lab.target().vector.bits),
        "correct \"vector\": {\"bits\": ...}: choices are made by it");
  }
  const auto vlenb = static_cast<std::size_t>(vlen / 8);
  bool ones = false;
  for (const int width : kWidths) {
    if (Status cleared = lab.device().fill(lab.workBase(), 4 * vlenb, std::byte{0}); !cleared) {
      return fail(step, cleared.error().text(), "see the step 'echo'");
    }
    if (vlen / width < 4) continue;
    Result<Ran> done = lab.run(policies(width), {});
    if (!done) return fail(step, done.error().text(), "masked addition or unit-stride stores");
    std::vector<std::byte> found(4 * vlenb);
    if (Status read = lab.readWork(found); !read) {
      return fail(step, read.error().text(), "see the step 'echo'");
    }
    const std::string wrong = judge(found, vlenb, static_cast<std::size_t>(width), ones);
    if (!wrong.empty()) {
      return fail(step, wrong,
                  "tails and masked-off elements must stay (tu, mu) or stay or turn "
                  "into ones (ta, ma)");
    }
  }
  step.seen = fmt::format(
      "VLEN {}; all widths and groupings; tails and masks as they should be, "
      "agnostic elements {}",
      vlen, ones ? "turn into ones" : "stay");
}

void checkSve(Lab& lab, Step& step) {
  Snippet count;
  count.body = "  %v0 = call i64 asm sideeffect \"cntb $0\", \"=r\"()\n";
  count.body += storeResult(0, "i64", "%v0");
  Result<Ran> ran = lab.run(count, {.results = 1});
  if (!ran) return fail(step, ran.error().text(), "does start-up enable SVE (CPACR_EL1.ZEN)?");
  const std::int64_t bits = ran->results[0] * 8;
  step.seen = fmt::format("SVE vectors of {} bits", bits);
  if (lab.target().vector.scalable && bits != lab.target().vector.bits) {
    fail(step, fmt::format("{}, and the description says {}", step.seen, lab.target().vector.bits),
         "correct \"vector\": {\"bits\": ...}, or set the length in start-up (ZCR_EL1)");
  }
}

}  // namespace

void checkVectors(Lab& lab, Step& step) {
  const target::Target& target = lab.target();
  if (target.vector.bits == 0) {
    step.verdict = Verdict::skipped;
    step.seen = "the description has no vector unit";
  } else if (target.triple.starts_with("riscv")) {
    const Result<bool> extension = codegen::hasFeature(target, "zve32x");
    if (extension && *extension) return checkRiscv(lab, step);
    step.seen = fmt::format("{} bits, packed into floating-point registers", target.vector.bits);
  } else if (target.triple.starts_with("aarch64") && target.vector.scalable) {
    checkSve(lab, step);
  } else {
    step.seen = fmt::format("{} bits, fixed by the instruction set (see the step 'isa')",
                            target.vector.bits);
  }
}

}  // namespace dojo::bringup
