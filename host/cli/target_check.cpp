// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dojo target check: the report of day one.
#include "cli/target_check.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "bringup/check.h"
#include "cli/command.h"

namespace dojo::cli {
namespace {

struct CheckArgs {
  std::string target, junit, peak;
  bringup::Options options;
  bool json = false;
  bool quiet = false;
};

Json stepJson(const bringup::Step& step) {
  Json json;
  json["step"] = step.name;
  json["verdict"] = bringup::name(step.verdict);
  json["seen"] = step.seen;
  json["advice"] = step.advice;
  json["seconds"] = step.seconds;
  json["lines"] = step.lines;
  return json;
}

void printStep(const bringup::Step& step, bool lines) {
  std::printf("%-8s %-15s %s\n", bringup::name(step.verdict), step.name.c_str(), step.seen.c_str());
  if (lines || step.verdict == bringup::Verdict::failed) {
    for (const std::string& line : step.lines) std::printf("%25s%s\n", "", line.c_str());
  }
  if (!step.advice.empty()) {
    const bool failed = step.verdict == bringup::Verdict::failed;
    std::printf("%25s%s%s\n", "", failed ? "try: " : "", step.advice.c_str());
  }
  std::fflush(stdout);
}

Status writeFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return Error{"cli.file", fmt::format("can't write '{}'", path)};
}

/// The description with the measured peaks, everything else as it was.
Status writePeaks(const target::Target& target, const bringup::Peaks& peaks,
                  const std::string& path) {
  std::ifstream file(target.file);
  std::stringstream text;
  text << file.rdbuf();
  Json json = Json::parse(text.str(), nullptr, false);
  if (json.is_discarded()) return Error{"cli.file", fmt::format("can't read '{}'", target.file)};
  for (const auto& [dtype, rate] : peaks.opsPerCycle) json["peak"]["ops_per_cycle"][dtype] = rate;
  for (const auto& [name, rate] : peaks.bytesPerCycle) {
    json["peak"]["bytes_per_cycle"][name] = rate;
  }
  return writeFile(path, json.dump(2) + "\n");
}

int run(const CheckArgs& args) {
  Result<target::Target> target = target::load(args.target);
  if (!target.ok()) return fail(target.error(), args.json);
  bringup::Options options = args.options;
  options.peak = !args.peak.empty();
  const bringup::Report report = bringup::check(
      *target, options,
      [](const std::string& step) {
        if (errorIsTerminal()) std::fprintf(stderr, "\r\033[K%s ...", step.c_str());
      },
      [&](const bringup::Step& step) {
        if (errorIsTerminal()) std::fprintf(stderr, "\r\033[K");
        if (!args.json) printStep(step, !args.quiet);
      });
  if (args.json) {
    Json json;
    json["target"] = report.target;
    json["file"] = report.file;
    json["device"] = report.device;
    json["tried_on"] = target->triedOn;
    json["passed"] = report.passed();
    json["steps"] = Json::array();
    for (const bringup::Step& step : report.steps) json["steps"].push_back(stepJson(step));
    if (options.peak) {
      json["peak"]["ops_per_cycle"] = report.peaks.opsPerCycle;
      json["peak"]["bytes_per_cycle"] = report.peaks.bytesPerCycle;
    }
    std::printf("%s\n", dump(json).c_str());
  } else {
    std::printf("%s: %d ok, %d to note, %d failed, %d skipped\n", report.target.c_str(),
                report.count(bringup::Verdict::ok), report.count(bringup::Verdict::note),
                report.count(bringup::Verdict::failed), report.count(bringup::Verdict::skipped));
  }
  if (!args.junit.empty()) {
    if (Status written = writeFile(args.junit, bringup::junit(report)); !written) {
      return fail(written.error());
    }
  }
  if (options.peak && !report.peaks.opsPerCycle.empty()) {
    if (Status written = writePeaks(*target, report.peaks, args.peak); !written) {
      return fail(written.error());
    }
    std::fprintf(stderr, "dojo: the peaks are in %s\n", args.peak.c_str());
  }
  return report.passed() ? kDone : kFailed;
}

}  // namespace

void addTargetCheck(CLI::App& target) {
  auto args = std::make_shared<CheckArgs>();
  CLI::App* command = addCommand(
      target, "check", "Reaches a device and tries everything that its description claims",
      "dojo target check qemu-rv64gcv --junit check.xml", [args] { return run(*args); });
  command->add_option("name", args->target, "Name of a target, or path of its .json file")
      ->required();
  command->add_option("--runner", args->options.runner, "Path of another runner");
  command->add_option("--peak", args->peak,
                      "Measure peak rates, and write them into this copy of the description");
  command->add_flag("--full", args->options.full,
                    "Test all of every memory, however long it takes");
  command->add_option("--junit", args->junit, "Write the report as JUnit XML too");
  command->add_flag("--json", args->json, "One JSON object");
  command->add_flag("--quiet", args->quiet, "Without the details of steps that went well");
}

}  // namespace dojo::cli
