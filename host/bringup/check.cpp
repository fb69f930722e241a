// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bringup/check.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "bringup/steps.h"
#include "codegen/text.h"
#include "ir/parse.h"
#include "kernels/embedded.h"
#include "tune/bench.h"

namespace dojo::bringup {
namespace {

void checkDescription(const target::Target& target, Step& step) {
  Result<int> pointer = codegen::pointerBytes(target);
  if (!pointer) {
    return fail(step, pointer.error().text(), "correct triple, cpu, features, abi or code_model");
  }
  step.seen = fmt::format("{}; code for {}{}{}, addresses of {} bytes", target.file, target.triple,
                          target.cpu.empty() ? "" : ", cpu " + target.cpu,
                          target.features.empty() ? "" : ", " + target.features, *pointer);
}

void checkImage(const target::Target& target, const std::string& runner, Step& step) {
  const std::string path = runner.empty() ? transport::builtRunner(target) : runner;
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  if (!failed) {
    step.seen = fmt::format("{}, {} bytes", path, bytes);
  } else if (target.runner.command.find("{runner}") == std::string::npos &&
             target.runner.transport != "gdb" && target.runner.transport != "openocd") {
    step.verdict = Verdict::skipped;
    step.seen = fmt::format("no {} here; it is taken to run on the device already", path);
  } else {
    fail(step, fmt::format("{}: {}", path, failed.message()),
         "build the runner for this target (targets/README.md), or name it with --runner");
  }
}

std::string bytesText(std::uint64_t bytes) {
  if (bytes % (1 << 20) == 0 && bytes != 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

void tellHello(const transport::Device& device, Step& step) {
  const transport::Hello& hello = device.hello();
  step.seen = fmt::format("port {}, protocol {}, {} hart{}, frames of {} bytes, window {}; {}",
                          hello.port, hello.version, hello.harts, hello.harts == 1 ? "" : "s",
                          hello.largestFrame, hello.window, device.describe());
  for (const transport::Region& region : hello.regions) {
    step.lines.push_back(
        fmt::format("{}: {:#x}, {}", region.name, region.base, bytesText(region.size)));
  }
  step.lines.push_back("isa: " + hello.isa);
}

/// What the runner says of itself against what the description says.
void checkAgreement(const target::Target& target, const transport::Hello& hello, Step& step) {
  const Result<int> pointer = codegen::pointerBytes(target);
  if (pointer && *pointer != hello.pointerBytes) {
    return fail(step,
                fmt::format("the runner's addresses have {} bytes and the target's {}",
                            hello.pointerBytes, *pointer),
                "is this the runner of another target?");
  }
  if (target.harts > hello.harts) {
    return fail(
        step,
        fmt::format("{} harts are described and the runner has {}", target.harts, hello.harts),
        "correct \"harts\", or start-up loses some");
  }
  int compared = 0;
  for (const target::Memory& memory : target.memories) {
    for (const std::string& role : memory.roles) {
      // What isn't the first of its role goes by its own name.
      const transport::Region* own = hello.region(memory.name);
      const transport::Region* region = own != nullptr ? own : hello.region(role);
      if (region == nullptr || memory.length == 0) continue;
      ++compared;
      const bool inside = region->base >= memory.origin &&
                          region->base + region->size <= memory.origin + memory.length;
      if (!inside) {
        return fail(
            step,
            fmt::format("the runner has '{}' at {:#x}, {}, and the description at {:#x}, {}", role,
                        region->base, bytesText(region->size), memory.origin,
                        bytesText(memory.length)),
            "the runner was built from another description: build it again");
      }
    }
  }
  step.seen = fmt::format("addresses, harts and {} memories are as described", compared);
}

/// The device must survive what candidates do.
void checkFaults(Lab& lab, Step& step) {
  struct Case {
    const char* name;
    Snippet snippet;
    const char* code;
  };
  const bool arm =
      lab.target().triple.starts_with("arm") || lab.target().triple.starts_with("thumb");
  const std::string undefined = lab.target().triple.starts_with("x86")       ? "ud2"
                                : arm                                        ? "udf #0"
                                : lab.target().triple.starts_with("aarch64") ? "udf #0"
                                                                             : "unimp";
  Snippet illegal{.body = fmt::format("  call void asm sideeffect \"{}\", \"\"()", undefined)};
  Snippet endless{.body =
                      "  br label %on\non:\n  call void asm sideeffect \"\", \"\"()\n"
                      "  br label %on\nout:\n",
                  .declarations = "",
                  .features = ""};
  const Case cases[] = {{"an illegal instruction", illegal, "run.fault"},
                        {"an endless loop", endless, "run.timeout"}};
  std::vector<std::string> survived;
  for (const Case& c : cases) {
    Result<Ran> ran = lab.run(c.snippet, {.limitSeconds = 0.3});
    if (ran || ran.error().code != c.code) {
      return fail(step,
                  fmt::format("{} gave {} instead of {}", c.name,
                              ran ? "a result" : ran.error().text(), c.code),
                  "the runner's trap handler or timer doesn't work on this device");
    }
    step.lines.push_back(fmt::format("{}: {}", c.name, ran.error().message));
    if (Result<Ran> after = lab.run({}, {}); !after) {
      return fail(step, fmt::format("after {} nothing runs: {}", c.name, after.error().text()),
                  "describe a way back: \"reset\", \"reset_line\", \"power_cycle\"");
    }
    survived.emplace_back(c.name);
  }
  const std::int64_t restarts = lab.device().statistics().recoveries;
  step.seen = fmt::format("survives {}; {} restart{} needed", fmt::join(survived, " and "),
                          restarts, restarts == 1 ? " was" : "s were");
}

class Checker {
 public:
  Checker(const target::Target& target, const Options& options, const OnBegin& onBegin,
          const OnStep& onStep)
      : target_(target), options_(options), onBegin_(onBegin), onStep_(onStep) {
    report_.target = target.name;
    report_.file = target.file;
  }

  Report run() {
    if (!step("description", [&](Step& s) { checkDescription(target_, s); })) return report_;
    if (!step("runner", [&](Step& s) { checkImage(target_, options_.runner, s); })) return report_;
    std::unique_ptr<transport::Device> device;
    const bool reached = step("hello", [&](Step& s) {
      Result<std::unique_ptr<transport::Device>> opened = tune::reach(target_, options_.runner);
      if (!opened) {
        if (opened.error().code == "link.start") {
          return fail(
              s, opened.error().text(),
              "install what \"command\" starts (scripts/setup.sh brings QEMU and OpenOCD), or "
              "correct it");
        }
        return fail(s, opened.error().text(),
                    "power and cable; the device's name; baud rate; is the runner on it and "
                    "started? what does the console print at reset?");
      }
      device = std::move(*opened);
      report_.device = device->describe();
      tellHello(*device, s);
    });
    if (!reached) return report_;
    step("agreement", [&](Step& s) { checkAgreement(target_, device->hello(), s); });
    std::optional<Lab> lab;
    const bool able = step("empty call", [&](Step& s) {
      Result<Lab> opened = Lab::open(target_, *device);
      if (!opened) {
        return fail(s, opened.error().text(),
                    "can code be executed where it was written? memory protection, caches that "
                    "instruction fetch doesn't see, a region that isn't \"rwx\"");
      }
      lab = *opened;
      s.seen = "a kernel that does nothing was placed, called and returned";
    });
    if (!able) return report_;
    step("echo", [&](Step& s) { checkEcho(*lab, s); });
    const std::vector<transport::Region> regions = device->hello().regions;
    for (const transport::Region& region : regions) {
      step("memory." + region.name, [&](Step& s) { checkMemory(*lab, region, options_.full, s); });
    }
    step("counters", [&](Step& s) { checkCounters(*lab, s); });
    step("clock", [&](Step& s) { checkClock(*lab, s); });
    step("isa", [&](Step& s) { checkIsa(*lab, s); });
    for (const char* dtype : {"f64", "f32", "f16"}) {
      step(fmt::format("floats.{}", dtype), [&](Step& s) { checkFloats(*lab, dtype, s); });
    }
    step("vectors", [&](Step& s) { checkVectors(*lab, s); });
    step("latency", [&](Step& s) { checkLatency(*lab, s); });
    if (options_.peak) {
      step("peak", [&](Step& s) { measurePeaks(*lab, report_.peaks, s); });
    }
    step("faults", [&](Step& s) { checkFaults(*lab, s); });
    step("kernel", [&](Step& s) { checkKernel(target_, *device, s); });
    for (const target::VendorInstruction& instruction : target_.instructions) {
      step("instruction." + instruction.name,
           [&](Step& s) { checkInstruction(target_, instruction, *device, s); });
    }
    return report_;
  }

 private:
  template <class Fn>
  bool step(const std::string& name, Fn&& fn) {
    if (onBegin_) onBegin_(name);
    Step step;
    step.name = name;
    Stopwatch watch;
    fn(step);
    step.seconds = watch.seconds();
    report_.steps.push_back(step);
    if (onStep_) onStep_(step);
    return step.verdict != Verdict::failed;
  }

  const target::Target& target_;
  const Options& options_;
  const OnBegin& onBegin_;
  const OnStep& onStep_;
  Report report_;
};

}  // namespace

void checkKernel(const target::Target& target, transport::Device& device, Step& step) {
  const std::vector<kernels::Embedded>& suite = kernels::embedded();
  const auto found = std::find_if(suite.begin(), suite.end(),
                                  [](const kernels::Embedded& k) { return k.name == "matmul"; });
  DOJO_CHECK(found != suite.end(), "the suite has no matmul");
  ir::ParseOptions options;
  options.params = {{"M", 16}, {"N", 16}, {"K", 16}};
  Result<ir::Parsed> parsed = ir::parse(found->text, options);
  DOJO_CHECK(parsed.ok(), "the suite's matmul doesn't parse");
  const ir::Program& program = parsed->program;
  tune::BenchOptions benchOptions;
  benchOptions.first = program;
  Result<std::unique_ptr<tune::Bench>> bench =
      tune::Bench::open(program, target, device, benchOptions);
  if (!bench) return fail(step, bench.error().text(), "see the steps before");
  (*bench)->submit(search::candidate(program, {}));
  const std::optional<Outcome> outcome = (*bench)->next();
  if (!outcome || !outcome->ok()) {
    return fail(step,
                outcome ? outcome->failure().code + ": " + outcome->failure().detail : "stopped",
                "the steps 'floats' and 'memory' tell more");
  }
  const Measurement& measured = outcome->measurement();
  step.seen = fmt::format("matmul 16x16x16 f32 is right on {} elements and takes {:.6g} {}",
                          measured.comparedElements, measured.cycles, unit(target, device.hello()));
}

Report check(const target::Target& target, const Options& options, const OnBegin& onBegin,
             const OnStep& onStep) {
  return Checker(target, options, onBegin, onStep).run();
}

}  // namespace dojo::bringup
