// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that a device can't hold are refused before anything is compiled for them.
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/parse.h"
#include "search/composite.h"
#include "tune/bench.h"

using namespace dojo;

namespace {

ir::Program copy(std::int64_t elements) {
  const auto parsed = ir::parse(fmt::format(
      "kernel k\nin x f32 [{0}]\nout y f32 [{0}]\n\n{0}\n| y[{{0}}] = x[{{0}}] * 3\n", elements));
  REQUIRE(parsed);
  return parsed->program;
}

/// With a temporary of so many bytes.
ir::Program through(std::int64_t elements) {
  const auto parsed =
      ir::parse(fmt::format("kernel k\nin x f32 [64]\nout y f32 [64]\ntmp t f32 [64, {0}] @heap\n\n"
                            "64\n| {0}\n| | t[{{0}}, {{1}}] = x[{{0}}] * 3\n"
                            "64\n| y[{{0}}] = t[{{0}}, {1}]\n",
                            elements, elements - 1));
  INFO((parsed ? "" : parsed.error().text()));
  REQUIRE(parsed);
  return parsed->program;
}

}  // namespace

TEST_CASE("A kernel too large for cortex-m4 is refused with both numbers") {
  const auto target = target::load("cortex-m4");
  REQUIRE(target);
  if (std::system("command -v qemu-system-arm >/dev/null 2>&1") != 0 ||
      !std::filesystem::exists(transport::builtRunner(*target))) {
    WARN("not tried: there is no qemu-system-arm or no " << target->runner.image);
    return;
  }
  auto device = tune::reach(*target, "");
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  const std::uint64_t room = (*device)->hello().region("data")->size;
  auto bench = tune::Bench::open(copy(8 << 20), *target, **device, {});
  REQUIRE_FALSE(bench);
  CHECK(bench.error().code == "load.size");
  INFO(bench.error().message);
  CHECK(bench.error().message.find(std::to_string(room)) != std::string::npos);
  const std::size_t needed = bench.error().message.find("at least ");
  REQUIRE(needed != std::string::npos);
  // Two buffers of 32 MiB for each input set, and a little around them.
  const std::int64_t bytes = std::stoll(bench.error().message.substr(needed + 9));
  CHECK(bytes > std::int64_t{2} * 32 << 20);
  // The device serves the next.
  auto next = tune::Bench::open(copy(64), *target, **device, {});
  INFO((next ? "" : next.error().text()));
  CHECK(next);
}

TEST_CASE("One candidate of 38 is too large by 64 KiB: it isn't compiled, 37 are measured") {
  target::Target target = target::load("host").value();
  target.harts = 1;
  target.runner.command = "{runner} --harts 1 --code-bytes 1048576 --data-bytes 131072";
  auto device = tune::reach(target, "");
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  const ir::Program plain = copy(64);
  auto bench = tune::Bench::open(plain, target, **device, {});
  INFO((bench ? "" : bench.error().text()));
  REQUIRE(bench);
  ir::Program large = through(768);  // 196,608 bytes
  // Nor could it be compiled, which nobody finds out.
  large.body[0].scope().mapping.bits = static_cast<unsigned>(ir::MapKind::warp);
  int measured = 0;
  for (int k = 0; k < 38; ++k) {
    (*bench)->submit(search::candidate(k == 20 ? large : plain, {}));
    const std::optional<Outcome> outcome = (*bench)->next();
    REQUIRE(outcome);
    if (outcome->ok()) {
      ++measured;
      continue;
    }
    const Failure& failure = outcome->failure();
    INFO(failure.detail);
    CHECK(k == 20);
    CHECK(failure.code == "load.size");
    CHECK(failure.stage == Stage::load);
    CHECK(failure.detail.find("131072") != std::string::npos);
  }
  CHECK(measured == 37);
}
