// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composite.h"

#include <algorithm>

#include "search/composites/all.h"

namespace dojo::search {

const std::vector<const Composite*>& composites() {
  static const std::vector<const Composite*> all = {
      composite::registerBlock(), composite::vectorizeLoop(), composite::fuse(),
      composite::localize(),      composite::tile(),          composite::unrollBy(),
      composite::parallelizeBy(), composite::turn(),          composite::deinterleave(),
      composite::instruct(),      composite::streamNest(),    composite::streamSum(),
      composite::streamMap(),     composite::streamPairs(),   composite::padReads(),
  };
  return all;
}

const Composite* findComposite(std::string_view name) {
  for (const Composite* composite : composites()) {
    if (composite->info().name == name) return composite;
  }
  return nullptr;
}

Result<Expansion> expand(const StatePtr& state, const moves::Move& call) {
  const Composite* composite = findComposite(call.name);
  Script script(state);
  if (composite == nullptr) {
    if (!script.apply(call.name, call.args)) return script.refusal();
    return Expansion{script.state(), script.trace()};
  }
  const CompositeInfo& info = composite->info();
  std::vector<std::int64_t> knobs;
  bool good = call.args.size() == info.knobs.size() + 1;
  good = good && std::holds_alternative<ir::Path>(call.args[0]) == (info.place == "P") &&
         !std::holds_alternative<std::int64_t>(call.args[0]);
  for (std::size_t k = 1; good && k < call.args.size(); ++k) {
    const std::int64_t* number = std::get_if<std::int64_t>(&call.args[k]);
    good = number != nullptr && *number >= 0 && *number <= ir::kMaxElements;
    if (good) knobs.push_back(*number);
  }
  if (!good) {
    std::string usage = std::string(info.name) + " " + std::string(info.place);
    for (const Knob& knob : info.knobs) usage += " " + std::string(knob.name);
    return Error{"composite.arguments", "expected '" + usage + "'", "", ""};
  }
  if (!composite->expand(script, call.args[0], knobs)) return script.refusal();
  if (script.trace().empty()) {
    return Error{"composite.pattern", std::string(info.name) + " finds nothing to do here", "", ""};
  }
  return Expansion{script.state(), script.trace()};
}

std::optional<moves::Move> sample(const moves::State& state, Random& random) {
  std::vector<std::pair<const Composite*, std::vector<moves::Arg>>> open;
  int total = 0;
  for (const Composite* composite : composites()) {
    std::vector<moves::Arg> places = composite->places(state);
    if (places.empty()) continue;
    total += composite->info().weight;
    open.emplace_back(composite, std::move(places));
  }
  if (open.empty()) return std::nullopt;
  auto at = static_cast<int>(random.below(static_cast<std::size_t>(total)));
  for (const auto& [composite, places] : open) {
    const CompositeInfo& info = composite->info();
    at -= info.weight;
    if (at >= 0) continue;
    moves::Move call{std::string(info.name), {random.pick(places)}};
    for (const Knob& knob : info.knobs) call.args.emplace_back(random.pick(knob.values));
    return call;
  }
  return std::nullopt;
}

std::optional<moves::Move> turnKnob(const moves::Move& call, Random& random) {
  const Composite* composite = findComposite(call.name);
  if (composite == nullptr) return std::nullopt;
  std::vector<std::size_t> turnable;
  const std::vector<Knob>& knobs = composite->info().knobs;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    if (knobs[k].values.size() > 1) turnable.push_back(k);
  }
  if (turnable.empty()) return std::nullopt;
  const std::size_t which = random.pick(turnable);
  const std::vector<std::int64_t>& values = knobs[which].values;
  moves::Move out = call;
  auto& value = std::get<std::int64_t>(out.args[which + 1]);
  auto at = std::find(values.begin(), values.end(), value);
  std::size_t next;
  if (at == values.end() || random.chance(0.3)) {
    next = random.below(values.size());
  } else {
    const auto here = static_cast<std::size_t>(at - values.begin());
    const bool up = here + 1 < values.size() && (here == 0 || random.chance(0.5));
    next = up ? here + 1 : here - 1;
  }
  value = values[next];
  return out;
}

}  // namespace dojo::search
