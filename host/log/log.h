// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The tuning log: every trial that was ever made, one committed row each, in an SQLite file.
///
/// Guarantees: a record that append() returned survives kill -9 at any later moment; several
/// processes may use one file at once; a question about one target never returns records of
/// another; rows keep their uuid through merges, so merging twice adds nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "base/result.h"

namespace dojo::log {

class Database;

/// What exactly was measured on: figures of two fingerprints are never compared or mixed.
struct Fingerprint {
  std::string description;  ///< Hash of the target description.
  std::string isa;          ///< As probed by the runner.
  std::string clock;        ///< Counter and its frequency.
  std::string runner;       ///< Protocol and version.
  bool operator==(const Fingerprint&) const = default;
};

/// Identifies a run: started again with the same settings, it continues.
struct RunSettings {
  std::string kernel;
  std::string source;  ///< Text of the start program, parameters bound.
  std::string shape;   ///< "M=512,N=512,K=512"
  std::string dtype;
  std::string target;
  Fingerprint fingerprint;
  std::string strategy;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;  ///< The budget.
  std::string cache = "warm";
  std::string tool;  ///< Version of this program.
  bool operator==(const RunSettings&) const = default;
};

struct Run {
  std::string id;
  RunSettings settings;
  std::string started;  ///< UTC, ISO 8601.
  std::string ended;    ///< Empty until the run ended by itself.
};

/// What a row is about. `search`: trial `index` of a strategy. `final`: the last measurement of
/// one of the best. `single`: `dojo run`, `dojo replay` and play.
enum class Kind : std::uint8_t { search, final, single };
[[nodiscard]] std::string_view name(Kind kind);

struct Trial {
  std::int64_t row = 0;  ///< In this file; 0 before append().
  std::string id;        ///< uuid, the same in every file; made by append().
  std::string run;       ///< Run::id
  Kind kind = Kind::search;
  std::int64_t index = 0;
  std::string program;  ///< Canonical text.
  std::string trace;    ///< Leads from RunSettings::source to `program`.
  Outcome outcome;
  double wallSeconds = 0;  ///< From proposal to outcome, waiting included.
  std::string time;        ///< UTC, ISO 8601; made by append().
};

/// Which rows; empty fields don't restrict.
struct Filter {
  std::string kernel, shape, dtype, target, strategy, run;
  std::optional<Fingerprint> fingerprint;
  std::optional<Kind> kind;
  std::optional<std::int64_t> row;
  std::string id;  ///< uuid or its beginning.
  bool successes = false;
  bool best = false;       ///< Ordered by score instead of row.
  std::int64_t limit = 0;  ///< 0: all.
};

struct Record {
  Trial trial;
  RunSettings settings;
};

class Log {
 public:
  enum class Mode : std::uint8_t { read, write };
  /// `write` creates the file where it's missing; `read` wants an existing one. Errors:
  /// "log.missing", "log.unwritable", "log.full", "log.not-a-log", "log.version", "log.busy",
  /// "log.damaged".
  static Result<Log> open(const std::string& path, Mode mode);
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  /// The run with these settings: the one in the file, or a new one.
  [[nodiscard]] Result<Run> resume(const RunSettings& settings);
  /// A run that is never resumed.
  [[nodiscard]] Result<Run> start(const RunSettings& settings);
  [[nodiscard]] Status end(const Run& run);
  /// What a run keeps under a name: the first list that was given for it, now or earlier. A run
  /// that is resumed finds the decisions here that it began with.
  [[nodiscard]] Result<std::vector<std::string>> keep(const Run& run, const std::string& name,
                                                      const std::vector<std::string>& texts);
  /// The same; nullopt where nothing was kept.
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> kept(const Run& run,
                                                                     const std::string& name) const;

  /// Commits the trial, and returns the row as it stands in the file: where (run, kind, index) is
  /// taken already (by another tuner with the same settings) that one wins.
  [[nodiscard]] Result<Trial> append(const Trial& trial);
  /// The same for several that belong together: all are committed, or none.
  [[nodiscard]] Result<std::vector<Trial>> append(const std::vector<Trial>& trials);

  /// The trials of a run and kind by index.
  [[nodiscard]] Result<std::vector<Trial>> trials(const std::string& run, Kind kind) const;
  [[nodiscard]] Result<std::vector<Record>> query(const Filter& filter) const;
  /// Calls `fn` for each, without holding them all.
  [[nodiscard]] Status forEach(const Filter& filter,
                               const std::function<void(const Record&)>& fn) const;
  [[nodiscard]] Result<std::vector<Run>> runs() const;

  struct Merged {
    std::int64_t added = 0;
    std::int64_t present = 0;  ///< Already here.
  };
  /// Adds the rows of another log that this one lacks, all or none.
  [[nodiscard]] Result<Merged> merge(const std::string& otherPath);
  /// Checks the file, and that every row reads back whole and belongs to a run.
  [[nodiscard]] Status verify() const;

 private:
  explicit Log(std::unique_ptr<Database> db);
  [[nodiscard]] Result<Run> insertRun(const RunSettings& settings, const std::string& key);
  std::unique_ptr<Database> db_;
};

/// One line of JSON, every field of the record.
[[nodiscard]] std::string toJson(const Record& record);
/// The columns of toCsv, as a header line.
[[nodiscard]] std::string csvHeader();
/// One line (RFC 4180); texts of several lines are quoted.
[[nodiscard]] std::string toCsv(const Record& record);

/// The log's file when none is given: $DOJO_LOG, else "dojo.sqlite".
[[nodiscard]] std::string defaultPath();

}  // namespace dojo::log
