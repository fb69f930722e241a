// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bringup/timing_rows.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace dojo::bringup {
namespace {

/// 2 cycles or 3%, whichever is larger.
double usual(double cycles) { return std::max(2.0, 0.03 * cycles); }

bool readNumber(const std::string& text, double& into) {
  char* end = nullptr;
  into = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0;
}

/// One mark of a row; false where it means nothing.
bool mark(const std::string& word, const std::string& rest, TimingSource& row,
          std::string*& section) {
  double number = 0;
  if (word == "prepare" || word == "body" || word == "after") {
    section = word == "prepare" ? &row.prepare : word == "body" ? &row.body : &row.after;
    return rest.empty();
  }
  if (word == "hart") {
    row.onDmaHart = rest == "dma";
    return row.onDmaHart;
  }
  if (!readNumber(rest, number)) return false;
  if (word == "cycles" || word == "most") {
    row.cycles = number;
    row.most = word == "most";
    if (row.allowed == 0) row.allowed = usual(number);
  } else if (word == "allowed") {
    row.allowed = number;
  } else if (word == "cold") {
    row.cold = static_cast<int>(number);
  } else if (word == "gives") {
    row.gives = static_cast<int>(number);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<std::vector<TimingSource>> readTimingRows(std::string_view text) {
  std::vector<TimingSource> rows;
  std::string* section = nullptr;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string now(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!now.starts_with("#:")) {
      if (section != nullptr) *section += now + '\n';
      continue;
    }
    const std::size_t from = std::min(now.find_first_not_of(' ', 2), now.size());
    const std::size_t space = std::min(now.find(' ', from), now.size());
    const std::string word = now.substr(from, space - from);
    const std::size_t at = std::min(now.find_first_not_of(' ', space), now.size());
    const std::string rest = now.substr(at);
    if (word == "row") {
      rows.emplace_back().name = rest;
      section = nullptr;
    } else if (rows.empty() || !mark(word, rest, rows.back(), section)) {
      return Error{"timing.rows", fmt::format("line {}: '{}' means nothing", line, now)};
    }
  }
  return rows;
}

}  // namespace dojo::bringup
