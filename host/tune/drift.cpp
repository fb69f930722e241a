// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/drift.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dojo::tune {
namespace {

bool isFull(const Outcome& outcome) {
  return outcome.ok() && !outcome.measurement().censored && outcome.measurement().score > 0;
}

/// The name under which a run keeps its drift of that number.
std::string keptName(std::size_t number) { return fmt::format("drift {}", number); }

template <class Number>
bool read(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string describe(const Drift& drift) {
  return fmt::format(
      "trials {} to {}: the reference takes {:.3g} times as long ({:.2g}% would be "
      "noise)",
      drift.from, std::max(drift.from, drift.to - 1), drift.factor, drift.spread * 100);
}

DriftWatch::DriftWatch(search::Evaluator& inner, Options options,
                       std::function<Status(const Drift&)> onDrift, Clock& clock)
    : inner_(inner), options_(std::move(options)), onDrift_(std::move(onDrift)), clock_(clock) {
  given_ = lookedAt_ = askedAt_ = options_.firstTrial;
  askedTime_ = clock_.now();
  if (!options_.reference) return;
  // A score of an earlier session is as though the pace had stayed.
  best_ = options_.referenceScore;
  score_ = options_.referenceScore * options_.pace;
}

bool DriftWatch::due() {
  if (asked_ || !options_.reference) return false;
  // Before anything is compared with what was measured in an earlier session.
  if (looks_ == 0 && given_ == options_.firstTrial && options_.firstTrial > 0) return true;
  return suspicion_ || given_ - askedAt_ >= options_.everyTrials ||
         clock_.now() - askedTime_ >= options_.everySeconds;
}

void DriftWatch::submit(const search::Candidate& candidate) {
  if (due()) {
    asked_ = true;
    askedAt_ = given_;
    askedTime_ = clock_.now();
    flying_.push_back({*options_.reference, true});
    inner_.submit(*options_.reference);
  }
  flying_.push_back({candidate, false});
  inner_.submit(candidate);
}

std::optional<Outcome> DriftWatch::next() {
  while (true) {
    std::optional<Outcome> outcome = inner_.next();
    if (!outcome) return std::nullopt;
    DOJO_CHECK(!flying_.empty(), "an outcome without a candidate");
    const Flying flown = std::move(flying_.front());
    flying_.pop_front();
    if (flown.reference) {
      looked(*outcome);
      continue;
    }
    tried(flown.candidate, *outcome);
    return outcome;
  }
}

void DriftWatch::looked(const Outcome& outcome) {
  asked_ = false;
  if (!isFull(outcome)) return;  // Cut by a race, or a fault: it says nothing of the pace.
  ++looks_;
  const Measurement& m = outcome.measurement();
  const double factor = m.score / score_;
  const double noise = std::max(options_.least, spread_ + m.spread);
  if (std::abs(std::log(factor)) <= std::log1p(noise)) {
    lookedAt_ = given_;
    suspicion_.reset();
    return;
  }
  // Something may have come in between just now: it's asked again.
  if (!suspicion_ || (*suspicion_ > 1) != (factor > 1)) {
    suspicion_ = factor;
    suspectSpread_ = noise;
    return;
  }
  Drift drift;
  drift.from = lookedAt_;
  drift.to = given_;
  drift.factor = factor > 1 ? std::min(factor, *suspicion_) : std::max(factor, *suspicion_);
  drift.spread = std::max(noise, suspectSpread_);
  suspicion_.reset();
  options_.pace *= drift.factor;
  score_ *= drift.factor;
  spread_ = m.spread;
  lookedAt_ = given_;
  if (Status told = onDrift_(drift); !told.ok() && status_.ok()) status_ = told;
}

void DriftWatch::tried(const search::Candidate& candidate, Outcome& outcome) {
  const std::int64_t index = given_++;
  if (!outcome.ok()) return;
  const double measured = outcome.measurement().score;
  outcome.measurement().score = measured / options_.pace;
  if (!isFull(outcome) || outcome.measurement().score >= best_) return;
  best_ = outcome.measurement().score;
  // One in flight is still that of before: what it says would be compared with this.
  if (asked_ || suspicion_) return;
  options_.reference = candidate;
  score_ = measured;
  spread_ = outcome.measurement().spread;
  lookedAt_ = index;
  askedAt_ = given_;
  askedTime_ = clock_.now();
}

Status keepDrift(log::Log& log, const log::Run& run, const Drift& drift) {
  const std::vector<std::string> texts = {std::to_string(drift.from), std::to_string(drift.to),
                                          fmt::format("{}", drift.factor),
                                          fmt::format("{}", drift.spread)};
  Result<std::vector<Drift>> before = keptDrifts(log, run);
  if (!before.ok()) return before.error();
  const Result<std::vector<std::string>> kept = log.keep(run, keptName(before->size()), texts);
  return kept.ok() ? Status() : kept.error();
}

Result<std::vector<Drift>> keptDrifts(const log::Log& log, const log::Run& run) {
  std::vector<Drift> out;
  while (true) {
    Result<std::optional<std::vector<std::string>>> texts = log.kept(run, keptName(out.size()));
    if (!texts.ok()) return texts.error();
    if (!texts->has_value()) return out;
    const std::vector<std::string>& parts = **texts;
    Drift drift;
    if (parts.size() != 4 || !read(parts[0], drift.from) || !read(parts[1], drift.to) ||
        !read(parts[2], drift.factor) || !read(parts[3], drift.spread) || !(drift.factor > 0)) {
      return Error{"log.damaged", "a drift that the run keeps can't be read", run.id, ""};
    }
    out.push_back(drift);
  }
}

}  // namespace dojo::tune
