// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/interrupt.h"

#include <csignal>
#include <string_view>

#include <sys/time.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/command.h"

namespace dojo::cli {
namespace {

std::atomic<bool> flag{false};
std::atomic<bool> watched{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void onSignal(int number) {
  if (number != SIGALRM && watched.load() && !flag.exchange(true)) {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = 1, .tv_usec = 500000}};
    setitimer(ITIMER_REAL, &limit, nullptr);
    return;
  }
  constexpr std::string_view kText = "dojo: stopped\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  killAllProcesses();
  _exit(kFailed);
}

}  // namespace

void handleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  for (const int number : {SIGINT, SIGTERM, SIGALRM}) sigaction(number, &action, nullptr);
}

const std::atomic<bool>& interrupted() {
  watched.store(true);
  return flag;
}

}  // namespace dojo::cli
