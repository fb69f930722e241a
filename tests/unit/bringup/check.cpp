// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of day one, on devices that are as described and on some that aren't.
#include "bringup/check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "transport/transport.h"

namespace {

using dojo::bringup::Report;
using dojo::bringup::Step;
using dojo::bringup::Verdict;

dojo::target::Target load(const std::string& name) {
  auto target = dojo::target::load(name);
  REQUIRE(target.ok());
  return *target;
}

Report check(const dojo::target::Target& target, const std::string& runner = {}) {
  dojo::bringup::Options options;
  options.runner = runner;
  return dojo::bringup::check(target, options, {}, {});
}

const Step* find(const Report& report, const std::string& name) {
  const auto found = std::find_if(report.steps.begin(), report.steps.end(),
                                  [&](const Step& step) { return step.name == name; });
  return found == report.steps.end() ? nullptr : &*found;
}

/// The steps that failed, with what was seen.
std::string failures(const Report& report) {
  std::string text;
  for (const Step& step : report.steps) {
    if (step.verdict == Verdict::failed) text += step.name + ": " + step.seen + "\n";
  }
  return text;
}

bool emulated(const dojo::target::Target& target, const char* emulator) {
  const std::string here = fmt::format("command -v {} >/dev/null 2>&1", emulator);
  if (std::system(here.c_str()) == 0 &&
      std::filesystem::exists(dojo::transport::builtRunner(target))) {
    return true;
  }
  WARN("not tried: there is no " << emulator << " or no " << target.runner.image);
  return false;
}

}  // namespace

TEST_CASE("bringup: this machine is as described") {
  const Report report = check(load("host"));
  // Whether the clock keeps its rate is this machine's affair: others use it too.
  std::string failed = failures(report);
  if (failed.starts_with("clock: ") || failed.starts_with("counters: ")) failed.clear();
  CHECK(failed == "");
  for (const char* step :
       {"hello", "echo", "memory.data", "isa", "floats.f64", "faults", "kernel"}) {
    INFO(step);
    REQUIRE(find(report, step) != nullptr);
    CHECK(find(report, step)->verdict != Verdict::skipped);
  }
}

TEST_CASE("bringup: an extension that isn't there is found by executing it") {
  dojo::target::Target target = load("host");
  const Report honest = check(target);
  const Step* isa = find(honest, "isa");
  REQUIRE(isa != nullptr);
  const bool there = isa->seen.find("avx512fp16") != std::string::npos;
  if (there) return;
  target.cpu = "x86-64";
  target.features = "+avx512fp16";
  const Report report = check(target);
  isa = find(report, "isa");
  REQUIRE(isa != nullptr);
  CHECK(isa->verdict == Verdict::failed);
  CHECK(isa->seen.find("avx512fp16") != std::string::npos);
}

TEST_CASE("bringup: a device that can't be reached ends the report") {
  dojo::target::Target target = load("host");
  target.runner.command = "/bin/false {runner}";
  const Report report = check(target);
  CHECK_FALSE(report.passed());
  CHECK(report.steps.back().name == "hello");
  CHECK(report.steps.back().advice != "");

  const Report missing = check(load("host"), "/nowhere/runner");
  CHECK(missing.steps.back().name == "runner");
}

TEST_CASE("bringup: a description that LLVM doesn't understand ends the report") {
  dojo::target::Target target = load("host");
  target.cpu = "pentium9";
  target.features = "";
  const Report report = check(target);
  REQUIRE(report.steps.size() == 1);
  CHECK(report.steps[0].seen.find("pentium9") != std::string::npos);
}

TEST_CASE("bringup: an emulated board is as described, and a wrong VLEN is found") {
  dojo::target::Target target = load("qemu-rv64gcv");
  if (!emulated(target, "qemu-system-riscv64")) return;
  CHECK(failures(check(target)) == "");
  target.vector.bits = 512;
  const Report wrong = check(target);
  const Step* vectors = find(wrong, "vectors");
  REQUIRE(vectors != nullptr);
  CHECK(vectors->verdict == Verdict::failed);
  CHECK(vectors->seen == "VLEN is 256, and the description says 512");
}

TEST_CASE("bringup: JUnit's XML holds every step, with nothing that XML can't hold") {
  Report report;
  report.target = "a<b";
  report.steps = {
      {.name = "hello", .verdict = Verdict::ok, .seen = "fine & \"well\"", .lines = {"\x01"}},
      {.name = "echo", .verdict = Verdict::failed, .seen = "x<y", .advice = "turn it on"},
      {.name = "isa", .verdict = Verdict::skipped, .seen = "none"}};
  const std::string text = dojo::bringup::junit(report);
  CHECK(text.find("tests=\"3\" failures=\"1\" skipped=\"1\"") != std::string::npos);
  CHECK(text.find("<failure message=\"x&lt;y\">turn it on</failure>") != std::string::npos);
  CHECK(text.find("fine &amp; &quot;well&quot;") != std::string::npos);
  CHECK(text.find('\x01') == std::string::npos);
}
