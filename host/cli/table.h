// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Text for people: tables and figures.
#pragma once

#include <string>
#include <vector>

namespace dojo::cli {

class Table {
 public:
  /// Names that start with '>' are of columns aligned to the right.
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  /// Columns padded with spaces, two between them; no trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// Three significant digits with a unit: "1.53 ms", "42.0 us".
[[nodiscard]] std::string showSeconds(double seconds);
/// "12.3 k", "4.56 M": three significant digits.
[[nodiscard]] std::string showCount(double count);
/// Three significant digits, no exponent below a million.
[[nodiscard]] std::string showNumber(double value);

}  // namespace dojo::cli
