// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/shared_table.h"

#include <utility>

namespace dojo::tune {
namespace {

/// True where the outcome says something of the program.
bool telling(const Outcome& outcome) {
  if (outcome.ok()) return !outcome.measurement().censored;
  return !outcome.failure().code.starts_with("link.");
}

}  // namespace

Result<SharedTable> SharedTable::of(const log::Log& log, const log::RunSettings& settings) {
  SharedTable out;
  log::Filter filter;
  filter.kernel = settings.kernel;
  filter.shape = settings.shape;
  filter.dtype = settings.dtype;
  filter.target = settings.target;
  filter.fingerprint = settings.fingerprint;
  filter.kind = log::Kind::search;
  Status status = log.forEach(filter, [&](const log::Record& record) {
    if (record.settings.cache != settings.cache || record.settings.source != settings.source)
      return;
    out.add(record.trial.program, record.trial.outcome);
  });
  if (!status.ok()) return status.error();
  return out;
}

const Outcome* SharedTable::find(const std::string& text) const {
  const auto found = outcomes_.find(text);
  return found == outcomes_.end() ? nullptr : &found->second;
}

void SharedTable::add(const std::string& text, const Outcome& outcome) {
  if (telling(outcome)) outcomes_.try_emplace(text, outcome);
}

void TableEvaluator::submit(const search::Candidate& candidate) {
  Flying one{candidate.text, std::nullopt};
  if (const Outcome* known = table_.find(candidate.text)) {
    one.known = *known;
  } else {
    inner_.submit(candidate);
  }
  flying_.push_back(std::move(one));
}

std::optional<Outcome> TableEvaluator::next() {
  Flying one = std::move(flying_.front());
  flying_.pop_front();
  measured_ = !one.known;
  if (one.known) {
    ++found_;
    return std::move(one.known);
  }
  std::optional<Outcome> outcome = inner_.next();
  if (outcome) table_.add(one.text, *outcome);
  return outcome;
}

}  // namespace dojo::tune
