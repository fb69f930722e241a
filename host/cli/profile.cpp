// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/profile.h"

#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/roofline.h"
#include "cli/table.h"
#include "cli/workplace.h"
#include "moves/lowerable.h"
#include "tune/work.h"

namespace dojo::cli {
namespace {

struct Options {
  KernelArgs kernel;
  MeasureArgs measure;
  std::string roofline;
  bool json = false;
};

/// Columns of the table: what people call an event that the models count.
struct Column {
  const char* event;
  const char* title;
};
constexpr Column kColumns[] = {{"fpu_busy", "FPU busy"},         {"fp_stall_operand", "operand"},
                               {"fp_stall_write", "write"},      {"fp_stall_stream", "stream"},
                               {"fp_stall_memory", "memory"},    {"fp_idle", "FP idle"},
                               {"tcdm_conflict", "conflict"},    {"stall_fetch", "fetch"},
                               {"stall_operand", "int operand"}, {"stall_load", "load"},
                               {"stall_offload", "queue"},       {"barrier", "barrier"}};

double countOf(const tune::Happened& happened, const std::string& event) {
  const auto found = happened.events.find(event);
  return found == happened.events.end() ? 0 : found->second;
}

Json toJson(const tune::Happened& happened) {
  Json out = {{"cycles", happened.cycles}};
  for (const auto& [name, count] : happened.events) out[name] = count;
  return out;
}

Json toJson(const tune::Profile& profile) {
  Json out;
  out["cycles"] = profile.cycles;
  out["harts"] = profile.harts;
  out["total"] = toJson(profile.total);
  out["lines"] = Json::array();
  for (const tune::ProfiledLine& line : profile.lines) {
    out["lines"].push_back({{"line", line.line},
                            {"text", line.text},
                            {"own", toJson(line.own)},
                            {"all", toJson(line.all)}});
  }
  return out;
}

std::vector<std::string> cells(const std::string& name, const tune::Happened& happened,
                               double whole) {
  std::vector<std::string> out = {name, fmt::format("{:.0f}", happened.cycles)};
  for (const Column& column : kColumns) {
    const double count = countOf(happened, column.event);
    out.push_back(count == 0 ? "" : fmt::format("{:.1f}%", count / whole * 100));
  }
  return out;
}

void print(const tune::Profile& profile) {
  std::vector<std::string> head = {"scope", ">cycles"};
  for (const Column& column : kColumns) head.push_back(std::string(">") + column.title);
  Table table(head);
  const double whole = profile.total.cycles;
  for (const tune::ProfiledLine& line : profile.lines) {
    if (line.all.cycles == 0) continue;
    table.add(cells(line.line == 0 ? "(around it)" : line.text, line.all, whole));
  }
  table.add(cells("all", profile.total, whole));
  std::printf("%s", table.text().c_str());
}

int run(const Options& options) {
  auto refuse = [&](const Error& error) { return fail(error, options.json); };
  Result<target::Target> target = loadTarget(options.kernel.target, options.measure.threads);
  if (!target.ok()) return refuse(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return refuse(kernel.error());
  if (Status s = moves::lowerable(kernel->start, *target); !s.ok()) return refuse(s.error());
  Result<tune::Profile> profile =
      tune::profile(*target, options.measure.runner, kernel->start, options.measure.seed);
  if (!profile.ok()) return refuse(profile.error());
  const tune::Work work = tune::countWork(kernel->program);
  if (!options.roofline.empty()) {
    const RooflinePoint point = {kernel->describe(), work.flops.value_or(0) / profile->cycles,
                                 work.bytes > 0 ? work.flops.value_or(0) / work.bytes : 0};
    std::ofstream file(options.roofline);
    file << roofline(*target, kernel->dtype, {point});
    if (!file.flush()) {
      return refuse({"profile.roofline", "can't be written", options.roofline, ""});
    }
  }
  if (options.json) {
    Json json = toJson(*profile);
    json["kernel"] = kernel->start.name;
    json["shape"] = kernel->shape;
    json["dtype"] = kernel->dtype;
    json["target"] = target->name;
    std::printf("%s\n", dump(json).c_str());
    return kDone;
  }
  std::printf("%s on %s: %.0f cycles, FPU busy in %.1f%% of %d hart(s)' cycles\n",
              kernel->describe().c_str(), target->name.c_str(), profile->cycles,
              countOf(profile->total, "fpu_busy") / profile->cycles / profile->harts * 100,
              profile->harts);
  std::printf(
      "Cycles of a scope are those of all harts, with all that is inside of it; shares are "
      "of all cycles, and what waits at once is counted for each.\n");
  print(*profile);
  return kDone;
}

}  // namespace

void addProfile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "profile", "Tells where the cycles of a kernel go, on models that count it",
                 "dojo profile matmul --shape M=16,N=16,K=16 --dtype f64 --target snitch1 --expert "
                 "--roofline matmul.svg",
                 [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  addMeasureOptions(*command, options->measure);
  command->add_option("--roofline", options->roofline,
                      "Draws the kernel under the target's peaks into this SVG file");
  command->add_flag("--json", options->json, "One JSON object");
}

}  // namespace dojo::cli
