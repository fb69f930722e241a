// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Outcomes that the log has, by program: what training and searches share, so that no program is
/// measured twice.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "log/log.h"
#include "search/evaluator.h"

namespace dojo::tune {

class SharedTable {
 public:
  /// What the log has of a kernel's shape and dtype on a target as `settings` have it, whoever
  /// measured it; of several outcomes of a program the first. What says nothing of the program (a
  /// link that was lost, a measurement that was cut short) is left out.
  [[nodiscard]] static Result<SharedTable> of(const log::Log& log,
                                              const log::RunSettings& settings);

  [[nodiscard]] const Outcome* find(const std::string& text) const;
  /// What is there stays.
  void add(const std::string& text, const Outcome& outcome);
  [[nodiscard]] std::size_t size() const { return outcomes_.size(); }

 private:
  std::unordered_map<std::string, Outcome> outcomes_;
};

/// Measures what the table hasn't, and enters it there.
class TableEvaluator final : public search::Evaluator {
 public:
  /// Both outlive this.
  TableEvaluator(search::Evaluator& inner, SharedTable& table) : inner_(inner), table_(table) {}

  [[nodiscard]] int depth() const override { return inner_.depth(); }
  void submit(const search::Candidate& candidate) override;
  std::optional<Outcome> next() override;
  /// Whether the outcome that next() gave last was measured for it.
  [[nodiscard]] bool measured() const { return measured_; }
  [[nodiscard]] std::int64_t found() const { return found_; }  ///< That weren't measured.

 private:
  struct Flying {
    std::string text;
    std::optional<Outcome> known;
  };
  search::Evaluator& inner_;
  SharedTable& table_;
  std::deque<Flying> flying_;
  bool measured_ = false;
  std::int64_t found_ = 0;
};

}  // namespace dojo::tune
