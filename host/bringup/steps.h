// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The steps of a check; each fills in what it saw. One file a topic.
#pragma once

#include "bringup/check.h"
#include "bringup/lab.h"

namespace dojo::bringup {

// Memory: every region by a march test, every address line by distinct values.
void checkEcho(Lab& lab, Step& step);
void checkMemory(Lab& lab, const transport::Region& region, bool full, Step& step);
// Counters.
void checkCounters(Lab& lab, Step& step);
void checkClock(Lab& lab, Step& step);
// Instruction set.
void checkIsa(Lab& lab, Step& step);
// Arithmetic: `dtype` is f64, f32 or f16.
void checkFloats(Lab& lab, const std::string& dtype, Step& step);
void checkVectors(Lab& lab, Step& step);
// Figures.
void checkLatency(Lab& lab, Step& step);
void measurePeaks(Lab& lab, Peaks& peaks, Step& step);
// A vendor's instruction against its fragment.
void checkInstruction(const target::Target& target, const target::VendorInstruction& instruction,
                      transport::Device& device, Step& step);
// A kernel from text to verified result.
void checkKernel(const target::Target& target, transport::Device& device, Step& step);

/// What counter 0 counts, for sentences: "ticks", or "mcycle (instructions of the emulator)" where
/// that is no time of a device.
[[nodiscard]] std::string unit(const target::Target& target, const transport::Hello& hello);
/// Counter 0 counts cycles of a machine, be they those of a simulated one without a clock.
[[nodiscard]] bool countsCycles(const target::Target& target, const transport::Hello& hello);

/// Fills in a failure.
inline void fail(Step& step, std::string seen, std::string advice) {
  step.verdict = Verdict::failed;
  step.seen = std::move(seen);
  step.advice = std::move(advice);
}

}  // namespace dojo::bringup
