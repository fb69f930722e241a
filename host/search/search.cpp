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

Search::Search(Problem problem, Strategy& strategy, std::vector<Recorded> recorded, Clock& clock)
    : problem_(std::move(problem)),
      strategy_(strategy),
      clock_(clock),
      recorded_(std::make_move_iterator(recorded.begin()),
                std::make_move_iterator(recorded.end())) {}

Progress Search::progress() const {
  Progress progress;
  progress.trials = known();
  progress.measured = measured_;
  progress.seconds = seconds_ + (started_ ? clock_.now() - *started_ : 0);
  double best = kFailed;
  auto look = [&](std::int64_t index, const Outcome& outcome) {
    if (index == 0 && outcome.ok()) progress.baseline = outcome.measurement().cycles;
    const double score = scoreOf(outcome);
    if (score >= best) return;
    best = score;
    progress.best = outcome.measurement().cycles;
  };
  const std::vector<Tried>& all = history_.all();
  if (!all.empty() && all[0].outcome) look(0, *all[0].outcome);
  if (const std::int64_t index = history_.best(); index >= 0) {
    look(index, *all[static_cast<std::size_t>(index)].outcome);
  }
  for (std::size_t k = 0; k < held_.size(); ++k) {
    look(reported_ + static_cast<std::int64_t>(k), held_[k]);
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

Status Search::enter(Candidate next, Evaluator& evaluator) {
  if (recorded_.empty()) {
    evaluator.submit(next);
  } else {
    if (recorded_.front().text != next.text) {
      return Error{"search.recorded",
                   "trial " + std::to_string(history_.size()) +
                       " in the log isn't the one that this search makes; use another seed or "
                       "log to start afresh",
                   "", ""};
    }
    held_.push_back(std::move(recorded_.front().outcome));
    recorded_.pop_front();
  }
  history_.add(std::move(next));
  return {};
}

Result<bool> Search::collect(Evaluator& evaluator, const Hooks& hooks) {
  std::optional<Outcome> outcome = evaluator.next();
  if (!outcome) return false;
  if (hooks.onOutcome) {
    const auto index = static_cast<std::size_t>(known());
    Status status = hooks.onOutcome(known(), history_.all()[index].candidate, *outcome);
    if (!status.ok()) return status.error();
  }
  held_.push_back(std::move(*outcome));
  ++measured_;
  if (hooks.onProgress) hooks.onProgress(progress());
  return true;
}

void Search::report() {
  history_.report(reported_, std::move(held_.front()));
  held_.pop_front();
  strategy_.report(history_, reported_++);
}

void Search::settle() {
  while (!held_.empty()) report();
}

Result<End> Search::run(Evaluator& evaluator, const Budget& budget, const Hooks& hooks) {
  struct Watch {
    Search& search;
    explicit Watch(Search& s) : search(s) { search.started_ = search.clock_.now(); }
    ~Watch() {
      search.seconds_ += search.clock_.now() - *search.started_;
      search.started_.reset();
    }
  } watch(*this);
  // The order of proposals and reports is a function of the strategy alone, so that a search that
  // paused or was resumed takes the same path; how many of the candidates really are with the
  // evaluator at a time follows from it.
  const std::int64_t ahead = std::max(1, strategy_.lookahead());
  std::optional<End> end;
  while (!end) {
    while (!end && history_.size() - reported_ < ahead) {
      if (history_.size() >= budget.trials) {
        end = End::trials;
      } else if (recorded_.empty() && history_.size() > 0 &&
                 clock_.now() - *started_ >= budget.seconds) {
        end = End::seconds;
      } else if (std::optional<Candidate> next = propose()) {
        if (Status s = enter(std::move(*next), evaluator); !s.ok()) return s.error();
      } else {
        // What is in flight may give it new ideas.
        if (reported_ == history_.size()) end = End::exhausted;
        break;
      }
    }
    if (end) break;
    if (held_.empty()) {
      Result<bool> more = collect(evaluator, hooks);
      if (!more.ok()) return more.error();
      if (!*more) return End::stopped;
    }
    report();
  }
  while (known() < history_.size()) {
    Result<bool> more = collect(evaluator, hooks);
    if (!more.ok()) return more.error();
    if (!*more) return End::stopped;
  }
  return *end;
}

}  // namespace dojo::search
