// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables and the JSON of a contest.
#include <algorithm>

#include <fmt/format.h>

#include "performance/agents/contest.h"

namespace dojo::contest {
namespace {

using Json = nlohmann::ordered_json;

Json orNull(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json fieldsJson(const std::vector<Field>& fields) {
  Json out = Json::array();
  for (const auto& [kernel, target] : fields) out.push_back(kernel + " on " + target);
  return out;
}

Json summaryOf(const Table& table) {
  Json out;
  out["vs_annealing"] = orNull(table.advantage(kSubject, "annealing"));
  out["vs_random"] = orNull(table.advantage(kSubject, "random"));
  // Without a contest with random there is nothing to list.
  out["kernels_below_random"] = table.advantage(kSubject, "random")
                                    ? fieldsJson(table.below(kSubject, "random"))
                                    : Json(nullptr);
  return out;
}

Json rowJson(const Row& row) {
  Json out;
  out["kernel"] = row.kernel;
  out["shape"] = row.shape;
  out["dtype"] = row.dtype;
  out["target"] = row.target;
  out["strategy"] = row.strategy;
  out["seed"] = row.seed;
  out["plain_cycles"] = row.plain;
  out["best_cycles"] = row.best > 0 ? Json(row.best) : Json(nullptr);
  out["trials"] = row.trials;
  out["failures"] = row.failures;
  out["seconds"] = orNull(row.seconds);
  std::optional<double> share;
  if (row.seconds && row.strategySeconds && *row.seconds > 0) {
    share = *row.strategySeconds / *row.seconds;
  }
  out["agent_share"] = orNull(share);
  Json at = Json::object();
  for (const std::int64_t count : milestones(row.trials)) {
    const double best = row.after(count);
    at[std::to_string(count)] = best > 0 ? Json(best) : Json(nullptr);
  }
  out["best_after"] = at;
  return out;
}

/// "12,345" of cycles.
std::string shown(double cycles) {
  std::string digits = fmt::format("{:.0f}", cycles);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string tableText(const Table& table, const std::string& title) {
  std::string out = title + "\n";
  std::size_t name = 8;
  for (const auto& [kernel, target] : table.fields()) {
    name = std::max(name, kernel.size() + target.size() + 4);
  }
  const auto widthOf = [](const std::string& strategy) {
    return std::max<std::size_t>(18, strategy.size() + 2);
  };
  out += fmt::format("  {:<{}}", "", name);
  for (const std::string& strategy : table.strategies()) {
    out += fmt::format("{:>{}}", strategy, widthOf(strategy));
  }
  out += "\n";
  for (const Field& field : table.fields()) {
    out += fmt::format("  {:<{}}", field.first + " on " + field.second, name);
    for (const std::string& strategy : table.strategies()) {
      const Cell* cell = table.cell(field, strategy);
      const std::string text = cell == nullptr ? "-"
                                               : fmt::format("{} {:>4.0f}%", shown(cell->median),
                                                             cell->spread / cell->median * 100);
      out += fmt::format("{:>{}}", text, widthOf(strategy));
    }
    if (const double seconds = table.seconds(field); seconds > 0) {
      out += fmt::format("  at {:.1f} s", seconds);
    }
    out += "\n";
  }
  if (std::find(table.strategies().begin(), table.strategies().end(), "random") !=
      table.strategies().end()) {
    out += fmt::format("  {:<{}}", "as random", name);
    for (const std::string& strategy : table.strategies()) {
      const auto times = table.advantage(strategy, "random");
      out += fmt::format("{:>{}}", times ? fmt::format("{:.3f} times", *times) : "-",
                         widthOf(strategy));
    }
    out += "\n";
  }
  return out;
}

std::string sharesText(const std::vector<Row>& rows, const Table& table) {
  std::string out = "\nThe strategy's part of the wall time, and a trial's time\n";
  for (const std::string& strategy : table.strategies()) {
    double seconds = 0, own = 0;
    std::int64_t trials = 0;
    for (const Row& row : rows) {
      if (row.strategy != strategy || !row.seconds || !row.strategySeconds) continue;
      seconds += *row.seconds;
      own += *row.strategySeconds;
      trials += row.trials;
    }
    if (trials == 0 || seconds <= 0) continue;
    out += fmt::format("  {:<24}{:>6.1f}%{:>10.1f} ms\n", strategy, own / seconds * 100,
                       seconds / static_cast<double>(trials) * 1e3);
  }
  return out;
}

std::string summaryText(const Table& table) {
  const auto& all = table.strategies();
  if (std::find(all.begin(), all.end(), kSubject) == all.end()) return "";
  std::string out = "\n";
  for (const char* other : {"annealing", "random"}) {
    if (const auto times = table.advantage(kSubject, other)) {
      out +=
          fmt::format("{}: {:.3f} times {}'s best, as a geometric mean\n", kSubject, *times, other);
    }
  }
  if (!table.advantage(kSubject, "random")) return out;
  std::string names;
  for (const auto& [kernel, target] : table.below(kSubject, "random")) {
    names += (names.empty() ? "" : ", ") + kernel + " on " + target;
  }
  out += fmt::format("below random by more than the spread: {}\n", names.empty() ? "none" : names);
  return out;
}

}  // namespace

std::vector<std::int64_t> milestones(std::int64_t trials) {
  std::vector<std::int64_t> out;
  for (const std::int64_t count : {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}) {
    if (count < trials) out.push_back(count);
  }
  if (trials > 0) out.push_back(trials);
  return out;
}

nlohmann::ordered_json toJson(const std::vector<Row>& rows) {
  const Table table(rows), timed = Table::atEqualTime(rows);
  Json out;
  out["summary"] = summaryOf(table);
  out["summary_at_equal_time"] = summaryOf(timed);
  Json medians = Json::array();
  for (const Field& field : table.fields()) {
    for (const std::string& strategy : table.strategies()) {
      const Cell* cell = table.cell(field, strategy);
      if (cell == nullptr) continue;
      Json one;
      one["kernel"] = field.first;
      one["target"] = field.second;
      one["strategy"] = strategy;
      one["seeds"] = cell->seeds;
      one["median_cycles"] = cell->median;
      one["spread_cycles"] = cell->spread;
      const Cell* early = timed.cell(field, strategy);
      one["equal_seconds"] = early == nullptr ? Json(nullptr) : Json(timed.seconds(field));
      one["median_cycles_at_equal_seconds"] =
          early == nullptr ? Json(nullptr) : Json(early->median);
      medians.push_back(one);
    }
  }
  out["medians"] = medians;
  out["rows"] = Json::array();
  for (const Row& row : rows) out["rows"].push_back(rowJson(row));
  return out;
}

nlohmann::ordered_json toJson(const std::vector<Transfer>& transfers) {
  Json out = Json::array();
  for (const Transfer& one : transfers) {
    out.push_back({{"where", one.where},
                   {"kernels", fieldsJson(one.fields)},
                   {"vs_untrained", orNull(one.advantage)}});
  }
  return out;
}

std::string toText(const std::vector<Transfer>& transfers) {
  std::string out = "\nThe trained agent's best beside the untrained one's\n";
  for (const Transfer& one : transfers) {
    out += fmt::format("  {:<42}{:>2} kernels {}\n", one.where, one.fields.size(),
                       one.advantage ? fmt::format("{:.3f} times", *one.advantage) : "-");
  }
  return out;
}

std::string toText(const std::vector<Row>& rows) {
  const Table table(rows);
  std::string out = tableText(
      table,
      "Ticks of the best, measured again on new inputs: medians of the seeds, and their spread");
  const Table timed = Table::atEqualTime(rows);
  if (!timed.fields().empty()) {
    out += "\n" + tableText(timed,
                            "The same when the fastest strategy had all its trials (as measured "
                            "in the search)");
  }
  return out + sharesText(rows, table) + summaryText(table);
}

}  // namespace dojo::contest
