// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/history.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/print.h"

namespace dojo::search {

Candidate candidate(ir::Program program, moves::Trace trace) {
  std::string text = ir::print(program);
  return {std::move(program), std::move(text), std::move(trace)};
}

double scoreOf(const Outcome& outcome) {
  if (!outcome.ok() || outcome.measurement().censored) return kFailed;
  const double score = outcome.measurement().score;
  return std::isfinite(score) && score > 0 ? score : kFailed;
}

std::int64_t History::add(Candidate candidate) {
  const std::int64_t index = size();
  const bool fresh = byText_.emplace(candidate.text, index).second;
  DOJO_CHECK(fresh, "a program was proposed twice");
  tried_.push_back({std::move(candidate), std::nullopt});
  return index;
}

void History::report(std::int64_t index, Outcome outcome) {
  Tried& tried = tried_[static_cast<std::size_t>(index)];
  DOJO_CHECK(!tried.outcome, "an outcome was reported twice");
  const double score = scoreOf(outcome);
  if (!outcome.ok()) ++failures_;
  tried.outcome = std::move(outcome);
  if (score == kFailed) return;
  if (best_ < 0 || score < scoreOf(*tried_[static_cast<std::size_t>(best_)].outcome)) best_ = index;
}

std::optional<std::int64_t> History::find(const std::string& text) const {
  auto it = byText_.find(text);
  if (it == byText_.end()) return std::nullopt;
  return it->second;
}

std::optional<double> History::score(const std::string& text) const {
  std::optional<std::int64_t> index = find(text);
  if (!index) return std::nullopt;
  const std::optional<Outcome>& outcome = tried_[static_cast<std::size_t>(*index)].outcome;
  if (!outcome) return std::nullopt;
  return scoreOf(*outcome);
}

std::vector<std::int64_t> History::top(int n) const {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < size(); ++k) {
    const std::optional<Outcome>& outcome = tried_[static_cast<std::size_t>(k)].outcome;
    if (outcome && scoreOf(*outcome) != kFailed) out.push_back(k);
  }
  std::stable_sort(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) {
    return scoreOf(*tried_[static_cast<std::size_t>(a)].outcome) <
           scoreOf(*tried_[static_cast<std::size_t>(b)].outcome);
  });
  if (static_cast<int>(out.size()) > n) out.resize(static_cast<std::size_t>(n));
  return out;
}

}  // namespace dojo::search
