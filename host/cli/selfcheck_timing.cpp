// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/selfcheck_timing.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "bringup/timing.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "tune/bench.h"

namespace dojo::cli {

int checkTimingTable(const std::string& name, const std::string& runner, const std::string& only,
                     bool json) {
  Result<target::Target> target = target::load(name);
  if (!target.ok()) return fail(target.error(), json);
  Result<std::unique_ptr<transport::Device>> device = tune::reach(*target, runner);
  if (!device.ok()) return fail(device.error(), json);
  const std::atomic<bool>& stop = interrupted();
  ProgressLine line;
  const Result<std::vector<bringup::TimingRow>> rows =
      bringup::checkTiming(*target, **device, only, [&](const bringup::TimingRow& row) {
        line.update(row.name);
        return !stop.load();
      });
  line.finish();
  if (!rows.ok()) return fail(rows.error(), json);
  const auto outside =
      std::count_if(rows->begin(), rows->end(), [](const auto& row) { return !row.within(); });
  Table table({"ROW", ">REFERENCE", ">OURS", ">DIFFERENCE", ""});
  for (const bringup::TimingRow& row : *rows) {
    if (json) {
      Json object;
      object["row"] = row.name;
      object["reference"] = row.reference;
      object["ours"] = row.ours;
      object["allowed"] = row.allowed;
      object["within"] = row.within();
      if (!row.wrong.empty()) object["wrong"] = row.wrong;
      std::printf("%s\n", dump(object).c_str());
      continue;
    }
    const std::string verdict = !row.wrong.empty() ? row.wrong
                                : row.within()     ? ""
                                                   : fmt::format("not within {:.3g}", row.allowed);
    table.add({row.name, fmt::format("{:.6g}", row.reference), fmt::format("{:.6g}", row.ours),
               row.difference() == 0 ? "" : fmt::format("{:+.3g}", row.difference()), verdict});
  }
  if (!json) {
    std::fputs(table.text().c_str(), stdout);
    std::printf("%zu rows, %lld not within what is allowed\n", rows->size(),
                static_cast<long long>(outside));
  }
  if (stop.load()) std::fprintf(stderr, "dojo: stopped after what is shown\n");
  return outside == 0 && !rows->empty() && !stop.load() ? kDone : kFailed;
}

}  // namespace dojo::cli
