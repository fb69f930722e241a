// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "performance/agents/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace dojo::contest {
namespace {

constexpr double kWidth = 860, kHeight = 440;
constexpr double kLeft = 70, kRight = 230, kTop = 40, kBottom = 48;
/// Told apart by those who see no colours as well: with patterns of dashes.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#000000", "#e69f00", "#7a5195"};
constexpr const char* kDashes[] = {"", "7 3", "2 3", "9 3 2 3", "4 2", "", "12 4", "1 2"};
constexpr std::size_t kStyles = std::size(kColours);

struct Band {
  std::string strategy;
  std::vector<double> low, middle, high;  ///< After each trial; 0 where there is nothing yet.
};

Band bandOf(const std::vector<const Row*>& rows) {
  Band out;
  out.strategy = rows.front()->strategy;
  std::size_t trials = 0;
  for (const Row* row : rows) trials = std::max(trials, row->curve.size());
  for (std::size_t k = 1; k <= trials; ++k) {
    std::vector<double> values;
    for (const Row* row : rows) {
      const double best = row->after(static_cast<std::int64_t>(k));
      values.push_back(best > 0 ? best : std::numeric_limits<double>::infinity());
    }
    std::sort(values.begin(), values.end());
    const double middle = median(values);
    const bool there = std::isfinite(values.back());
    out.middle.push_back(std::isfinite(middle) ? middle : 0);
    // The quarters: of few seeds the extremes.
    const std::size_t quarter = (values.size() - 1) / 4;
    out.low.push_back(there ? values[quarter] : out.middle.back());
    out.high.push_back(there ? values[values.size() - 1 - quarter] : out.middle.back());
  }
  return out;
}

/// 1200 as 1.2k.
std::string shown(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

/// Places for lines on a logarithmic axis, at least about three.
std::vector<double> ticks(double low, double high) {
  for (const auto& steps : {std::vector<double>{1}, std::vector<double>{1, 2, 5},
                            std::vector<double>{1, 1.5, 2, 3, 4, 5, 6, 8}}) {
    std::vector<double> out;
    for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
      for (const double step : steps) {
        if (decade * step >= low && decade * step <= high) out.push_back(decade * step);
      }
    }
    if (out.size() >= 3) return out;
  }
  const double step = std::pow(10, std::floor(std::log10((high - low) / 2)));
  std::vector<double> out;
  for (double at = std::ceil(low / step) * step; at <= high; at += step) out.push_back(at);
  return out;
}

class Drawing {
 public:
  Drawing(double low, double high, std::size_t trials)
      : low_(low), high_(high), trials_(static_cast<double>(trials)) {}

  [[nodiscard]] double x(std::size_t trial) const {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(trial) / trials_;
  }
  [[nodiscard]] double y(double value) const {
    const double part = std::log(std::clamp(value, low_, high_) / low_) / std::log(high_ / low_);
    return kHeight - kBottom - (kHeight - kBottom - kTop) * part;
  }

  /// A staircase through values[from...], there or back.
  [[nodiscard]] std::string stairs(const std::vector<double>& values, std::size_t from) const {
    std::string out = fmt::format("{:.1f} {:.1f}", x(from + 1), y(values[from]));
    for (std::size_t k = from + 1; k < values.size(); ++k) {
      if (values[k] == values[k - 1] && k + 1 < values.size()) continue;
      out += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}", x(k + 1), y(values[k - 1]), x(k + 1),
                         y(values[k]));
    }
    return out;
  }
  [[nodiscard]] std::string stairsBack(const std::vector<double>& values, std::size_t from) const {
    std::string out;
    for (std::size_t k = values.size() - 1; k > from; --k) {
      if (values[k] == values[k - 1] && k + 1 < values.size()) continue;
      out += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}", x(k + 1), y(values[k]), x(k + 1),
                         y(values[k - 1]));
    }
    return out + fmt::format("L{:.1f} {:.1f}", x(from + 1), y(values[from]));
  }

 private:
  double low_, high_, trials_;
};

}  // namespace

std::string drawCurves(const std::vector<Row>& rows, const std::string& title,
                       const std::string& unit) {
  std::vector<std::string> strategies;
  for (const Row& row : rows) {
    if (std::find(strategies.begin(), strategies.end(), row.strategy) == strategies.end()) {
      strategies.push_back(row.strategy);
    }
  }
  std::vector<Band> bands;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  std::size_t trials = 1;
  for (const std::string& strategy : strategies) {
    std::vector<const Row*> of;
    for (const Row& row : rows) {
      if (row.strategy == strategy && !row.curve.empty()) of.push_back(&row);
    }
    if (of.empty()) continue;
    bands.push_back(bandOf(of));
    trials = std::max(trials, bands.back().middle.size());
    for (const double value : bands.back().low) {
      if (value > 0) low = std::min(low, value);
    }
    for (const double value : bands.back().high) high = std::max(high, value);
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3}</text>\n",
      kWidth, kHeight, kLeft, escaped(title));
  if (high == 0) {
    return out +
           fmt::format("<text x=\"{}\" y=\"60\">nothing was measured</text>\n</svg>\n", kLeft);
  }
  low *= 0.94;
  high *= 1.06;
  const Drawing draw(low, high, trials);
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  for (const double value : ticks(low, high)) {
    out += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#e3e3e3\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\" fill=\"#444\">{5}</text>\n",
        kLeft, draw.y(value), right, kLeft - 6, draw.y(value) + 4, shown(value));
  }
  const std::size_t step = trials <= 12 ? 2 : (trials + 4) / 5;
  for (std::size_t k = 0; k <= trials; k += step) {
    out += fmt::format(
        "<path d=\"M{0:.1f} {1}v4\" stroke=\"#444\"/><text x=\"{0:.1f}\" y=\"{2}\" "
        "text-anchor=\"middle\" fill=\"#444\">{3}</text>\n",
        draw.x(k), bottom, bottom + 18, k);
  }
  out += fmt::format(
      "<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#444\"/>\n"
      "<text x=\"{4}\" y=\"{5}\" text-anchor=\"middle\" fill=\"#444\">trials measured</text>\n"
      "<text transform=\"translate(16 {6}) rotate(-90)\" text-anchor=\"middle\" "
      "fill=\"#444\">{7} of the best so far</text>\n",
      kLeft, kTop, bottom, right, (kLeft + right) / 2, kHeight - 10, (kTop + bottom) / 2,
      escaped(unit));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t k = 0; k < bands.size(); ++k) {
      const Band& band = bands[k];
      std::size_t from = 0;
      while (from < band.middle.size() && band.middle[from] == 0) ++from;
      if (from == band.middle.size()) continue;
      const std::string middle = draw.stairs(band.middle, from);
      if (pass == 0) {
        out += fmt::format("<path d=\"M{}{}Z\" fill=\"{}\" opacity=\"0.13\"/>\n",
                           draw.stairs(band.low, from),
                           draw.stairsBack(band.high, from)
                               .replace(0, 0,
                                        fmt::format("L{:.1f} {:.1f}", draw.x(band.high.size()),
                                                    draw.y(band.high.back()))),
                           kColours[k % kStyles]);
      } else {
        out += fmt::format(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" "
            "stroke-dasharray=\"{}\"/>\n",
            middle, kColours[k % kStyles], kDashes[k % kStyles]);
      }
    }
  }
  // Best last median first.
  std::vector<std::size_t> order(bands.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return bands[a].middle.back() < bands[b].middle.back();
  });
  double at = kTop + 10;
  for (const std::size_t k : order) {
    out += fmt::format(
        "<path d=\"M{0} {1}h26\" fill=\"none\" stroke=\"{2}\" stroke-width=\"2.4\" "
        "stroke-dasharray=\"{3}\"/><text x=\"{4}\" y=\"{5}\">{6} <tspan "
        "fill=\"#777\">{7}</tspan></text>\n",
        right + 14, at, kColours[k % kStyles], kDashes[k % kStyles], right + 46, at + 4,
        escaped(bands[k].strategy), shown(bands[k].middle.back()));
    at += 21;
  }
  return out + "</svg>\n";
}

}  // namespace dojo::contest
