// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/workplace.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/table.h"
#include "ir/print.h"
#include "tune/work.h"

namespace dojo::cli {

void addMeasureOptions(CLI::App& command, MeasureArgs& args) {
  command.add_option("--threads", args.threads, "Harts that run a kernel")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cache", args.cache, "warm, or cold: evicted before each call")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->capture_default_str();
  command.add_option("--seed", args.seed, "Of everything that is random")->capture_default_str();
  command.add_option("--runner", args.runner, "Path of another runner");
}

Result<target::Target> loadTarget(const std::string& name, int threads) {
  Result<target::Target> target = target::load(name);
  if (!target.ok()) return target;
  if (threads > std::max(1, target->harts)) {
    return Error{
        "cli.usage",
        fmt::format("--threads {}: target {} has {}", threads, target->name, target->harts), "",
        ""};
  }
  target->harts = threads;
  if (threads == 1) std::erase(target->mappings, "parallel");
  return target;
}

std::string referenceFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/dojo/references";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home != '/' ? "" : std::string(home) + "/.cache/dojo/references";
}

Status Workplace::open() {
  if (broken_) return *broken_;
  if (bench_ != nullptr) return {};
  Result<std::unique_ptr<transport::Device>> device = tune::reach(target_, args_.runner);
  if (!device.ok()) {
    broken_ = device.error();
    return *broken_;
  }
  device_ = std::move(device).value();
  tune::BenchOptions options;
  options.harts = target_.harts;
  options.seed = args_.seed;
  options.coldCache = args_.cache == "cold";
  options.referenceFolder = referenceFolder();
  options.raceFactor = std::numeric_limits<double>::infinity();
  options.interrupted = &interrupted();
  options.first = first_;
  Result<std::unique_ptr<tune::Bench>> bench =
      tune::Bench::open(plain_, target_, *device_, options);
  if (!bench.ok()) {
    broken_ = bench.error();
    return *broken_;
  }
  bench_ = std::move(bench).value();
  return {};
}

void Workplace::submit(const search::Candidate& candidate) {
  if (open().ok()) bench_->submit(candidate);
}

std::optional<Outcome> Workplace::next() {
  if (!broken_) return bench_->next();
  Outcome outcome;
  outcome.result = Failure{Stage::link, broken_->code, broken_->message};
  return outcome;
}

void describeTo(Json& json, const Measurement& m, const ir::Program& plain, double hz) {
  json["cycles"] = m.cycles;
  json["spread"] = m.spread;
  json["samples"] = m.samples.size();
  json["calls_per_sample"] = m.callsPerSample;
  json["counter"] = m.counter;
  json["cache"] = m.cache;
  json["worst_error"] = m.worstError;
  json["compared"] = m.comparedElements;
  json["skipped"] = m.skippedElements;
  if (hz <= 0 || m.cycles <= 0) return;
  const double seconds = m.cycles / hz;
  json["seconds"] = seconds;
  const tune::Work work = tune::countWork(plain);
  if (work.flops && *work.flops > 0) json["gflops"] = *work.flops / seconds / 1e9;
  json["gbytes_per_second"] = work.bytes / seconds / 1e9;
}

std::string describe(const Measurement& m, const ir::Program& plain, double hz) {
  std::string out =
      fmt::format("{} {} of {} (median of {}, spread {:.2g}%)", showNumber(m.cycles),
                  hz > 0 ? "cycles" : "ticks", m.counter, m.samples.size(), m.spread * 100);
  if (m.censored) out = "more than " + out;
  if (hz <= 0 || m.cycles <= 0) return out;
  const double seconds = m.cycles / hz;
  out += ", " + showSeconds(seconds);
  const tune::Work work = tune::countWork(plain);
  if (work.flops && *work.flops > 0) {
    out += fmt::format(", {} GFLOP/s", showNumber(*work.flops / seconds / 1e9));
  }
  return out + fmt::format(", {} GB/s", showNumber(work.bytes / seconds / 1e9));
}

namespace {

/// The arguments whose layout differs.
std::vector<ir::Buffer> repacked(const ir::Program& plain, const ir::Program& moved) {
  std::vector<ir::Buffer> out;
  for (const ir::Buffer& buffer : moved.buffers) {
    const std::optional<ir::BufferId> before = plain.find(buffer.name);
    if (buffer.isArgument() && before && !(plain.buffer(*before) == buffer)) out.push_back(buffer);
  }
  return out;
}

}  // namespace

std::string describePacking(const ir::Program& plain, const ir::Program& moved) {
  std::string out;
  for (const ir::Buffer& buffer : repacked(plain, moved)) {
    out += fmt::format("the caller packs {}, which isn't counted: {}\n", buffer.name,
                       ir::printDeclaration(buffer));
  }
  return out;
}

void describePackingTo(Json& json, const ir::Program& plain, const ir::Program& moved) {
  for (const ir::Buffer& buffer : repacked(plain, moved)) {
    json["packed"][buffer.name] = ir::printDeclaration(buffer);
  }
}

std::string describe(const Failure& failure) {
  return fmt::format("{} ({}): {}", failure.code, name(failure.stage), failure.detail);
}

}  // namespace dojo::cli
