// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Load latency over the size of what is read, peak arithmetic, bandwidth.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bringup/steps.h"

namespace dojo::bringup {
namespace {

constexpr std::int64_t kLine = 64;  ///< Bytes between the links of a chain.

/// Links %n lines (a power of two) into one cycle in an order that no prefetcher follows:
/// i -> 1664525 i + 1013904223, of full period (Knuth, TAOCP 2, 3.2.1.2).
Snippet chain(const char* word) {
  Snippet out;
  out.body = fmt::format(R"(
  %n = load {0}, ptr %params
  %mask = sub {0} %n, 1
  br label %loop
loop:
  %i = phi {0} [ 0, %entry ], [ %next, %loop ]
  %times = mul {0} %i, 1664525
  %plus = add {0} %times, 1013904223
  %to = and {0} %plus, %mask
  %from.bytes = mul {0} %i, {1}
  %to.bytes = mul {0} %to, {1}
  %from = getelementptr i8, ptr %work, {0} %from.bytes
  %target = getelementptr i8, ptr %work, {0} %to.bytes
  store ptr %target, ptr %from
  %next = add {0} %i, 1
  %end = icmp eq {0} %next, %n
  br i1 %end, label %out, label %loop
out:
)",
                         word, kLine);
  return out;
}

/// Follows the chain: eight loads a turn.
Snippet follow(const char* word) {
  Snippet out;
  out.body = fmt::format(R"(
  %n = load {0}, ptr %params
  br label %loop
loop:
  %i = phi {0} [ %n, %entry ], [ %less, %loop ]
  %p0 = phi ptr [ %work, %entry ], [ %p8, %loop ]
)",
                         word);
  for (int k = 0; k < 8; ++k) {
    out.body += fmt::format("  %p{} = load volatile ptr, ptr %p{}\n", k + 1, k);
  }
  out.body += fmt::format(R"(
  %less = sub {0} %i, 1
  %more = icmp ne {0} %less, 0
  br i1 %more, label %loop, label %done
done:
  store ptr %p8, ptr %results
)",
                          word);
  return out;
}

std::string sizeText(std::uint64_t bytes) {
  if (bytes >= (1 << 20)) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

/// What computes: `llvm` in vectors of `lanes`.
struct Shape {
  std::string dtype, scalar;
  int bytes;
  bool isFloat;
};
const Shape kShapes[] = {{"f64", "double", 8, true},
                         {"f32", "float", 4, true},
                         {"f16", "half", 2, true},
                         {"i32", "i32", 4, false},
                         {"i8", "i8", 1, false}};

std::string vectorOf(const std::string& scalar, int lanes) {
  return lanes == 1 ? scalar : fmt::format("<{} x {}>", lanes, scalar);
}

std::string suffixOf(const Shape& shape, int lanes) {
  const std::string scalar = fmt::format("f{}", shape.bytes * 8);
  return lanes == 1 ? scalar : fmt::format("v{}{}", lanes, scalar);
}

/// A multiply and an add on each of `chains` independent values, over and over.
Snippet multiplyAdd(const Shape& shape, int lanes, int chains, bool fused, const char* word) {
  const std::string type = vectorOf(shape.scalar, lanes);
  Snippet out;
  out.body = fmt::format(R"(
  %n = load {0}, ptr %params
  %x = load {1}, ptr %work, align {2}
  %yp = getelementptr {1}, ptr %work, i32 1
  %y = load {1}, ptr %yp, align {2}
  br label %loop
loop:
  %i = phi {0} [ %n, %entry ], [ %less, %loop ]
)",
                         word, type, shape.bytes);
  for (int k = 0; k < chains; ++k) {
    out.body += fmt::format("  %a{0} = phi {1} [ %x, %entry ], [ %b{0}, %loop ]\n", k, type);
  }
  for (int k = 0; k < chains; ++k) {
    if (shape.isFloat && fused) {
      out.body += fmt::format("  %b{0} = call {1} @llvm.fma.{2}({1} %a{0}, {1} %x, {1} %y)\n", k,
                              type, suffixOf(shape, lanes));
    } else {
      const char* f = shape.isFloat ? "f" : "";
      out.body += fmt::format("  %m{0} = {2}mul {1} %a{0}, %x\n  %b{0} = {2}add {1} %m{0}, %y\n", k,
                              type, f);
    }
  }
  out.body += fmt::format(R"(
  %less = sub {0} %i, 1
  %more = icmp ne {0} %less, 0
  br i1 %more, label %loop, label %done
done:
)",
                          word);
  for (int k = 0; k < chains; ++k) {
    out.body += fmt::format("  %s{0} = getelementptr {1}, ptr %work, i32 {0}\n", k, type);
    out.body += fmt::format("  store {1} %b{0}, ptr %s{0}, align {2}\n", k, type, shape.bytes);
  }
  if (shape.isFloat && fused) {
    out.declarations =
        fmt::format("declare {0} @llvm.fma.{1}({0}, {0}, {0})\n", type, suffixOf(shape, lanes));
  }
  return out;
}

/// Sums %n groups of eight `type` from %work on, once.
Snippet sweep(const std::string& type, int bytes, const char* word) {
  Snippet out;
  out.body = fmt::format(R"(
  %n = load {0}, ptr %params
  br label %loop
loop:
  %i = phi {0} [ 0, %entry ], [ %next, %loop ]
)",
                         word);
  for (int k = 0; k < 8; ++k) {
    out.body +=
        fmt::format("  %a{0} = phi {1} [ zeroinitializer, %entry ], [ %b{0}, %loop ]\n", k, type);
  }
  out.body += fmt::format("  %base = mul {0} %i, 8\n", word);
  for (int k = 0; k < 8; ++k) {
    out.body += fmt::format(R"(  %at{0} = add {1} %base, {0}
  %p{0} = getelementptr {2}, ptr %work, {1} %at{0}
  %v{0} = load {2}, ptr %p{0}, align {3}
  %b{0} = add {2} %a{0}, %v{0}
)",
                            k, word, type, bytes);
  }
  out.body += fmt::format(R"(
  %next = add {0} %i, 1
  %end = icmp eq {0} %next, %n
  br i1 %end, label %done, label %loop
done:
)",
                          word);
  for (int k = 1; k < 8; ++k) {
    out.body += fmt::format("  %c{0} = add {1} %{2}, %b{0}\n", k, type,
                            k == 1 ? std::string("b0") : fmt::format("c{}", k - 1));
  }
  return {.body = out.body + fmt::format("  store {} %c7, ptr %results, align {}\n", type, bytes)};
}

}  // namespace

void checkLatency(Lab& lab, Step& step) {
  const std::uint64_t most = std::min<std::uint64_t>(lab.workBytes(), 64 << 20);
  std::vector<double> curve;
  for (std::uint64_t bytes = 1 << 10; bytes <= most; bytes *= 4) {
    const auto lines = static_cast<std::int64_t>(bytes) / kLine;
    Result<Ran> linked = lab.run(chain(lab.word()), {.params = {lines}, .limitSeconds = 60});
    if (!linked) return fail(step, linked.error().text(), "see the memory steps");
    const std::int64_t turns = std::clamp<std::int64_t>(lines / 4, 512, 1 << 15);
    Result<Ran> ran = lab.run(follow(lab.word()),
                              {.params = {turns}, .results = 1, .samples = 5, .limitSeconds = 60});
    if (!ran) return fail(step, ran.error().text(), "see the memory steps");
    curve.push_back(ran->best() / static_cast<double>(8 * turns));
    step.lines.push_back(fmt::format("{}: {:.3g} ticks a load", sizeText(bytes), curve.back()));
  }
  if (!countsCycles(lab.target(), lab.device().hello())) {
    step.seen = fmt::format("{:.2f} {} a load in 1 KiB: nothing here tells latency", curve.front(),
                            unit(lab.target(), lab.device().hello()));
    return;
  }
  step.seen = fmt::format("{:.3g} ticks a dependent load in {}, {:.3g} in {}", curve.front(),
                          sizeText(1 << 10), curve.back(),
                          sizeText((std::uint64_t{1} << 10) << (2 * (curve.size() - 1))));
  std::vector<std::string> jumps;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (curve[i] > 1.5 * curve[i - 1]) {
      jumps.push_back(sizeText((std::uint64_t{1} << 10) << (2 * (i - 1))));
    }
  }
  if (!jumps.empty()) step.seen += fmt::format("; a cache ends beyond {}", fmt::join(jumps, ", "));
}

void measurePeaks(Lab& lab, Peaks& peaks, Step& step) {
  const target::Target& target = lab.target();
  for (const Shape& shape : kShapes) {
    const bool vector =
        target.vector.bits != 0 && std::find(target.vector.types.begin(), target.vector.types.end(),
                                             shape.dtype) != target.vector.types.end();
    const int lanes = vector ? target.lanes(shape.bytes) : 1;
    double best = 0;
    std::string why;
    for (const int chains : {4, 8, 12}) {
      const std::int64_t turns = 2000;
      Result<Ran> ran = lab.run(multiplyAdd(shape, lanes, chains, target.vector.fma, lab.word()),
                                {.params = {turns}, .samples = 9, .limitSeconds = 30});
      if (!ran) {
        why = ran.error().message;
        break;
      }
      const double ops = 2.0 * lanes * chains * static_cast<double>(turns);
      if (ran->best() > 0) best = std::max(best, ops / ran->best());
    }
    if (best == 0) {
      step.lines.push_back(fmt::format("{}: not measured, {}", shape.dtype, why));
      continue;
    }
    peaks.opsPerCycle[shape.dtype] = best;
    step.lines.push_back(fmt::format("{}: {:.4g} operations a tick", shape.dtype, best));
  }
  const int lanes = std::max(1, target.lanes(4));
  const std::string type = vectorOf("i32", lanes);
  std::string memory = "data";
  for (const target::Memory& known : target.memories) {
    if (std::find(known.roles.begin(), known.roles.end(), "data") != known.roles.end()) {
      memory = known.name;
    }
  }
  // All of the memory, beyond any cache where there's room for it.
  const std::uint64_t group = std::uint64_t{32} * static_cast<std::uint64_t>(lanes);
  for (const std::uint64_t bytes : {std::min<std::uint64_t>(lab.workBytes(), 16 << 10),
                                    std::min<std::uint64_t>(lab.workBytes(), 256 << 20)}) {
    const auto groups = static_cast<std::int64_t>(bytes / group);
    if (groups == 0) continue;
    Result<Ran> ran =
        lab.run(sweep(type, 4, lab.word()), {.params = {groups}, .samples = 5, .limitSeconds = 60});
    if (!ran) return fail(step, ran.error().text(), "see the memory steps");
    if (ran->best() <= 0) continue;
    const double rate = static_cast<double>(groups) * static_cast<double>(group) / ran->best();
    step.lines.push_back(
        fmt::format("{}: {:.4g} bytes a tick over {}", memory, rate, sizeText(bytes)));
    peaks.bytesPerCycle[memory] = rate;  // the larger one stays
  }
  std::vector<std::string> parts;
  for (const auto& [dtype, rate] : peaks.opsPerCycle) {
    parts.push_back(fmt::format("{} {:.4g}", dtype, rate));
  }
  step.seen = fmt::format("operations a tick: {}; bytes a tick: {} {:.4g}", fmt::join(parts, ", "),
                          memory, peaks.bytesPerCycle[memory]);
  if (!countsCycles(target, lab.device().hello())) {
    step.verdict = Verdict::note;
    step.advice =
        "the description says that what is counted is no time: these are no peaks of a machine";
  }
}

}  // namespace dojo::bringup
