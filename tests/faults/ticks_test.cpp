// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which counter a runner takes where its best one can't be read: the real choice (runner/linux),
// with counters that trap or stand still before one that counts.
#include <string>

#include <catch2/catch.hpp>
#include <signal.h>

extern "C" {
#define _Noreturn [[noreturn]]
#include "linux/machine.h"

static std::uint64_t trapping() {
  raise(SIGILL);
  return 1;
}
static std::uint64_t forbidden() {
  raise(SIGSEGV);
  return 1;
}
static std::uint64_t still() { return 42; }

const dojo_tick_source dojo_tick_sources[] = {{"trapping", trapping},
                                              {"forbidden", forbidden},
                                              {"still", still},
                                              {"clock", dojo_ticks_clock},
                                              {nullptr, nullptr}};
}

TEST_CASE("A counter that traps or stands still is passed over, and the one taken is named") {
  dojo_ticks_choose();
  CHECK(dojo_machine_counter() == std::string("clock"));
  CHECK(dojo_ticks == dojo_ticks_clock);
  const std::uint64_t first = dojo_machine_ticks();
  while (dojo_machine_ticks() == first) continue;
  CHECK(dojo_machine_ticks() > first);
}
