// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/shares.h"

#include <array>
#include <cmath>

#include <catch2/catch.hpp>

using dojo::tune::Shares;

TEST_CASE("every tuning has its first turn, in order, then time goes where it brings most") {
  // The best of each is a time that halves with so many seconds, down to a floor.
  struct Kernel {
    double best, halving, floor;
    [[nodiscard]] double after(double seconds) const {
      return std::max(floor, best * std::exp2(-seconds / halving));
    }
  };
  std::array<Kernel, 3> kernels = {Kernel{100, 1e9, 1}, Kernel{100, 10, 1e-9}, Kernel{100, 5, 90}};
  std::array<int, 3> turns = {};
  Shares shares(3);
  for (int turn = 0; turn < 40; ++turn) {
    const auto which = shares.next();
    REQUIRE(which);
    if (turn < 3) CHECK(*which == static_cast<std::size_t>(turn));
    Kernel& kernel = kernels[*which];
    const double before = kernel.best;
    kernel.best = kernel.after(2);
    shares.report(*which, 2, before, kernel.best);
    ++turns[*which];
  }
  CHECK(turns[1] > 25);
  // None is forgotten.
  CHECK(turns[0] >= 3);
  CHECK(turns[2] >= 3);
}

TEST_CASE("what is done has no further turn, what failed has no rate") {
  Shares shares(2);
  shares.report(0, 1, 0, 0);
  CHECK(*shares.next() == 1);
  shares.report(1, 1, 100, 50);
  CHECK(*shares.next() == 1);
  shares.done(1);
  CHECK(*shares.next() == 0);
  shares.done(0);
  CHECK_FALSE(shares.next());
}
