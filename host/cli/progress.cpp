// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "cli/command.h"

namespace dojo::cli {
namespace {

constexpr double kTerminalInterval = 0.1;
/// In a pipe lines come ever more rarely.
constexpr double kFirstPipeInterval = 1, kLastPipeInterval = 30, kPipeGrowth = 1.5;

}  // namespace

ProgressLine::ProgressLine() : terminal_(errorIsTerminal()) {
  interval_ = terminal_ ? kTerminalInterval : kFirstPipeInterval;
}

bool ProgressLine::due() const { return systemClock().now() >= next_; }

void ProgressLine::update(const std::string& text) {
  last_ = text;
  if (!due()) return;
  next_ = systemClock().now() + interval_;
  if (terminal_) {
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    std::fflush(stderr);
    shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
    interval_ = std::min(interval_ * kPipeGrowth, kLastPipeInterval);
  }
}

void ProgressLine::note(const std::string& text) {
  if (terminal_ && shown_) std::fprintf(stderr, "\r\x1b[K");
  std::fprintf(stderr, "%s\n", text.c_str());
  shown_ = false;
  next_ = 0;
}

void ProgressLine::finish() {
  if (terminal_ && shown_) std::fprintf(stderr, "\r\x1b[K%s\n", last_.c_str());
  shown_ = false;
}

}  // namespace dojo::cli
