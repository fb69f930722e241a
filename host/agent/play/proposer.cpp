// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/proposer.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dojo::agent {
namespace {

/// Places at which one call is made, at most.
constexpr std::size_t kMostPlaces = 6;
constexpr int kRefused = 6;           ///< Calls in a row that may be refused.
constexpr double kLeastWorth = 0.02;  ///< Nothing is left out for good.
constexpr std::size_t kKnobsDrawn = 6;
constexpr std::size_t kKnobsKnown = 4;  ///< The best of those seen so far.

/// Makes the call at its place and then wherever else it can be made.
bool addEverywhere(search::Position& at, const moves::Move& call) {
  bool any = at.add(call);
  const search::Composite* composite = search::findComposite(call.name);
  if (composite == nullptr || call.args.empty()) return any;
  std::set<std::string> tried = {moves::toString(call)};
  for (std::size_t k = 0; k < kMostPlaces; ++k) {
    bool open = false;
    for (const moves::Arg& place : composite->places(*at.state())) {
      moves::Move other = call;
      other.args[0] = place;
      if (!tried.insert(moves::toString(other)).second) continue;
      open = true;
      any = at.add(other) || any;
      break;  // Places are others now.
    }
    if (!open) break;
  }
  return any;
}

/// The same knob for all calls that were made alike.
std::optional<search::Position> turned(const search::Position& from, std::size_t index,
                                       const moves::Move& call) {
  const std::string kind = kindOf(from.steps()[index].call);
  search::Position out = from.origin();
  for (const search::Position::Step& step : from.steps()) {
    moves::Move made = step.call;
    if (kindOf(made) == kind && made.args.size() == call.args.size() && !made.args.empty()) {
      const moves::Arg place = made.args[0];
      made = call;
      made.args[0] = place;
    }
    out.add(made);
  }
  if (out.steps().empty()) return std::nullopt;
  return out;
}

}  // namespace

double Proposer::worth(const std::string& kind) const {
  return kLeastWorth + (repertoire_ == nullptr ? 0 : repertoire_->worth(target_, kind));
}

std::optional<moves::Move> Proposer::sample(const moves::State& state,
                                            search::Random& random) const {
  if (repertoire_ == nullptr) return search::sample(state, random);
  struct Open {
    const search::Composite* composite;
    std::vector<moves::Arg> places;
    double weight;
  };
  std::vector<Open> open;
  double total = 0;
  for (const search::Composite* composite : search::composites()) {
    std::vector<moves::Arg> places = composite->places(state);
    if (places.empty()) continue;
    const search::CompositeInfo& info = composite->info();
    const double weight = info.weight * worth(std::string(info.name));
    total += weight;
    open.push_back({composite, std::move(places), weight});
  }
  if (open.empty()) return std::nullopt;
  const auto pick = [&](const auto& all, double sum, const auto& weightOf) {
    double at = random.real() * sum;
    std::size_t k = 0;
    while (k + 1 < all.size() && (at -= weightOf(all[k])) >= 0) ++k;
    return k;
  };
  const Open& chosen = open[pick(open, total, [](const Open& one) { return one.weight; })];
  const search::CompositeInfo& info = chosen.composite->info();
  std::vector<std::pair<moves::Move, double>> calls;
  const auto offer = [&](moves::Move call) {
    const double weight = worth(kindOf(call));
    calls.emplace_back(std::move(call), weight);
  };
  const moves::Move bare{std::string(info.name), {random.pick(chosen.places)}};
  for (std::size_t k = 0; k < (info.knobs.empty() ? 1 : kKnobsDrawn); ++k) {
    moves::Move call = bare;
    for (const search::Knob& knob : info.knobs) call.args.emplace_back(random.pick(knob.values));
    offer(std::move(call));
  }
  if (!info.knobs.empty()) {
    std::vector<std::pair<double, std::string>> known;
    for (std::string& kind : repertoire_->kinds(target_, bare.name)) {
      known.emplace_back(-worth(kind), std::move(kind));
    }
    std::sort(known.begin(), known.end());
    if (known.size() > kKnobsKnown) known.resize(kKnobsKnown);
    for (const auto& [negative, kind] : known) {
      Result<moves::Move> call = moves::parseMove(kind);
      if (!call.ok() || call->args.size() != info.knobs.size()) continue;
      call->args.insert(call->args.begin(), bare.args[0]);
      offer(*call);
    }
  }
  double sum = 0;
  for (const auto& [call, weight] : calls) sum += weight;
  return calls[pick(calls, sum, [](const auto& one) { return one.second; })].first;
}

bool Proposer::addComposites(Draw& draw, std::size_t count, search::Random& random) const {
  const std::size_t before = draw.at.steps().size();
  for (std::size_t k = 0; k < count; ++k) {
    for (int attempt = 0; attempt < kRefused; ++attempt) {
      const std::optional<moves::Move> call = sample(*draw.at.state(), random);
      if (!call) break;
      const bool made = random.chance(0.4) ? addEverywhere(draw.at, *call) : draw.at.add(*call);
      if (!made) continue;
      draw.kinds.push_back(kindOf(*call));
      break;
    }
  }
  return draw.at.steps().size() > before;
}

bool Proposer::addMoves(Draw& draw, std::size_t count, search::Random& random) {
  const std::size_t before = draw.at.steps().size();
  for (std::size_t attempt = 0; attempt < 12 && draw.at.steps().size() < before + count;
       ++attempt) {
    const std::optional<moves::Move> move = search::randomMove(*draw.at.state(), random);
    if (move && draw.at.add(*move)) draw.kinds.push_back(kindOf(*move));
  }
  return draw.at.steps().size() > before;
}

std::optional<Draw> Proposer::draw(const search::Position& from, const search::Position& other,
                                   double late, search::Random& random) const {
  const std::vector<search::Position::Step>& steps = from.steps();
  Draw out{from, {}};
  double kind = random.real();
  // What is left of large changes at the end.
  if (late > 0.7) kind = 0.25 + 0.75 * kind;
  if (steps.empty()) kind = std::min(kind, 0.44);
  if (kind < 0.07) {
    out.at = from.origin();
    if (!addComposites(out, 2 + random.below(3), random)) return std::nullopt;
  } else if (kind < 0.40) {
    if (!addComposites(out, random.chance(0.3) ? 2 : 1, random)) return std::nullopt;
  } else if (kind < 0.47) {
    if (!addMoves(out, 1 + random.below(3), random)) return std::nullopt;
  } else if (kind < 0.80) {
    const std::size_t index = random.below(steps.size());
    std::optional<moves::Move> call = search::turnKnob(steps[index].call, random);
    if (!call) return std::nullopt;
    std::optional<search::Position> revised =
        random.chance(0.4) ? turned(from, index, *call) : from.revised(index, call);
    if (!revised) return std::nullopt;
    out.at = *std::move(revised);
    out.kinds.push_back(kindOf(*call));
  } else if (kind < 0.92 || other.steps().empty()) {
    std::optional<search::Position> revised =
        from.revised(random.below(steps.size()), std::nullopt);
    if (!revised) return std::nullopt;
    out.at = *std::move(revised);
    if (random.chance(0.5) && !addComposites(out, 1, random)) return std::nullopt;
  } else {
    const std::size_t tail = random.below(other.steps().size());
    bool any = false;
    for (std::size_t k = tail; k < other.steps().size(); ++k) {
      any = out.at.add(other.steps()[k].call) || any;
    }
    if (!any) return std::nullopt;
  }
  if (!search::worthTrying(*out.at.state())) return std::nullopt;
  return out;
}

std::optional<Draw> Proposer::fitted(const search::Position& start,
                                     const std::vector<std::string>& calls, bool everywhere,
                                     search::Random& random) const {
  Draw out{start, {}};
  for (const std::string& text : calls) {
    Result<moves::Move> call = moves::parseMove(text);
    if (!call.ok()) continue;  // Of another version.
    const search::Composite* composite = search::findComposite(call->name);
    bool made =
        everywhere && composite != nullptr ? addEverywhere(out.at, *call) : out.at.add(*call);
    for (int attempt = 0; !made && composite != nullptr && attempt < 2; ++attempt) {
      const std::vector<moves::Arg> places = composite->places(*out.at.state());
      if (places.empty() || call->args.empty()) break;
      call->args[0] = random.pick(places);
      made = out.at.add(*call);
    }
    if (made) out.kinds.push_back(kindOf(*call));
  }
  if (out.at.steps().empty() || !search::worthTrying(*out.at.state())) return std::nullopt;
  return out;
}

}  // namespace dojo::agent
