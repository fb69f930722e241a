// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What came of a contest between strategies, and the figures made of that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dojo::contest {

/// One search.
struct Row {
  std::string kernel, shape, dtype, target, strategy;
  std::uint64_t seed = 1;
  double plain = 0;  ///< Cycles of the plain program, in the measurement that `best` is of.
  /// Cycles of the best, measured again on new inputs; nothing that ran: 0.
  double best = 0;
  std::int64_t trials = 0, failures = 0;
  /// The wall time of the search and the part of it that the strategy took; nullopt where the
  /// search was interrupted and went on later.
  std::optional<double> seconds, strategySeconds;
  /// Cycles of the best so far after each trial, as measured in the search; 0: none yet.
  std::vector<double> curve;
  std::vector<double> elapsed;  ///< Seconds at each trial; empty where `seconds` is unknown.

  std::string winner;        ///< Text of the best program.
  bool sharedClock = false;  ///< What is counted isn't the device's alone: a comparison needs
                             ///< measurements of one moment.

  /// The best after so many trials.
  [[nodiscard]] double after(std::int64_t count) const;
  /// The best after so many seconds; needs `elapsed`.
  [[nodiscard]] double at(double seconds) const;
};

/// Of an even number the mean of the middle two. Not of nothing.
[[nodiscard]] double median(std::vector<double> values);
/// What the middle half of the values spans, by linear interpolation; 0 of a single one.
[[nodiscard]] double spread(std::vector<double> values);

/// What a strategy did on a kernel and target, over its seeds.
struct Cell {
  double median = 0, spread = 0;  ///< Of the best cycles.
  std::size_t seeds = 0;
};
/// Kernel and target.
using Field = std::pair<std::string, std::string>;

/// By field and strategy; rows without a best don't count.
class Table {
 public:
  explicit Table(const std::vector<Row>& rows);
  /// The same by what was found within a time: the shortest of the medians of the strategies'
  /// times, in each field.
  static Table atEqualTime(const std::vector<Row>& rows);

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  [[nodiscard]] const std::vector<std::string>& strategies() const { return strategies_; }
  [[nodiscard]] const Cell* cell(const Field& field, const std::string& strategy) const;
  /// The geometric mean, over the fields that both have, of `other`'s median cycles over
  /// `strategy`'s: above 1 `strategy` is the faster one. nullopt: there is none.
  [[nodiscard]] std::optional<double> advantage(const std::string& strategy,
                                                const std::string& other) const;
  /// Where the median of `strategy` is above that of `other` by more than the larger one of their
  /// spreads.
  [[nodiscard]] std::vector<Field> below(const std::string& strategy,
                                         const std::string& other) const;
  [[nodiscard]] double seconds(const Field& field) const;  ///< Of atEqualTime(); else 0.

 private:
  Table() = default;
  void add(const Field& field, const std::string& strategy, const std::vector<double>& values);

  std::vector<Field> fields_;
  std::vector<std::string> strategies_;
  std::map<std::pair<Field, std::string>, Cell> cells_;
  std::map<Field, double> seconds_;
};

/// The strategy that a summary is about.
constexpr const char* kSubject = "perfllm";

/// What was learned, where it was used.
struct Transfer {
  std::string where;  ///< "kernels trained on, other targets"
  std::vector<Field> fields;
  std::optional<double> advantage;  ///< Of kSubject over kUnlearned there.
};
constexpr const char* kUnlearned = "perfllm, untrained";
/// The fields by whether their kernel and their target were trained on; groups without fields are
/// left out.
[[nodiscard]] std::vector<Transfer> transfersOf(const std::vector<Row>& rows,
                                                const std::vector<std::string>& kernels,
                                                const std::vector<std::string>& targets);
[[nodiscard]] nlohmann::ordered_json toJson(const std::vector<Transfer>& transfers);
[[nodiscard]] std::string toText(const std::vector<Transfer>& transfers);

/// Of trial counts, those that a row of the JSON tells the best at.
[[nodiscard]] std::vector<std::int64_t> milestones(std::int64_t trials);
[[nodiscard]] nlohmann::ordered_json toJson(const std::vector<Row>& rows);
/// Tables for people.
[[nodiscard]] std::string toText(const std::vector<Row>& rows);

}  // namespace dojo::contest
