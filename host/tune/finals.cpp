// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/finals.h"

#include <algorithm>
#include <limits>
#include <set>

#include "ir/print.h"
#include "tune/bench.h"

namespace dojo::tune {
namespace {

/// Seeds of the inputs for that are this far from those of the search.
constexpr std::uint64_t kFinalSeed = 0x5eed;

/// No interleaved pairs are needed to tell these apart.
bool clearlySlower(const Final& a, const Final& leader) {
  return a.trial.outcome.measurement().cycles > 1.5 * leader.trial.outcome.measurement().cycles;
}

}  // namespace

double wallOf(const TimeSplit& time) {
  return time.compile + time.transfer + time.verify + time.run + time.queue;
}

Result<std::vector<Final>> measureFinals(const Request& request, const target::Target& target,
                                         transport::Device& device,
                                         const std::vector<search::Candidate>& finalists) {
  BenchOptions options;
  options.harts = target.harts;
  options.seed = request.seed + kFinalSeed;
  options.coldCache = request.coldCache;
  options.referenceFolder = request.referenceFolder;
  options.raceFactor = std::numeric_limits<double>::infinity();
  options.interrupted = request.interrupted;
  Result<std::unique_ptr<Bench>> bench = Bench::open(request.plain, target, device, options);
  if (!bench.ok()) return bench.error();
  for (const search::Candidate& candidate : finalists) (*bench)->submit(candidate);
  std::vector<Final> all;
  std::vector<ir::Program> programs;
  const std::string plain = ir::print(request.plain);
  for (const search::Candidate& candidate : finalists) {
    std::optional<Outcome> outcome = (*bench)->next();
    if (!outcome) return std::vector<Final>{};
    Final one;
    one.plain = candidate.text == plain;
    one.trial.kind = log::Kind::final;
    one.trial.program = candidate.text;
    one.trial.trace = moves::toString(candidate.trace);
    one.trial.wallSeconds = wallOf(outcome->time);
    one.trial.outcome = std::move(*outcome);
    all.push_back(std::move(one));
    programs.push_back(candidate.program);
  }
  // Whoever beats the leader beyond the spread leads; the first in line is the search's best.
  std::size_t leader = all.size();
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!all[k].trial.outcome.ok()) continue;
    if (leader == all.size()) {
      leader = k;
      continue;
    }
    if (request.interrupted != nullptr && request.interrupted->load()) {
      return std::vector<Final>{};
    }
    if (clearlySlower(all[k], all[leader])) continue;
    Result<measure::Pairing> pair = (*bench)->compare(programs[leader], programs[k]);
    if (!pair.ok()) return pair.error();
    all[k].tie = pair->tie;
    if (!pair->tie && pair->ratio < 1) {
      all[leader].tie = false;
      leader = k;
    }
  }
  if (leader == all.size()) return all;
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(leader),
              all.begin() + static_cast<std::ptrdiff_t>(leader) + 1);
  return all;
}

std::vector<Final> recordedFinals(const std::vector<log::Trial>& rows,
                                  const std::vector<search::Candidate>& finalists,
                                  const std::string& plain) {
  if (rows.size() < finalists.size()) return {};
  std::set<std::string> wanted, there;
  for (const search::Candidate& candidate : finalists) wanted.insert(candidate.text);
  const auto first = rows.end() - static_cast<std::ptrdiff_t>(finalists.size());
  for (auto row = first; row != rows.end(); ++row) there.insert(row->program);
  if (wanted != there) return {};
  std::vector<Final> out;
  for (auto row = first; row != rows.end(); ++row) {
    // The detail of a tie isn't part of a row: spreads that meet tell it.
    Final one{*row, row->program == plain, false};
    if (!out.empty() && row->outcome.ok() && out[0].trial.outcome.ok()) {
      const Measurement& a = out[0].trial.outcome.measurement();
      const Measurement& b = row->outcome.measurement();
      one.tie = std::abs(a.cycles - b.cycles) <= a.spread * a.cycles + b.spread * b.cycles;
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace dojo::tune
