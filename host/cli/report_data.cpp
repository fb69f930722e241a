// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/report_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "ir/check.h"
#include "ir/parse.h"
#include "tune/drift.h"
#include "tune/work.h"

namespace dojo::cli {
namespace {

/// "tsc 2.1 GHz" to 2.1e9; 0 where it says no frequency.
double frequency(const std::string& clock) {
  const std::size_t unit = clock.rfind(" GHz");
  if (unit == std::string::npos || unit + 4 != clock.size()) return 0;
  const std::size_t from = clock.rfind(' ', unit - 1) + 1;
  double value = 0;
  const auto [end, failed] = std::from_chars(clock.data() + from, clock.data() + unit, value);
  const bool good = failed == std::errc() && end == clock.data() + unit && value > 0;
  return good && std::isfinite(value) ? value * 1e9 : 0;
}

/// What the source says, where it is a program.
void countWork(ReportKernel& kernel) {
  const Result<ir::Parsed> parsed = ir::parse(kernel.source);
  if (!parsed.ok() || !ir::checkStructure(parsed->program).ok()) return;
  const tune::Work work = tune::countWork(parsed->program);
  if (work.flops && *work.flops > 0) kernel.flops = work.flops;
  kernel.bytes = work.bytes;
}

class Gathering {
 public:
  void add(const log::Record& record) {
    ReportKernel& kernel = kernelOf(record.settings);
    const log::Trial& trial = record.trial;
    ++kernel.trials;
    Curve* curve = trial.kind == log::Kind::search ? &curveOf(kernel, record) : nullptr;
    if (curve != nullptr) ++curve->trials;
    if (!trial.outcome.ok()) {
      ++kernel.failures;
      ReportKernel::Failures& failures = kernel.failed[trial.outcome.failure().code];
      if (failures.count++ == 0) {
        failures.row = trial.row;
        failures.detail = trial.outcome.failure().detail;
      }
      return;
    }
    const Measurement& m = trial.outcome.measurement();
    if (m.censored || !std::isfinite(m.cycles) || m.cycles <= 0) return;
    const Figure figure{m.cycles, trial.row};
    if (curve != nullptr && (curve->steps.empty() || m.cycles < curve->steps.back().best.cycles)) {
      curve->steps.push_back({trial.index, figure});
    }
    const bool last = trial.kind == log::Kind::final;
    if (trial.program == kernel.source) consider(kernel.plain, figure, last, plainIsLast_[&kernel]);
    if (consider(kernel.best, figure, last, kernel.last)) {
      kernel.spread = m.spread;
      kernel.program = trial.program;
      kernel.trace = trial.trace;
    }
  }

  std::vector<ReportDevice> take() {
    std::vector<ReportDevice> out;
    for (auto& device : devices_) {
      for (auto& kernel : device->kernels) {
        countWork(*kernel);
        device->device.kernels.push_back(std::move(*kernel));
      }
      out.push_back(std::move(device->device));
    }
    return out;
  }

 private:
  struct Device {
    ReportDevice device;
    std::vector<std::unique_ptr<ReportKernel>> kernels;
  };

  /// Takes a better figure; what was measured last, with others in turn, goes before what wasn't.
  static bool consider(std::optional<Figure>& best, const Figure& figure, bool last,
                       bool& bestIsLast) {
    if (best && bestIsLast && !last) return false;
    if (best && bestIsLast == last && figure.cycles >= best->cycles) return false;
    best = figure;
    bestIsLast = last;
    return true;
  }

  Device& deviceOf(const log::RunSettings& s) {
    for (auto& device : devices_) {
      const ReportDevice& one = device->device;
      if (one.target == s.target && one.cache == s.cache && one.fingerprint == s.fingerprint) {
        return *device;
      }
    }
    devices_.push_back(std::make_unique<Device>());
    devices_.back()->device = {
        s.target, s.cache, s.fingerprint, frequency(s.fingerprint.clock), {}};
    return *devices_.back();
  }

  ReportKernel& kernelOf(const log::RunSettings& s) {
    Device& device = deviceOf(s);
    for (auto& kernel : device.kernels) {
      if (kernel->kernel == s.kernel && kernel->shape == s.shape && kernel->dtype == s.dtype &&
          kernel->source == s.source) {
        return *kernel;
      }
    }
    device.kernels.push_back(std::make_unique<ReportKernel>());
    ReportKernel& made = *device.kernels.back();
    made.kernel = s.kernel;
    made.shape = s.shape;
    made.dtype = s.dtype;
    made.source = s.source;
    return made;
  }

  static Curve& curveOf(ReportKernel& kernel, const log::Record& record) {
    for (Curve& curve : kernel.curves) {
      if (curve.run == record.trial.run) return curve;
    }
    kernel.curves.push_back(
        {record.trial.run, record.settings.strategy, record.settings.seed, 0, {}, {}});
    return kernel.curves.back();
  }

  std::vector<std::unique_ptr<Device>> devices_;
  std::map<const ReportKernel*, bool> plainIsLast_;
};

}  // namespace

std::optional<double> ReportKernel::flopRate() const {
  if (!best || !flops) return std::nullopt;
  return *flops / best->cycles;
}

std::optional<double> ReportKernel::byteRate() const {
  if (!best || bytes <= 0) return std::nullopt;
  return bytes / best->cycles;
}

Result<std::vector<ReportDevice>> gather(const log::Log& log) {
  Gathering gathering;
  Status status = log.forEach({}, [&](const log::Record& record) { gathering.add(record); });
  if (!status.ok()) return status.error();
  std::vector<ReportDevice> out = gathering.take();
  for (ReportDevice& device : out) {
    for (ReportKernel& kernel : device.kernels) {
      for (Curve& curve : kernel.curves) {
        log::Run run;
        run.id = curve.run;
        const Result<std::vector<tune::Drift>> drifts = tune::keptDrifts(log, run);
        if (!drifts.ok()) return drifts.error();
        for (const tune::Drift& drift : *drifts) curve.drifts.push_back(tune::describe(drift));
      }
    }
  }
  return out;
}

}  // namespace dojo::cli
