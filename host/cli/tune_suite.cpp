// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dojo tune --suite
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/tune.h"
#include "kernels/kernels.h"
#include "log/log.h"
#include "tune/suite.h"
#include "tune/work.h"

namespace dojo::cli {
namespace {

Result<std::vector<LoadedKernel>> loadAll(const TuneArgs& args, const target::Target& target) {
  std::vector<LoadedKernel> out;
  const std::vector<kernels::Case> cases =
      args.kernels.empty() ? kernels::suite() : parseCases(args.kernels);
  for (const kernels::Case& one : cases) {
    KernelArgs kernel = args.kernel;
    kernel.kernel = one.kernel;
    kernel.shape = one.shape;
    Result<LoadedKernel> loaded = loadKernel(kernel, target);
    if (!loaded.ok()) return loaded.error();
    for (const LoadedKernel& other : out) {
      if (other.describe() == loaded->describe()) {
        return Error{"cli.usage", "--kernels gives " + loaded->describe() + " twice", "", ""};
      }
    }
    out.push_back(std::move(loaded).value());
  }
  if (out.empty()) return Error{"cli.usage", "--kernels names none", "", ""};
  return out;
}

struct Report {
  const std::vector<LoadedKernel>& kernels;
  const std::vector<tune::SuiteOutcome>& outcomes;
  double hz;

  [[nodiscard]] const tune::Tuned* tuned(std::size_t k) const {
    return std::get_if<tune::Tuned>(&outcomes[k]);
  }

  void print() const {
    Table table({"KERNEL", "SHAPE", ">PLAIN", ">BEST", ">SPEED-UP", ">GFLOP/s", ">GB/s", ">TRIALS",
                 ">FAILED", ">ROW", ""});
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::string& name = kernels[k].program.name;
      const tune::Tuned* one = tuned(k);
      if (one == nullptr) {
        const Error& error = std::get<Error>(outcomes[k]);
        table.add({name, kernels[k].shape, "", "", "", "", "", "", "", "", error.code});
        continue;
      }
      const std::string trials = std::to_string(one->trials);
      const std::string failures = std::to_string(one->failures);
      if (one->best <= 0) {
        table.add({name, kernels[k].shape, "", "", "", "", "", trials, failures, "",
                   one->trials > 0 ? "nothing could be measured" : "not begun"});
        continue;
      }
      std::string flops, bytes;
      if (hz > 0) {
        const tune::Work work = tune::countWork(kernels[k].program);
        const double seconds = one->best / hz;
        if (work.flops && *work.flops > 0) flops = showNumber(*work.flops / seconds / 1e9);
        bytes = showNumber(work.bytes / seconds / 1e9);
      }
      table.add({name, kernels[k].shape, time(one->baseline), time(one->best),
                 one->baseline > 0 ? showNumber(one->speedup()) : "", flops, bytes, trials,
                 failures, std::to_string(one->winner.row),
                 one->finals.empty() ? "not measured again" : ""});
    }
    std::fputs(table.text().c_str(), stdout);
  }

  [[nodiscard]] Json json() const {
    Json out = Json::array();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      Json line;
      line["kernel"] = kernels[k].program.name;
      line["shape"] = kernels[k].shape;
      line["dtype"] = kernels[k].dtype;
      if (const tune::Tuned* one = tuned(k)) {
        add(line, *one, kernels[k].program);
      } else {
        line["error"] = toJson(std::get<Error>(outcomes[k]))["error"];
      }
      out.push_back(std::move(line));
    }
    return out;
  }

 private:
  [[nodiscard]] std::string time(double cycles) const {
    if (cycles <= 0) return "";
    return hz > 0 ? showNumber(cycles / hz * 1e6) + " us" : showNumber(cycles) + " ticks";
  }

  void add(Json& line, const tune::Tuned& one, const ir::Program& plain) const {
    line["end"] = search::name(one.end);
    line["trials"] = one.trials;
    line["failures"] = one.failures;
    line["run"] = one.run;
    if (one.best <= 0) return;
    line["plain_cycles"] = one.baseline;
    line["best_cycles"] = one.best;
    line["spread"] = one.spread;
    line["speedup"] = one.speedup();
    if (hz > 0) {
      line["plain_us"] = one.baseline / hz * 1e6;
      line["best_us"] = one.best / hz * 1e6;
      const tune::Work work = tune::countWork(plain);
      if (work.flops) line["gflops"] = *work.flops / (one.best / hz) / 1e9;
      line["gbytes_per_second"] = work.bytes / (one.best / hz) / 1e9;
    }
    line["measured_again"] = !one.finals.empty();
    line["log_row"] = one.winner.row;
  }
};

}  // namespace

std::vector<kernels::Case> parseCases(const std::string& text) {
  std::vector<kernels::Case> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos && item.find('=') != std::string::npos && !out.empty()) {
      out.back().shape += (out.back().shape.empty() ? "" : ",") + item;
    } else if (colon != std::string::npos) {
      out.push_back({item.substr(0, colon), item.substr(colon + 1)});
    } else if (!item.empty()) {
      out.push_back({item, ""});
    }
  }
  return out;
}

int tuneSuite(const TuneArgs& args) {
  auto refuse = [&](const Error& error) { return fail(error, args.json); };
  const std::atomic<bool>& stop = interrupted();
  Result<target::Target> target = loadTarget(args.kernel.target, args.measure.threads);
  if (!target.ok()) return refuse(target.error());
  const Result<std::vector<LoadedKernel>> kernels = loadAll(args, *target);
  if (!kernels.ok()) return refuse(kernels.error());
  const Result<AgentUse> agent = checkStrategy(args, kernels->front().program, *target);
  if (!agent.ok()) return refuse(agent.error());
  Result<log::Log> log = log::Log::open(args.log, log::Log::Mode::write);
  if (!log.ok()) return refuse(log.error());
  Result<std::unique_ptr<transport::Device>> device = tune::reach(*target, args.measure.runner);
  if (!device.ok()) return refuse(device.error());
  const double hz = tune::tickRate(*target, **device);

  ProgressLine line;
  const double seconds =
      args.minutes > 0 ? args.minutes * 60 : std::numeric_limits<double>::infinity();
  line.note(fmt::format("tuning {} kernels on {} by {}, seed {}, at most {} trials each, log {}",
                        kernels->size(), target->name,
                        args.strategyName() + (args.noExpert ? " without expert" : ""),
                        args.measure.seed, args.trials, args.log));
  line.note(std::isinf(seconds)
                ? "no limit of time: one kernel after the other; each tells what it will take"
                : fmt::format("this takes at most about {}: each has a first turn, then turns go "
                              "to what still improves",
                              showSeconds(seconds)));
  std::map<std::string, double> peaks;
  std::vector<tune::Request> requests;
  for (const LoadedKernel& kernel : *kernels) {
    tune::Request request = requestFor(args, kernel, *agent);
    auto [peak, fresh] = peaks.try_emplace(kernel.dtype, 0);
    if (fresh) peak->second = measuredPeak(**device, *target, kernel.dtype);
    request.peakTermsPerTick = peak->second;
    if (std::isfinite(seconds)) request.budget.seconds = seconds;
    requests.push_back(std::move(request));
  }
  auto name = [&](std::size_t which) { return (*kernels)[which].describe(); };
  auto text = [&](std::size_t which, const search::Progress& progress) {
    return name(which) + ": " + progressText(progress, args.trials, hz);
  };
  tune::SuiteHooks hooks;
  hooks.onNote = [&](std::size_t which, const std::string& note) {
    line.note(name(which) + ": " + note);
  };
  hooks.onProgress = [&](std::size_t which, const search::Progress& progress) {
    if (line.due()) line.update(text(which, progress));
  };
  hooks.onTurn = [&](std::size_t which, const search::Progress& progress, double left) {
    line.note(text(which, progress) +
              (std::isinf(left) ? "" : fmt::format("; {:.0f} s left for searching", left)));
  };
  const std::vector<tune::SuiteOutcome> outcomes =
      tune::tuneSuite(requests, seconds, *target, **device, *log, hooks);
  line.finish();

  const Report report{*kernels, outcomes, hz};
  bool good = true, busy = false;
  int waiting = 0;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const tune::Tuned* one = report.tuned(k);
    const bool begun = one == nullptr || one->trials > 0;
    waiting += begun ? 0 : 1;
    good = good && (!begun || (one != nullptr && one->best > 0));
    busy = busy || (one != nullptr && one->deviceBusy);
    if (one == nullptr) {
      std::fprintf(stderr, "dojo: %s: %s\n", name(k).c_str(),
                   std::get<Error>(outcomes[k]).text().c_str());
    }
  }
  if (args.json) {
    Json json;
    json["target"] = target->name;
    json["strategy"] = args.strategyName();
    json["seed"] = args.measure.seed;
    json["log"] = args.log;
    json["stopped"] = stop.load();
    json["kernels"] = report.json();
    std::printf("%s\n", dump(json).c_str());
  } else {
    report.print();
    std::printf("again: dojo replay ROW --log %s\n", args.log.c_str());
  }
  if (stop) {
    std::fprintf(stderr, "dojo: stopped; the same command goes on from here\n");
  } else if (waiting > 0) {
    std::fprintf(stderr, "dojo: there was no time for %d of them; the same command begins there\n",
                 waiting);
  }
  const int code = good && !stop ? kDone : kFailed;
  if (busy) leaveBusyDevice(code);
  return code;
}

}  // namespace dojo::cli
