// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "log/log.h"

namespace dojo::log {
namespace {

using Json = nlohmann::ordered_json;

/// Every field of a record in the order in which they are exported.
Json fields(const Record& record) {
  const Trial& t = record.trial;
  const RunSettings& s = record.settings;
  Json json;
  json["row"] = t.row;
  json["id"] = t.id;
  json["run"] = t.run;
  json["kind"] = name(t.kind);
  json["index"] = t.index;
  json["time"] = t.time;
  json["kernel"] = s.kernel;
  json["shape"] = s.shape;
  json["dtype"] = s.dtype;
  json["target"] = s.target;
  json["target_description"] = s.fingerprint.description;
  json["target_isa"] = s.fingerprint.isa;
  json["target_clock"] = s.fingerprint.clock;
  json["runner"] = s.fingerprint.runner;
  json["strategy"] = s.strategy;
  json["seed"] = s.seed;
  json["trials"] = s.trials;
  json["tool"] = s.tool;
  json["ok"] = t.outcome.ok();
  json["stage"] = nullptr;
  json["code"] = nullptr;
  json["detail"] = nullptr;
  for (const char* key : {"cycles", "score", "spread", "counter", "cache", "censored", "calls",
                          "worst_error", "compared", "skipped"}) {
    json[key] = nullptr;
  }
  if (t.outcome.ok()) {
    const Measurement& m = t.outcome.measurement();
    json["cycles"] = m.cycles;
    json["score"] = m.score;
    json["spread"] = m.spread;
    json["counter"] = m.counter;
    json["cache"] = m.cache;
    json["censored"] = m.censored;
    json["calls"] = m.callsPerSample;
    json["worst_error"] = m.worstError;
    json["compared"] = m.comparedElements;
    json["skipped"] = m.skippedElements;
  } else {
    json["stage"] = dojo::name(t.outcome.failure().stage);
    json["code"] = t.outcome.failure().code;
    json["detail"] = t.outcome.failure().detail;
    json["cache"] = s.cache;
  }
  json["compile_s"] = t.outcome.time.compile;
  json["transfer_s"] = t.outcome.time.transfer;
  json["verify_s"] = t.outcome.time.verify;
  json["run_s"] = t.outcome.time.run;
  json["queue_s"] = t.outcome.time.queue;
  json["wall_s"] = t.wallSeconds;
  json["samples"] = t.outcome.ok() ? Json(t.outcome.measurement().samples) : Json::array();
  json["ratios"] = t.outcome.ok() ? Json(t.outcome.measurement().ratios) : Json::array();
  json["trace"] = t.trace;
  json["program"] = t.program;
  json["source"] = s.source;
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string toJson(const Record& record) { return dump(fields(record)); }

std::string csvHeader() {
  std::string out;
  const Json json = fields(Record{});
  for (const auto& [key, value] : json.items()) {
    out += (out.empty() ? "" : ",") + key;
  }
  return out;
}

std::string toCsv(const Record& record) {
  std::string out;
  bool first = true;
  const Json json = fields(record);
  for (const auto& [key, value] : json.items()) {
    if (!first) out += ',';
    first = false;
    if (value.is_string()) {
      out += quoted(value.get<std::string>());
    } else if (!value.is_null()) {
      out += quoted(dump(value));
    }
  }
  return out;
}

}  // namespace dojo::log
