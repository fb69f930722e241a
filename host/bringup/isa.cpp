// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes one instruction of each extension under the runner's trap handler.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bringup/steps.h"
#include "codegen/text.h"

namespace dojo::bringup {
namespace {

/// One instruction that only `feature`, by LLVM's name, brings.
struct Probe {
  const char* arch;  ///< What the triple begins with.
  const char* feature;
  const char* assembly;
  const char* clobbers;
};

constexpr Probe kProbes[] = {
    {"riscv", "m", "mul t0, t0, t0", "~{x5}"},
    {"riscv", "a", "amoadd.w t0, zero, (sp)", "~{x5},~{memory}"},
    {"riscv", "f", "fmv.w.x ft0, zero", "~{f0_f}"},
    {"riscv", "d", "fadd.d ft0, ft0, ft0", "~{f0_d}"},
    {"riscv", "c", "c.nop", ""},
    {"riscv", "v", "vsetivli t0, 1, e8, m1, ta, ma", "~{x5}"},
    {"riscv", "zfh", "fadd.h ft0, ft0, ft0", "~{f0_h}"},
    {"riscv", "zvfh", "vsetivli t0, 1, e16, m1, ta, ma\\0Avfadd.vv v8, v8, v8", "~{x5},~{v8}"},
    {"riscv", "zba", "sh1add t0, t0, t0", "~{x5}"},
    {"riscv", "zbb", "andn t0, t0, t0", "~{x5}"},
    {"riscv", "zbs", "bset t0, t0, t0", "~{x5}"},
    {"riscv", "zicbom", "cbo.clean (sp)", "~{memory}"},
    {"aarch64", "neon", "fadd v0.4s, v0.4s, v0.4s", "~{v0}"},
    {"aarch64", "lse", "ldadd w9, w9, [sp]", "~{w9},~{memory}"},
    {"aarch64", "fullfp16", "fadd v0.8h, v0.8h, v0.8h", "~{v0}"},
    {"aarch64", "dotprod", "sdot v0.4s, v1.16b, v2.16b", "~{v0}"},
    {"aarch64", "i8mm", "smmla v0.4s, v1.16b, v2.16b", "~{v0}"},
    {"aarch64", "bf16", "bfdot v0.4s, v1.8h, v2.8h", "~{v0}"},
    {"aarch64", "sve", "cntb x9", "~{x9}"},
    {"aarch64", "sve2", "sqabs z0.b, p0/m, z0.b", "~{z0}"},
    {"arm", "vfp2sp", "vadd.f32 s0, s0, s0", "~{s0}"},
    {"arm", "fp64", "vadd.f64 d0, d0, d0", "~{d0}"},
    {"arm", "vfp4sp", "vfma.f32 s0, s0, s0", "~{s0}"},
    {"arm", "neon", "vadd.f32 q0, q0, q0", "~{q0}"},
    {"arm", "dsp", "smlad r1, r1, r1, r1", "~{r1}"},
    {"arm", "hwdiv", "sdiv r1, r1, r1", "~{r1}"},
    {"arm", "mve", "vadd.i32 q0, q0, q0", "~{q0}"},
    {"x86_64", "avx2", "vpaddd %ymm0, %ymm0, %ymm0", "~{ymm0}"},
    {"x86_64", "fma", "vfmadd213ps %ymm0, %ymm0, %ymm0", "~{ymm0}"},
    {"x86_64", "f16c", "vcvtph2ps %xmm0, %xmm0", "~{xmm0}"},
    {"x86_64", "avx512f", "vpaddd %zmm0, %zmm0, %zmm0", "~{zmm0}"},
    {"x86_64", "avx512bw", "vpaddw %zmm0, %zmm0, %zmm0", "~{zmm0}"},
    {"x86_64", "avx512vnni", "vpdpbusd %zmm0, %zmm0, %zmm0", "~{zmm0}"},
    {"x86_64", "avx512fp16", "vaddph %zmm0, %zmm0, %zmm0", "~{zmm0}"},
};

bool belongs(const Probe& probe, const std::string& triple) {
  const std::string arch = triple.substr(0, triple.find('-'));
  const bool thumb = arch.starts_with("thumb") && std::string(probe.arch) == "arm";
  // Microcontrollers have Helium in its place, with encodings in common.
  if (thumb && std::string(probe.feature) == "neon") return false;
  return thumb || arch.starts_with(probe.arch);
}

}  // namespace

void checkIsa(Lab& lab, Step& step) {
  const target::Target& target = lab.target();
  std::vector<std::string> present, missing, unclaimed, unknown;
  for (const Probe& probe : kProbes) {
    if (!belongs(probe, target.triple)) continue;
    Result<bool> claimed = codegen::hasFeature(target, probe.feature);
    if (!claimed) return fail(step, claimed.error().text(), "correct triple, cpu or features");
    Snippet snippet;
    snippet.body =
        fmt::format("  call void asm sideeffect \"{}\", \"{}\"()", probe.assembly, probe.clobbers);
    snippet.features = fmt::format("+{}", probe.feature);
    Result<Ran> ran = lab.run(snippet, {});
    if (!ran && !ran.error().code.starts_with("run.")) {
      // This core's LLVM description excludes it (an M-profile core has no NEON).
      unknown.emplace_back(probe.feature);
      step.lines.push_back(fmt::format("{}: not asked, {}", probe.feature, ran.error().message));
      continue;
    }
    if (ran) present.emplace_back(probe.feature);
    if (!ran && *claimed) missing.push_back(fmt::format("{} ({})", probe.feature, probe.assembly));
    if (ran && !*claimed) unclaimed.emplace_back(probe.feature);
    step.lines.push_back(
        fmt::format("{}: {}, {}{}", probe.feature, *claimed ? "described" : "not described",
                    ran ? "executes" : "doesn't execute", ran ? "" : ": " + ran.error().message));
  }
  if (present.empty() && missing.empty()) {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("no probes for {}", target.triple);
    return;
  }
  step.seen = fmt::format("executes {}; the runner says {}", fmt::join(present, " "),
                          lab.device().hello().isa);
  if (!missing.empty()) {
    return fail(step, fmt::format("described but not executed: {}", fmt::join(missing, ", ")),
                "take it out of \"features\", or have the runner's start-up enable it (mstatus.FS "
                "and VS, CPACR, CPTR)");
  }
  if (!unclaimed.empty()) {
    step.verdict = Verdict::note;
    step.advice = fmt::format(
        "executed but not described: {}; adding it to \"features\" lets "
        "kernels use it",
        fmt::join(unclaimed, " "));
  }
}

}  // namespace dojo::bringup
