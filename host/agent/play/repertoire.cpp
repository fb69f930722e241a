// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/repertoire.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/store/bytes.h"

namespace dojo::agent {
namespace {

constexpr std::size_t kEachGame = 2;  ///< Openings that stay of one game and target.
constexpr std::size_t kMostTexts = 1U << 20;
/// As if a kind had been seen so often with the worth of its name.
constexpr double kDoubt = 4;
/// Of what was never seen.
constexpr double kFirstWorth = 0.05;
/// One lucky step isn't worth more.
constexpr double kMostGain = 2;

std::string nameOf(const std::string& kind) { return kind.substr(0, kind.find(' ')); }

double likeness(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return -1;
  double product = 0, first = 0, second = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    product += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    first += static_cast<double>(a[k]) * static_cast<double>(a[k]);
    second += static_cast<double>(b[k]) * static_cast<double>(b[k]);
  }
  return first > 0 && second > 0 ? product / std::sqrt(first * second) : -1;
}

}  // namespace

std::string kindOf(const moves::Move& call) {
  std::string out = call.name;
  for (const moves::Arg& arg : call.args) {
    if (const auto* number = std::get_if<std::int64_t>(&arg)) out += ' ' + std::to_string(*number);
  }
  return out;
}

Repertoire::Seen Repertoire::seen(const std::string& key) const {
  const auto found = seen_.find(key);
  return found == seen_.end() ? Seen() : found->second;
}

void Repertoire::saw(const std::string& target, const std::string& kind, double gain) {
  const double counted = std::clamp(gain, 0.0, kMostGain);
  for (const std::string& key : {target + ' ' + kind, target + '/' + nameOf(kind), std::string()}) {
    Seen& one = seen_[key];
    one.count += 1;
    one.gain += counted;
  }
}

double Repertoire::worth(const std::string& target, const std::string& kind) const {
  double out = kFirstWorth;
  for (const std::string& key : {std::string(), target + '/' + nameOf(kind), target + ' ' + kind}) {
    const Seen one = seen(key);
    out = (one.gain + kDoubt * out) / (one.count + kDoubt);
  }
  return out;
}

std::vector<std::string> Repertoire::kinds(const std::string& target,
                                           const std::string& name) const {
  std::vector<std::string> out;
  const std::string prefix = target + ' ' + name;
  for (auto at = seen_.lower_bound(prefix); at != seen_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    std::string kind = at->first.substr(target.size() + 1);
    if (nameOf(kind) == name) out.push_back(std::move(kind));
  }
  return out;
}

void Repertoire::keep(Opening opening) {
  std::size_t same = 0;
  std::size_t worst = openings_.size();
  for (std::size_t k = 0; k < openings_.size(); ++k) {
    const Opening& one = openings_[k];
    if (one.target != opening.target || one.game != opening.game) continue;
    if (one.calls == opening.calls) return;
    ++same;
    if (worst == openings_.size() || one.reward < openings_[worst].reward) worst = k;
  }
  if (same < kEachGame) {
    openings_.push_back(std::move(opening));
  } else if (openings_[worst].reward < opening.reward) {
    openings_[worst] = std::move(opening);
  }
}

std::vector<const Opening*> Repertoire::openings(const std::string& target,
                                                 const std::vector<float>& plain) const {
  std::vector<std::pair<double, const Opening*>> all;
  for (const Opening& one : openings_) {
    if (one.target == target) all.emplace_back(likeness(one.plain, plain), &one);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Opening*> out;
  for (const auto& [like, one] : all) out.push_back(one);
  return out;
}

void Repertoire::save(Archive& archive) const {
  std::string out;
  putNumber(out, static_cast<std::uint32_t>(seen_.size()));
  for (const auto& [key, one] : seen_) {
    putText(out, key);
    putReal(out, one.count);
    putReal(out, one.gain);
  }
  putNumber(out, static_cast<std::uint32_t>(openings_.size()));
  for (const Opening& one : openings_) {
    putText(out, one.target);
    putText(out, one.game);
    putReal(out, one.reward);
    putNumber(out, static_cast<std::uint32_t>(one.plain.size()));
    for (const float value : one.plain) putNumber(out, std::bit_cast<std::uint32_t>(value));
    putNumber(out, static_cast<std::uint32_t>(one.calls.size()));
    for (const std::string& call : one.calls) putText(out, call);
  }
  archive.put("repertoire", std::move(out));
}

Status Repertoire::load(const Archive& archive) {
  *this = {};
  const std::string* bytes = archive.bytes("repertoire");
  if (bytes == nullptr) return {};
  const Error damaged{"agent.damaged", "the repertoire isn't complete", "", ""};
  ByteReader in(*bytes);
  const auto kinds = in.number<std::uint32_t>();
  for (std::uint32_t k = 0; k < kinds.value_or(0); ++k) {
    const auto key = in.text();
    const auto count = in.real();
    const auto gain = in.real();
    if (!key || !count || !gain || !(*count >= 0) || !(*gain >= 0)) return damaged;
    seen_[*key] = {*count, *gain};
  }
  const auto openings = in.number<std::uint32_t>();
  if (!kinds || !openings) return damaged;
  for (std::uint32_t k = 0; k < *openings; ++k) {
    Opening one;
    auto target = in.text();
    auto game = in.text();
    const auto reward = in.real();
    const auto width = in.number<std::uint32_t>();
    if (!target || !game || !reward || !width || *width > kMostTexts) return damaged;
    for (std::uint32_t i = 0; i < *width; ++i) {
      const auto bits = in.number<std::uint32_t>();
      if (!bits) return damaged;
      one.plain.push_back(std::bit_cast<float>(*bits));
    }
    const auto calls = in.number<std::uint32_t>();
    if (!calls || *calls > kMostTexts) return damaged;
    for (std::uint32_t i = 0; i < *calls; ++i) {
      auto call = in.text();
      if (!call) return damaged;
      one.calls.push_back(std::move(*call));
    }
    one.target = std::move(*target);
    one.game = std::move(*game);
    one.reward = *reward;
    openings_.push_back(std::move(one));
  }
  if (in.left() != 0) return damaged;
  return {};
}

}  // namespace dojo::agent
