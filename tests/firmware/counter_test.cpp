// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters that go round.
#include "core/counter.h"

#include <catch2/catch.hpp>

namespace dojo {

TEST_CASE("A counter of 32 bits is subtracted over its wrap") {
  CHECK(dojo_elapsed(0xffffff00, 0x00000100, 32, 512) == 512);
  CHECK(dojo_elapsed(0xffffff00, 0x00000100, 32, 500) == 512);  // the other clock is coarse
  CHECK(dojo_elapsed(5, 5, 32, 0) == 0);
  CHECK(dojo_elapsed(0x123, 0x80000123, 32, 0x80000000) == 0x80000000);
}

TEST_CASE("What may be longer than a round is never a small number") {
  const std::uint64_t unknown = ~std::uint64_t{0};
  const std::uint64_t round = std::uint64_t{1} << 32;
  CHECK(dojo_elapsed(0, 5, 32, round + 5) == unknown);
  CHECK(dojo_elapsed(0, 5, 32, 7 * round + 5) == unknown);
  CHECK(dojo_elapsed(10, 9, 32, round - 1) == unknown);
  CHECK(dojo_elapsed(0xffffff, 0x10, 24, 0x11) == 0x11);
  CHECK(dojo_elapsed(0xffffff, 0x10, 24, 0x1000011) == unknown);
}

TEST_CASE("A counter of 64 bits doesn't go round") {
  CHECK(dojo_elapsed(10, 10 + (std::uint64_t{1} << 40), 64, 0) == std::uint64_t{1} << 40);
}

}  // namespace dojo
