// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/search.h"

#include <algorithm>

namespace dojo::search {

std::string_view name(End end) {
  switch (end) {
    case End::trials:
      return "trial budget spent";
    case End::seconds:
      return "time budget spent";
    case End::exhausted:
      return "nothing left to try";
    case End::stopped:
      return "stopped";
  }
  return "";
}

Search::Search(Problem problem, Strategy& strategy, Evaluator& evaluator, Clock& clock)
    : problem_(std::move(problem)), strategy_(strategy), evaluator_(evaluator), clock_(clock) {}

Progress Search::progress() const {
  Progress progress;
  progress.trials = reported_;
  progress.measured = measured_;
  progress.seconds = clock_.now() - started_;
  const std::vector<Tried>& all = history_.all();
  if (!all.empty() && all[0].outcome && all[0].outcome->ok()) {
    progress.baseline = all[0].outcome->measurement().cycles;
  }
  if (history_.best() >= 0) {
    progress.best = all[static_cast<std::size_t>(history_.best())].outcome->measurement().cycles;
  }
  return progress;
}

std::optional<Candidate> Search::propose() {
  if (history_.size() == 0) return candidate(problem_.plain, {});
  if (history_.size() == 1) {
    Candidate start = candidate(problem_.start, problem_.startTrace);
    if (!history_.knows(start.text)) return start;
  }
  return strategy_.propose(history_);
}

Result<End> Search::run(const Budget& budget, const std::vector<Recorded>& recorded,
                        const Hooks& hooks) {
  started_ = clock_.now();
  const auto known = static_cast<std::int64_t>(recorded.size());
  // The order of proposals and reports is a function of the strategy alone, so that a search that
  // was resumed takes the same path; how many of the candidates really are with the evaluator at a
  // time follows from it.
  const std::int64_t ahead = std::max(1, strategy_.lookahead());
  End end = End::trials;
  bool proposing = true;
  while (true) {
    while (proposing && history_.size() - reported_ < ahead) {
      if (history_.size() >= budget.trials) {
        proposing = false;
        break;
      }
      if (clock_.now() - started_ >= budget.seconds &&
          history_.size() >= std::max<std::int64_t>(known, 1)) {
        end = End::seconds;
        proposing = false;
        break;
      }
      std::optional<Candidate> next = propose();
      if (!next) {
        // What is in flight may give it new ideas.
        if (reported_ == history_.size()) {
          end = End::exhausted;
          proposing = false;
        }
        break;
      }
      const std::int64_t index = history_.size();
      if (index < known) {
        if (recorded[static_cast<std::size_t>(index)].text != next->text) {
          return Error{"search.recorded",
                       "trial " + std::to_string(index) +
                           " in the log isn't the one that this search makes; use another seed or "
                           "log to start afresh",
                       "", ""};
        }
      } else {
        evaluator_.submit(*next);
      }
      history_.add(std::move(*next));
    }
    if (reported_ == history_.size()) {
      if (proposing) continue;
      return end;
    }
    const std::int64_t index = reported_;
    if (index < known) {
      history_.report(index, recorded[static_cast<std::size_t>(index)].outcome);
    } else {
      std::optional<Outcome> outcome = evaluator_.next();
      if (!outcome) return End::stopped;
      if (hooks.onOutcome) {
        Status status = hooks.onOutcome(
            index, history_.all()[static_cast<std::size_t>(index)].candidate, *outcome);
        if (!status.ok()) return status.error();
      }
      history_.report(index, std::move(*outcome));
      ++measured_;
    }
    ++reported_;
    strategy_.report(history_, index);
    if (index >= known && hooks.onProgress) hooks.onProgress(progress());
  }
}

}  // namespace dojo::search
