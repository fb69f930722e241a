// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The table of what was proposed in a search: no program is measured twice.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/evaluator.h"

namespace dojo::search {

constexpr double kFailed = std::numeric_limits<double>::infinity();

/// The score of an outcome: lower is better; of failures and of what a race cut: infinite.
[[nodiscard]] double scoreOf(const Outcome& outcome);

struct Tried {
  Candidate candidate;
  std::optional<Outcome> outcome;  ///< Once it was reported.
};

class History {
 public:
  /// Enters a candidate; its text must be new. Returns its index.
  std::int64_t add(Candidate candidate);
  void report(std::int64_t index, Outcome outcome);

  [[nodiscard]] bool knows(const std::string& text) const { return byText_.contains(text); }
  [[nodiscard]] std::optional<std::int64_t> find(const std::string& text) const;
  /// Of a reported candidate; nullopt where it's unknown or in flight.
  [[nodiscard]] std::optional<double> score(const std::string& text) const;
  [[nodiscard]] const std::vector<Tried>& all() const { return tried_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(tried_.size()); }
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// Index of the best success so far (the earliest of equals), or -1.
  [[nodiscard]] std::int64_t best() const { return best_; }
  /// Indices of the `n` best successes, best first.
  [[nodiscard]] std::vector<std::int64_t> top(int n) const;

 private:
  std::vector<Tried> tried_;
  std::unordered_map<std::string, std::int64_t> byText_;
  std::int64_t failures_ = 0;
  std::int64_t best_ = -1;
};

}  // namespace dojo::search
