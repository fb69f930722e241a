// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A line that says how it goes: rewritten in place on a terminal, now and then a plain line in a
/// pipe. Always on standard error.
#pragma once

#include <string>

#include "base/clock.h"

namespace dojo::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows `text` if it's time for it.
  void update(const std::string& text);
  /// True where update() would show something now: to save making the text.
  [[nodiscard]] bool due() const;
  /// A line that stays, above the live one.
  void note(const std::string& text);
  /// Leaves the last text standing.
  void finish();

 private:
  bool terminal_;
  bool shown_ = false;
  std::string last_;
  double next_ = 0;
  double interval_ = 0;
};

}  // namespace dojo::cli
