// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/elsewhere.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

namespace dojo::tune {
namespace {

/// Of each run the best few are looked at; so many are taken, of the nearest shapes.
constexpr int kOfRun = 4;
constexpr std::size_t kMost = 4, kOfShape = 2;

using Sizes = std::map<std::string, std::int64_t, std::less<>>;

/// "M=16,N=32"
std::optional<Sizes> sizesOf(std::string_view shape) {
  Sizes out;
  while (!shape.empty()) {
    const std::size_t end = std::min(shape.find(','), shape.size());
    const std::string_view item = shape.substr(0, end);
    shape.remove_prefix(std::min(end + 1, shape.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view digits = item.substr(equals + 1);
    std::int64_t value = 0;
    const auto [stop, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failed != std::errc() || stop != digits.data() + digits.size() || value < 1) {
      return std::nullopt;
    }
    out.emplace(item.substr(0, equals), value);
  }
  return out;
}

}  // namespace

std::optional<double> shapeDistance(std::string_view a, std::string_view b) {
  const std::optional<Sizes> left = sizesOf(a), right = sizesOf(b);
  if (!left || !right || left->size() != right->size()) return std::nullopt;
  double out = 0;
  for (const auto& [name, size] : *left) {
    const auto other = right->find(name);
    if (other == right->end()) return std::nullopt;
    out += std::abs(std::log(static_cast<double>(size) / static_cast<double>(other->second)));
  }
  return out;
}

Result<std::vector<std::string>> schedulesElsewhere(const log::Log& log,
                                                    const log::RunSettings& settings) {
  struct Found {
    double distance;
    std::string shape;
    double cycles;
    std::string trace;
  };
  std::vector<Found> found;
  const Result<std::vector<log::Run>> runs = log.runs();
  if (!runs.ok()) return runs.error();
  for (const log::Run& run : *runs) {
    const log::RunSettings& s = run.settings;
    if (s.kernel != settings.kernel || s.dtype != settings.dtype || s.target != settings.target ||
        s.fingerprint != settings.fingerprint || s.cache != settings.cache ||
        s.shape == settings.shape) {
      continue;
    }
    const std::optional<double> distance = shapeDistance(s.shape, settings.shape);
    if (!distance) continue;
    log::Filter filter;
    filter.run = run.id;
    filter.successes = filter.best = true;
    filter.limit = kOfRun;
    Status status = log.forEach(filter, [&](const log::Record& record) {
      const Measurement& m = record.trial.outcome.measurement();
      if (m.censored || record.trial.trace.empty()) return;
      found.push_back({*distance, s.shape, m.cycles, record.trial.trace});
    });
    if (!status.ok()) return status.error();
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.distance, a.shape, a.cycles) < std::tie(b.distance, b.shape, b.cycles);
  });
  std::vector<std::string> out;
  std::map<std::string, std::size_t> ofShape;
  for (const Found& one : found) {
    if (out.size() == kMost) break;
    if (ofShape[one.shape] == kOfShape) continue;
    if (std::find(out.begin(), out.end(), one.trace) != out.end()) continue;
    ++ofShape[one.shape];
    out.push_back(one.trace);
  }
  return out;
}

}  // namespace dojo::tune
