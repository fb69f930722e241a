// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace dojo::cli {
namespace {

/// Columns that the text takes: code points of UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string scaled(double value, const std::vector<std::pair<double, const char*>>& units) {
  for (const auto& [unit, name] : units) {
    if (std::abs(value) >= unit * 0.9995) return showNumber(value / unit) + name;
  }
  return showNumber(value / units.back().first) + units.back().second;
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  for (std::string& name : header) {
    const bool right = !name.empty() && name[0] == '>';
    right_.push_back(right);
    if (right) name.erase(0, 1);
  }
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) {
  row.resize(right_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width(row[k]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string space(widths[k] - width(row[k]), ' ');
      if (k > 0) line += "  ";
      line += right_[k] ? space + row[k] : row[k] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string showNumber(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "-" : "inf";
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.3g}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995 || size == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string showSeconds(double seconds) {
  if (seconds >= 90) {
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  return scaled(seconds, {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}});
}

std::string showCount(double count) {
  return scaled(count, {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}});
}

}  // namespace dojo::cli
