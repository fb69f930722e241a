// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/report_html.h"

namespace dojo::cli {
namespace {

constexpr double kWidth = 640, kHeight = 400;
constexpr double kLeft = 64, kRight = 16, kTop = 40, kBottom = 48;

/// Axes by powers of ten.
class Axes {
 public:
  void include(double x, double y) {
    if (x > 0) {
      lowX_ = std::min(lowX_, std::floor(std::log10(x)));
      highX_ = std::max(highX_, std::ceil(std::log10(x)));
    }
    if (y > 0) {
      lowY_ = std::min(lowY_, std::floor(std::log10(y)));
      highY_ = std::max(highY_, std::ceil(std::log10(y)));
    }
  }
  [[nodiscard]] double x(double value) const {
    return kLeft + (std::log10(value) - lowX_) / (highX_ - lowX_) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    return kHeight - kBottom -
           (std::log10(value) - lowY_) / (highY_ - lowY_) * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] double leastX() const { return std::pow(10, lowX_); }
  [[nodiscard]] double mostX() const { return std::pow(10, highX_); }
  [[nodiscard]] std::string drawn() const {
    std::string out;
    for (int power = static_cast<int>(lowX_); power <= static_cast<int>(highX_); ++power) {
      const double at = x(std::pow(10, power));
      out += fmt::format(
          "<line x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}' stroke='#ddd'/>"
          "<text x='{0:.1f}' y='{3:.1f}' text-anchor='middle'>{4:g}</text>\n",
          at, kTop, kHeight - kBottom, kHeight - kBottom + 16, std::pow(10, power));
    }
    for (int power = static_cast<int>(lowY_); power <= static_cast<int>(highY_); ++power) {
      const double at = y(std::pow(10, power));
      out += fmt::format(
          "<line x1='{1:.1f}' y1='{0:.1f}' x2='{2:.1f}' y2='{0:.1f}' stroke='#ddd'/>"
          "<text x='{3:.1f}' y='{4:.1f}' text-anchor='end'>{5:g}</text>\n",
          at, kLeft, kWidth - kRight, kLeft - 6, at + 4, std::pow(10, power));
    }
    return out;
  }

 private:
  double lowX_ = -1, highX_ = 2, lowY_ = -1, highY_ = 1;
};

std::string slope(const Axes& axes, double from, double to, double perByte, double most,
                  const std::string& name) {
  const double ridge = most > 0 ? std::min(to, most / perByte) : to;
  if (ridge <= from) return "";
  return fmt::format(
      "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='#36c' stroke-width='2'/>"
      "<text x='{:.1f}' y='{:.1f}' fill='#36c'>{} {:g} bytes a cycle</text>\n",
      axes.x(from), axes.y(from * perByte), axes.x(ridge), axes.y(ridge * perByte),
      axes.x(from) + 6, axes.y(from * perByte) - 6, escaped(name), perByte);
}

}  // namespace

std::string roofline(const target::Target& target, const std::string& dtype,
                     const std::vector<RooflinePoint>& points) {
  const auto peak = target.peakOps.find(dtype);
  const double most = peak == target.peakOps.end() ? 0 : peak->second;
  Axes axes;
  axes.include(0, most);
  for (const auto& [memory, bytes] : target.peakBytes) {
    if (most > 0) axes.include(most / bytes, most);
  }
  for (const RooflinePoint& point : points) axes.include(point.opsPerByte, point.opsPerCycle);
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n"
      "<text x='{2}' y='20' font-size='14'>{3}, {4}: operations a cycle over operations a "
      "byte</text>\n",
      kWidth, kHeight, kLeft, escaped(target.name), escaped(dtype));
  out += axes.drawn();
  double ridge = axes.leastX();
  for (const auto& [memory, bytes] : target.peakBytes) {
    // Far down the roof would leave the picture.
    double from = axes.leastX();
    while (axes.y(from * bytes) > kHeight - kBottom) from *= 1.1;
    out += slope(axes, from, axes.mostX(), bytes, most, memory);
    if (most > 0) ridge = std::max(ridge, most / bytes);
  }
  if (most > 0) {
    const double from = target.peakBytes.empty() ? axes.leastX() : ridge;
    out += fmt::format(
        "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='#c33' stroke-width='2'/>"
        "<text x='{:.1f}' y='{:.1f}' fill='#c33' text-anchor='end'>{:g} a cycle</text>\n",
        axes.x(from), axes.y(most), axes.x(axes.mostX()), axes.y(most), kWidth - kRight,
        axes.y(most) - 6, most);
  }
  for (const RooflinePoint& point : points) {
    if (point.opsPerByte <= 0 || point.opsPerCycle <= 0) continue;
    out += fmt::format(
        "<circle cx='{0:.1f}' cy='{1:.1f}' r='4'/><text x='{0:.1f}' y='{2:.1f}' "
        "text-anchor='middle'>{3}: {4:.3g}</text>\n",
        axes.x(point.opsPerByte), axes.y(point.opsPerCycle), axes.y(point.opsPerCycle) + 18,
        escaped(point.name), point.opsPerCycle);
  }
  return out + "</svg>\n";
}

}  // namespace dojo::cli
