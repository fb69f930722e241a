// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log/record.h"

#include <charconv>

#include <nlohmann/json.hpp>

namespace dojo::log {

const std::string_view kTrialFields =
    "id, run, kind, idx, program, trace, stage, code, detail, cycles, score, spread, counter, "
    "cache, censored, calls, samples, ratios, worst_error, compared, skipped, compile, transfer, "
    "verify, run_time, queue, wall, time";
const std::string_view kTrialMarks = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
const std::string_view kTrialColumns =
    "trials.row, trials.id, trials.run, trials.kind, trials.idx, trials.program, trials.trace, "
    "trials.compile, trials.transfer, trials.verify, trials.run_time, trials.queue, trials.wall, "
    "trials.time, trials.stage, trials.code, trials.detail, trials.cycles, trials.score, "
    "trials.spread, trials.counter, trials.cache, trials.censored, trials.calls, trials.samples, "
    "trials.ratios, trials.worst_error, trials.compared, trials.skipped";
const std::string_view kRunColumns =
    "runs.id, runs.kernel, runs.source, runs.shape, runs.dtype, runs.target, "
    "runs.fp_description, runs.fp_isa, runs.fp_clock, runs.fp_runner, runs.strategy, runs.seed, "
    "runs.trials, runs.cache, runs.tool, runs.started, runs.ended";

namespace {

constexpr Stage kStages[] = {Stage::lower, Stage::compile, Stage::load, Stage::verify,
                             Stage::run,   Stage::link,    Stage::queue};

Error damaged(const std::string& row, const std::string& what) {
  return {"log.damaged", "row " + row + " has " + what, "", ""};
}

std::string numbers(const std::vector<double>& values) { return nlohmann::json(values).dump(); }

bool readNumbers(const std::string& text, std::vector<double>& out) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return false;
  for (const nlohmann::json& value : json) {
    if (!value.is_number()) return false;
    out.push_back(value.get<double>());
  }
  return true;
}

}  // namespace

void bindTrial(Statement& insert, const Trial& trial) {
  insert.bind(trial.id).bind(trial.run).bind(name(trial.kind)).bind(trial.index);
  insert.bind(trial.program).bind(trial.trace);
  if (trial.outcome.ok()) {
    const Measurement& m = trial.outcome.measurement();
    insert.bindNull().bindNull().bindNull();
    insert.bind(m.cycles).bind(m.score).bind(m.spread).bind(m.counter).bind(m.cache);
    insert.bind(m.censored).bind(m.callsPerSample).bind(numbers(m.samples)).bind(numbers(m.ratios));
    insert.bind(m.worstError).bind(m.comparedElements).bind(m.skippedElements);
  } else {
    const Failure& failure = trial.outcome.failure();
    insert.bind(dojo::name(failure.stage)).bind(failure.code).bind(failure.detail);
    for (int k = 0; k < 12; ++k) insert.bindNull();
  }
  const TimeSplit& time = trial.outcome.time;
  insert.bind(time.compile).bind(time.transfer).bind(time.verify).bind(time.run).bind(time.queue);
  insert.bind(trial.wallSeconds).bind(trial.time);
}

Result<Trial> readTrial(Statement& select) {
  Trial trial;
  trial.row = select.integer();
  std::string row = std::to_string(trial.row);
  trial.id = select.text();
  trial.run = select.text();
  std::string kind = select.text();
  bool known = false;
  for (Kind k : {Kind::search, Kind::final, Kind::single}) {
    if (kind == name(k)) {
      trial.kind = k;
      known = true;
    }
  }
  if (!known) return damaged(row, "the unknown kind '" + kind + "'");
  trial.index = select.integer();
  trial.program = select.text();
  trial.trace = select.text();
  TimeSplit& time = trial.outcome.time;
  time.compile = select.real();
  time.transfer = select.real();
  time.verify = select.real();
  time.run = select.real();
  time.queue = select.real();
  trial.wallSeconds = select.real();
  trial.time = select.text();
  bool ok = select.null();
  std::string stage = select.text();
  Failure failure{Stage::run, select.text(), ""};
  failure.detail = select.text();
  Measurement m;
  m.cycles = select.real();
  m.score = select.real();
  m.spread = select.real();
  m.counter = select.text();
  m.cache = select.text();
  m.censored = select.integer() != 0;
  m.callsPerSample = select.integer();
  std::string samples = select.text();
  std::string ratios = select.text();
  m.worstError = select.real();
  m.comparedElements = select.integer();
  m.skippedElements = select.integer();
  if (ok) {
    if (!readNumbers(samples, m.samples) || !readNumbers(ratios, m.ratios)) {
      return damaged(row, "samples that don't read back");
    }
    trial.outcome.result = std::move(m);
    return trial;
  }
  known = false;
  for (Stage s : kStages) {
    if (stage == dojo::name(s)) {
      failure.stage = s;
      known = true;
    }
  }
  if (!known) return damaged(row, "the unknown stage '" + stage + "'");
  trial.outcome.result = std::move(failure);
  return trial;
}

Result<Run> readRun(Statement& select) {
  Run run;
  run.id = select.text();
  RunSettings& s = run.settings;
  s.kernel = select.text();
  s.source = select.text();
  s.shape = select.text();
  s.dtype = select.text();
  s.target = select.text();
  s.fingerprint.description = select.text();
  s.fingerprint.isa = select.text();
  s.fingerprint.clock = select.text();
  s.fingerprint.runner = select.text();
  s.strategy = select.text();
  std::string seed = select.text();
  auto [end, code] = std::from_chars(seed.data(), seed.data() + seed.size(), s.seed);
  if (code != std::errc() || end != seed.data() + seed.size()) {
    return Error{"log.damaged", "run " + run.id + " has the seed '" + seed + "'", "", ""};
  }
  s.trials = select.integer();
  s.cache = select.text();
  s.tool = select.text();
  run.started = select.text();
  run.ended = select.text();
  return run;
}

}  // namespace dojo::log
