// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sequences of instructions take on the model beside what they take on the public RTL.
#include "bringup/timing.h"

#include <catch2/catch.hpp>

#include "bringup/timing_rows.h"
#include "tune/bench.h"

namespace {

using namespace dojo;

void checkRows(const std::string& name, const std::string& only) {
  const auto target = target::load(name);
  REQUIRE(target.ok());
  auto device = tune::reach(*target, {});
  INFO((device ? std::string() : device.error().text()));
  REQUIRE(device.ok());
  const auto rows = bringup::checkTiming(*target, **device, only, {});
  INFO((rows ? std::string() : rows.error().text()));
  REQUIRE(rows.ok());
  CHECK_FALSE(rows->empty());
  for (const bringup::TimingRow& row : *rows) {
    INFO(row.name << ": " << row.reference << ", ours " << row.ours << " " << row.wrong);
    CHECK(row.within());
  }
}

}  // namespace

TEST_CASE("every row of the tables is as long as on the RTL, with one core") {
  checkRows("snitch1", "");
}

TEST_CASE("rows are as long with eight cores") {
  checkRows("snitch", "load");
  checkRows("snitch", "barrier");
  checkRows("snitch", "DMA");
  checkRows("snitch", "streams");
}

TEST_CASE("a row's marks are read, and others refused") {
  const auto rows = bringup::readTimingRows(
      "# about\n#: row first\n#: cycles 100\n#: body\n  nop\n#: row second\n#: cycles 20\n"
      "#: allowed 7\n#: hart dma\n#: prepare\n  a\n#: body\n  b\n#: after\n  c\n#: gives -3\n");
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[0].allowed == 3);
  CHECK((*rows)[0].body == "  nop\n");
  CHECK((*rows)[1].allowed == 7);
  CHECK((*rows)[1].onDmaHart);
  CHECK((*rows)[1].prepare == "  a\n");
  CHECK((*rows)[1].after == "  c\n");
  CHECK((*rows)[1].gives == -3);
  const auto wrong = bringup::readTimingRows("#: row one\n#: cycle 3\n");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().code == "timing.rows");
  CHECK(wrong.error().message.find("line 2") != std::string::npos);
}

TEST_CASE("a target without a table says so") {
  auto target = target::load("host");
  REQUIRE(target.ok());
  auto device = tune::reach(*target, {});
  REQUIRE(device.ok());
  const auto rows = bringup::checkTiming(*target, **device, "", {});
  REQUIRE_FALSE(rows.ok());
  CHECK(rows.error().code == "timing.target");
}
