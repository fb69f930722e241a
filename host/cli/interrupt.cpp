// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/interrupt.h"

#include <csignal>

namespace dojo::cli {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void onSignal(int) { flag.store(true); }

}  // namespace

const std::atomic<bool>& interrupted() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  (void)installed;
  return flag;
}

}  // namespace dojo::cli
