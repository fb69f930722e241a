// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/statistics.h"

#include <cmath>

#include <catch2/catch.hpp>

namespace dojo::measure {

TEST_CASE("Quantiles interpolate") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(quantile({10, 20, 30, 40, 50}, 0.25) == 20);
  CHECK(quantile({10, 20}, 0.75) == 17.5);
  CHECK(quantile({7}, 0.9) == 7);
  CHECK(std::isnan(median({})));
}

TEST_CASE("The spread is half the interquartile range over the median") {
  const Summary summary = summarize({10, 20, 30, 40, 50});
  CHECK(summary.median == 30);
  CHECK(summary.lower == 20);
  CHECK(summary.upper == 40);
  CHECK(summary.spread == Approx(1.0 / 3));
  CHECK(summarize({0, 0}).spread == 0);
}

TEST_CASE("Differences inside the spreads are ties") {
  const Summary a = summarize({99, 100, 101});
  CHECK(tie(a, summarize({99.5, 100.5, 101.5})));
  CHECK(tie(a, a));
  CHECK_FALSE(tie(a, summarize({101, 102, 103})));
  CHECK_FALSE(tie(summarize({1, 1, 1}), summarize({1.001, 1.001, 1.001})));
}

TEST_CASE("A quantile is stable when the last third doesn't move it") {
  Stability steady(0.01, 6), falling(0.01, 6);
  for (int i = 0; i < 5; ++i) steady.add(100 + i % 2);
  CHECK_FALSE(steady.stable());
  steady.add(100);
  CHECK(steady.stable());
  for (int i = 0; i < 30; ++i) {
    falling.add(100 - 3 * i);
    CHECK_FALSE(falling.stable());
  }
}

}  // namespace dojo::measure
