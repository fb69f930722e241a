// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log/log.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/rows.h"
#include "cli/table.h"

namespace dojo::cli {
namespace {

struct Options {
  std::string file = log::defaultPath();
  log::Filter filter;
  std::string row;
  std::string kind;
  bool json = false;
  std::string format = "jsonl";
  std::string output;
  std::vector<std::string> others;
};

log::Filter filterOf(const Options& options) {
  log::Filter filter = options.filter;
  for (const log::Kind kind : {log::Kind::search, log::Kind::final, log::Kind::single}) {
    if (options.kind == log::name(kind)) filter.kind = kind;
  }
  return filter;
}

/// An answer without rows is an answer, but a person may have misspelt something.
void noteIfNone(std::int64_t rows, const std::string& file) {
  if (rows == 0) std::fprintf(stderr, "dojo: %s: no row is like that\n", file.c_str());
}

std::string first(const std::string& id) { return id.substr(0, 8); }

int list(const Options& options) {
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error(), options.json);
  Table table({">ROW", "UUID", "KERNEL", "SHAPE", "DTYPE", "TARGET", "STRATEGY", "KIND", ">TRIAL",
               ">CYCLES", ">SPREAD", "OUTCOME"});
  std::int64_t rows = 0;
  Status status = log->forEach(filterOf(options), [&](const log::Record& record) {
    ++rows;
    if (options.json) {
      std::printf("%s\n", log::toJson(record).c_str());
      return;
    }
    const log::Trial& t = record.trial;
    const log::RunSettings& s = record.settings;
    std::string cycles, spread, outcome;
    if (t.outcome.ok()) {
      const Measurement& m = t.outcome.measurement();
      cycles = (m.censored ? ">" : "") + showNumber(m.cycles);
      spread = fmt::format("{:.1f}%", m.spread * 100);
      outcome = m.censored ? "cut" : "ok";
    } else {
      outcome = t.outcome.failure().code;
    }
    table.add({std::to_string(t.row), first(t.id), s.kernel, s.shape, s.dtype, s.target, s.strategy,
               std::string(log::name(t.kind)), std::to_string(t.index), cycles, spread, outcome});
  });
  if (!status.ok()) return fail(status.error(), options.json);
  if (!options.json && rows > 0) std::fputs(table.text().c_str(), stdout);
  noteIfNone(rows, options.file);
  return kDone;
}

int runs(const Options& options) {
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error(), options.json);
  Result<std::vector<log::Run>> all = log->runs();
  if (!all.ok()) return fail(all.error(), options.json);
  Table table({"RUN", "STARTED", "KERNEL", "SHAPE", "DTYPE", "TARGET", "STRATEGY", ">SEED",
               ">BUDGET", ">TRIALS", "ENDED"});
  for (const log::Run& run : *all) {
    const log::RunSettings& s = run.settings;
    log::Filter filter;
    filter.run = run.id;
    std::int64_t trials = 0;
    Status status = log->forEach(filter, [&](const log::Record&) { ++trials; });
    if (!status.ok()) return fail(status.error(), options.json);
    if (options.json) {
      Json json;
      json["run"] = run.id;
      json["started"] = run.started;
      json["ended"] = run.ended;
      json["kernel"] = s.kernel;
      json["shape"] = s.shape;
      json["dtype"] = s.dtype;
      json["target"] = s.target;
      json["strategy"] = s.strategy;
      json["seed"] = s.seed;
      json["budget"] = s.trials;
      json["trials"] = trials;
      json["tool"] = s.tool;
      std::printf("%s\n", dump(json).c_str());
    } else {
      table.add({first(run.id), run.started, s.kernel, s.shape, s.dtype, s.target, s.strategy,
                 std::to_string(s.seed), std::to_string(s.trials), std::to_string(trials),
                 run.ended.empty() ? "no" : run.ended});
    }
  }
  if (!options.json) std::fputs(table.text().c_str(), stdout);
  return kDone;
}

int show(const Options& options) {
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error(), options.json);
  Result<log::Record> found = findRow(*log, options.row);
  if (!found.ok()) return fail(found.error(), options.json);
  const std::string line = log::toJson(*found);
  if (options.json) {
    std::printf("%s\n", line.c_str());
    return kDone;
  }
  // The fields of the record one below the other, texts of several lines at the end.
  std::string texts;
  const Json fields = Json::parse(line);
  for (const auto& [key, value] : fields.items()) {
    if (value.is_null()) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : dump(value);
    if (value.is_string() && text.find('\n') != std::string::npos) {
      texts += "\n" + key + ":\n" + text;
    } else if (!(value.is_array() && value.empty())) {
      std::printf("%-19s %s\n", key.c_str(), text.c_str());
    }
  }
  std::fputs(texts.c_str(), stdout);
  return kDone;
}

int exportRows(const Options& options) {
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error());
  const bool csv = options.format == "csv";
  std::int64_t rows = 0;
  auto writeTo = [&](std::FILE* out) {
    if (csv) std::fprintf(out, "%s\n", log::csvHeader().c_str());
    return log->forEach(filterOf(options), [&](const log::Record& record) {
      ++rows;
      std::fprintf(out, "%s\n", (csv ? log::toCsv(record) : log::toJson(record)).c_str());
    });
  };
  std::error_code ignored;
  if (std::filesystem::equivalent(options.output, options.file, ignored)) {
    return fail({"cli.usage", "the export would overwrite the log", options.output, ""});
  }
  Status status = options.output.empty() ? writeTo(stdout) : writeFile(options.output, writeTo);
  if (!status.ok()) return fail(status.error());
  noteIfNone(rows, options.file);
  return kDone;
}

int merge(const Options& options) {
  // None is begun where one of them isn't a log.
  for (const std::string& other : options.others) {
    if (Result<log::Log> log = log::Log::open(other, log::Log::Mode::read); !log.ok()) {
      return fail(log.error());
    }
  }
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::write);
  if (!log.ok()) return fail(log.error());
  for (const std::string& other : options.others) {
    Result<log::Log::Merged> merged = log->merge(other);
    if (!merged.ok()) return fail(merged.error());
    std::printf("%s: %lld rows added, %lld were there already\n", other.c_str(),
                static_cast<long long>(merged->added), static_cast<long long>(merged->present));
  }
  return kDone;
}

int verify(const Options& options) {
  Result<log::Log> log = log::Log::open(options.file, log::Log::Mode::read);
  if (!log.ok()) return fail(log.error());
  if (Status s = log->verify(); !s.ok()) return fail(s.error());
  std::printf("%s: every row reads back\n", options.file.c_str());
  return kDone;
}

void addFilters(CLI::App& command, Options& options) {
  command.add_option("--kernel", options.filter.kernel, "Only this kernel");
  command.add_option("--shape", options.filter.shape, "Only this shape, written as it's listed");
  command.add_option("--dtype", options.filter.dtype, "Only this main type");
  command.add_option("--target", options.filter.target, "Only this target");
  command.add_option("--strategy", options.filter.strategy, "Only runs of this strategy");
  command.add_option("--run", options.filter.run, "Only this run");
  command.add_option("--kind", options.kind, "Only rows of this kind: search, final or single")
      ->check(CLI::IsMember({"search", "final", "single"}));
  command.add_flag("--ok", options.filter.successes, "Only what was verified and timed");
  command.add_flag("--best", options.filter.best, "The fastest first");
  command.add_option("--limit", options.filter.limit, "At most so many rows")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void addLog(CLI::App& app) {
  CLI::App* command = app.add_subcommand("log", "The tuning log: list, runs, show, export, merge");
  command->require_subcommand(1);
  command->footer("Example:\n  dojo log list --kernel softmax --best --limit 5");
  auto options = std::make_shared<Options>();
  auto sub = [&](const std::string& name, const std::string& text, const std::string& example,
                 std::function<int()> run) {
    CLI::App* out = addCommand(*command, name, text, example, std::move(run));
    addLogOption(*out, options->file);
    return out;
  };
  CLI::App* listing = sub("list", "Lists trials", "dojo log list --kernel softmax --best --limit 5",
                          [options] { return list(*options); });
  addFilters(*listing, *options);
  listing->add_flag("--json", options->json, "One JSON object a line, every field");
  CLI::App* running =
      sub("runs", "Lists runs", "dojo log runs", [options] { return runs(*options); });
  running->add_flag("--json", options->json, "One JSON object a line");
  CLI::App* showing = sub("show", "Everything that one row holds", "dojo log show 17",
                          [options] { return show(*options); });
  showing->add_option("row", options->row, "Number of the row, or beginning of its uuid")
      ->required();
  showing->add_flag("--json", options->json, "One JSON object");
  CLI::App* exporting = sub("export", "Writes rows as JSON lines or CSV",
                            "dojo log export --kernel softmax --format csv --output softmax.csv",
                            [options] { return exportRows(*options); });
  addFilters(*exporting, *options);
  exporting->add_option("--format", options->format, "jsonl or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  exporting->add_option("--output", options->output, "A file instead of standard output");
  CLI::App* merging =
      sub("merge", "Adds the rows of other logs to this one",
          "dojo log merge board.sqlite --log all.sqlite", [options] { return merge(*options); });
  merging->add_option("others", options->others, "Logs to take rows from")->required();
  sub("verify", "Checks that the file is sound and every row reads back",
      "dojo log verify --log all.sqlite", [options] { return verify(*options); });
}

}  // namespace dojo::cli
