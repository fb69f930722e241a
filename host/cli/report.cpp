// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/report_html.h"
#include "cli/rows.h"

namespace dojo::cli {
namespace {

struct Options {
  std::string log;
  std::string out = "report.html";
};

int run(const Options& options) {
  Result<log::Log> log = log::Log::open(options.log, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error());
  std::error_code ignored;
  if (std::filesystem::equivalent(options.out, options.log, ignored)) {
    return fail({"cli.usage", "the report would overwrite the log", options.out, ""});
  }
  const Result<std::vector<ReportDevice>> devices = gather(*log);
  if (!devices.ok()) return fail(devices.error());
  const std::string page = toHtml(*devices, options.log);
  if (Status s = writeFile(options.out, page); !s.ok()) return fail(s.error());
  std::size_t kernels = 0;
  for (const ReportDevice& device : *devices) kernels += device.kernels.size();
  std::fprintf(stderr, "%s: %zu kernel%s on %zu device%s\n", options.out.c_str(), kernels,
               kernels == 1 ? "" : "s", devices->size(), devices->size() == 1 ? "" : "s");
  return kDone;
}

}  // namespace

void addReport(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = addCommand(app, "report", "Writes what the log holds as one page of HTML",
                                 "dojo report --log all.sqlite --out report.html",
                                 [options] { return run(*options); });
  addLogOption(*command, options->log);
  command->add_option("--out", options->out, "The page's file")->capture_default_str();
}

}  // namespace dojo::cli
