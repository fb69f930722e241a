// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/environment.h"

#include "ir/print.h"

namespace dojo::search {

Environment::Environment(ir::Program start, const target::Target& target, Evaluator* evaluator)
    : start_(std::make_shared<const moves::State>(std::move(start), target)),
      state_(start_),
      evaluator_(evaluator) {}

std::string Environment::state() const { return ir::print(program()); }

moves::Trace Environment::trace() const {
  moves::Trace out;
  for (const Step& step : done_) out.insert(out.end(), step.moves.begin(), step.moves.end());
  return out;
}

std::vector<moves::Move> Environment::moves() const { return moves::applicable(*state_); }

std::vector<moves::Move> Environment::movesAt(const ir::Path& place) const {
  return moves::applicableAt(*state_, place);
}

Status Environment::step(std::string_view call) {
  Result<moves::Move> move = moves::parseMove(call);
  if (!move.ok()) return move.error();
  return step(*move);
}

Status Environment::step(const moves::Move& call) {
  Result<Expansion> made = expand(state_, call);
  if (!made.ok()) return made.error();
  done_.push_back({state_, made->trace, made->state});
  state_ = made->state;
  undone_.clear();
  return {};
}

Status Environment::steps(const moves::Trace& trace) {
  if (trace.empty()) return {};
  StatePtr at = state_;
  moves::Trace atoms;
  for (std::size_t k = 0; k < trace.size(); ++k) {
    Result<Expansion> made = expand(at, trace[k]);
    if (!made.ok()) {
      Error error = made.error();
      error.where = "move " + std::to_string(k + 1) + " (" + moves::toString(trace[k]) + ")";
      return error;
    }
    at = made->state;
    atoms.insert(atoms.end(), made->trace.begin(), made->trace.end());
  }
  done_.push_back({state_, std::move(atoms), at});
  state_ = at;
  undone_.clear();
  return {};
}

Status Environment::undo() {
  if (done_.empty()) return Error{"environment.start", "there is nothing to undo", "", ""};
  undone_.push_back(std::move(done_.back()));
  done_.pop_back();
  state_ = undone_.back().before;
  return {};
}

Status Environment::redo() {
  if (undone_.empty()) return Error{"environment.end", "nothing was undone", "", ""};
  done_.push_back(std::move(undone_.back()));
  undone_.pop_back();
  state_ = done_.back().after;
  return {};
}

void Environment::restart() {
  done_.clear();
  undone_.clear();
  state_ = start_;
}

Result<Outcome> Environment::outcomeOf(const StatePtr& state, moves::Trace trace) {
  Candidate asked = candidate(state->program(), std::move(trace));
  if (std::optional<std::int64_t> known = history_.find(asked.text)) {
    return *history_.all()[static_cast<std::size_t>(*known)].outcome;
  }
  evaluator_->submit(asked);
  std::optional<Outcome> outcome = evaluator_->next();
  if (!outcome) return Error{"environment.stopped", "measuring was stopped", "", ""};
  history_.report(history_.add(std::move(asked)), *outcome);
  return *outcome;
}

Result<Reward> Environment::measure() {
  if (evaluator_ == nullptr) {
    return Error{"environment.no-device", "there is no device to measure on", "", ""};
  }
  Result<Outcome> baseline = outcomeOf(start_, {});
  if (!baseline.ok()) return baseline.error();
  Result<Outcome> outcome = outcomeOf(state_, trace());
  if (!outcome.ok()) return outcome.error();
  Reward out;
  out.outcome = *outcome;
  if (baseline->ok()) out.baselineCycles = baseline->measurement().cycles;
  if (outcome->ok() && outcome->measurement().cycles > 0) {
    out.reward = out.baselineCycles / outcome->measurement().cycles;
  }
  return out;
}

}  // namespace dojo::search
