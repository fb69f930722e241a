// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device whose counter doesn't count is found when it's brought up.
#include <catch2/catch.hpp>

#include "bringup/steps.h"
#include "faults/saboteur.h"

using namespace dojo;

namespace {

bringup::Step countersOf(const std::function<std::uint64_t(std::uint64_t)>& ticks) {
  target::Target target = target::load("host").value();
  auto saboteur = std::make_unique<test::Saboteur>();
  saboteur->ticks = ticks;
  auto device = transport::Device::open(std::move(saboteur));
  REQUIRE(device);
  auto lab = bringup::Lab::open(target, **device);
  REQUIRE(lab);
  bringup::Step step;
  bringup::checkCounters(*lab, step);
  return step;
}

}  // namespace

TEST_CASE("A counter that stands still is found, and the device named as no timing device") {
  const bringup::Step step = countersOf([](std::uint64_t) { return 0; });
  CHECK(step.verdict == bringup::Verdict::failed);
  CHECK(step.seen.find("stands still") != std::string::npos);
  CHECK(step.advice.find("no timing device") != std::string::npos);
}

TEST_CASE("A counter that runs backwards, or steps coarsely, is found") {
  const bringup::Step backwards =
      countersOf([](std::uint64_t ticks) { return ticks > 20000 ? 0 - ticks : ticks; });
  CHECK(backwards.verdict == bringup::Verdict::failed);
  CHECK(backwards.seen.find("backwards") != std::string::npos);
  const bringup::Step coarse =
      countersOf([](std::uint64_t ticks) { return (ticks >> 17 << 17) + (1 << 17); });
  CHECK(coarse.verdict == bringup::Verdict::failed);
}
