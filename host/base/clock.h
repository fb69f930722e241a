// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Time as a seam: tests pass their own clock.
#pragma once

namespace dojo {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since some fixed moment; never goes back.
  [[nodiscard]] virtual double now() = 0;
  virtual void sleep(double seconds) = 0;
};

/// The monotonic clock of this machine.
[[nodiscard]] Clock& systemClock();

/// Seconds since it was made or restarted.
class Stopwatch {
 public:
  explicit Stopwatch(Clock& clock = systemClock()) : clock_(&clock), start_(clock.now()) {}
  [[nodiscard]] double seconds() const { return clock_->now() - start_; }
  /// The seconds so far; starts again from 0.
  double restart() {
    const double now = clock_->now();
    const double passed = now - start_;
    start_ = now;
    return passed;
  }

 private:
  Clock* clock_;
  double start_;
};

}  // namespace dojo
