// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/clock.h"

#include <chrono>
#include <thread>

namespace dojo {
namespace {

class SystemClock : public Clock {
 public:
  double now() override {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }
  void sleep(double seconds) override {
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace

Clock& systemClock() {
  static SystemClock clock;
  return clock;
}

}  // namespace dojo
