// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bringing a dead device back: the mildest step that helps, each with its own class.
#include "board.h"
#include "support.h"

namespace dojo::transport {
namespace {

const LinkOptions kImpatient{.helloSeconds = 0.5,
                             .answerSeconds = 0.5,
                             .retrySeconds = 0.05,
                             .graceSeconds = 0.1,
                             .abortSeconds = 0.2};

Call shortCall() {
  Call call;
  call.limitSeconds = 0.1;
  return call;
}

void freeze(const LineBoard& board) { REQUIRE(kill(board.runner(), SIGSTOP) == 0); }

}  // namespace

TEST_CASE("A board on a serial line, at an odd speed") {
  LineBoard board;
  board.start();
  SerialOptions options = board.options();
  options.baud = 123457;
  Bench bench(makeSerial(options), {.retrySeconds = 0.5});
  REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
  Call call;
  call.samples = 50;
  auto done = bench.run(kIncrement, call);
  INFO((done ? "" : done.error().text()));
  REQUIRE(done);
  CHECK(done->samples == 50);
  CHECK(counterOf(bench) == 50);
  CHECK(bench.device->describe() == board.line() + " at 123457");
  CHECK(bench.device->statistics().retries == 0);
}

TEST_CASE("A device that restarted by itself is greeted anew, and its kernel is blamed") {
  LineBoard board;
  board.start();
  Bench bench(makeSerial(board.options()), kImpatient);
  kill(board.runner(), SIGKILL);  // the loop starts it again
  systemClock().sleep(0.05);
  CHECK(bench.verdict(kIncrement, shortCall()) == "link.timeout");
  CHECK(bench.message.find("brought back by itself") != std::string::npos);
  CHECK(bench.verdict(kIncrement, shortCall()) == "ok");
}

TEST_CASE("The steps of a rescue are tried in order, and the one that helps is named") {
  LineBoard board;
  board.start();
  SerialOptions options = board.options();
  std::string helper;
  SECTION("the reset command") {
    options.setup.reset.command = board.reset();
    options.setup.powerCycle.command = "false";
    helper = "the reset command";
  }
  SECTION("a reset command that fails, then the power") {
    options.setup.reset.command = "sh -c 'echo no probe >&2; exit 3'";
    options.setup.powerCycle.command = board.reset();
    helper = "the power-cycle command";
  }
  SECTION("a reset command that hangs, a line that can't be pulsed, then the power") {
    options.setup.reset = {.command = "sleep 60", .seconds = 0.2};
    options.resetLine = "dtr";
    options.setup.powerCycle.command = board.reset();
    helper = "the power-cycle command";
  }
  Bench bench(makeSerial(options), kImpatient);
  freeze(board);
  Stopwatch watch;
  Call call = shortCall();
  CHECK(bench.verdict(kIncrement, call) != "ok");
  INFO(bench.message);
  CHECK(bench.message.find("brought back by " + helper) != std::string::npos);
  CHECK(bench.device->rescuedBy() == helper);
  CHECK(watch.seconds() < 4);
  CHECK(bench.verdict(kIncrement, call) == "ok");
}

TEST_CASE("A device that nothing brings back is named with what each step came to") {
  LineBoard board;
  board.start();
  SerialOptions options = board.options();
  options.setup.reset.command = "sh -c 'exit 3'";
  options.setup.powerCycle = {.command = "sleep 60", .seconds = 0.1};
  options.resetLine = "rts";
  Bench bench(makeSerial(options), kImpatient);
  freeze(board);
  const Status first = bench.device->ping();
  REQUIRE_FALSE(first);
  CHECK(first.error().code == "link.timeout");
  for (const char* code :
       {"link.abort", "link.reset", "link.reset-line", "link.power", "link.restart"}) {
    INFO(code << "\n" << first.error().text());
    CHECK(first.error().text().find(std::string("[") + code + "]") != std::string::npos);
  }
  CHECK(first.error().text().find("exit status 3") != std::string::npos);
  CHECK(first.error().text().find("didn't end within 0.1 s") != std::string::npos);
  const Status second = bench.device->ping();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == "link.dead");
  Stopwatch watch;
  const Status third = bench.device->ping();
  REQUIRE_FALSE(third);
  CHECK(third.error().code == "link.dead");
  CHECK(watch.seconds() < 0.1);  // dead for good: no more waiting
  kill(board.runner(), SIGCONT);
}

TEST_CASE("A device that is busy when one comes is reset") {
  LineBoard board;
  board.start();
  SerialOptions options = board.options();
  freeze(board);
  auto device = Device::open(makeSerial(options), kImpatient);
  REQUIRE_FALSE(device);
  CHECK(device.error().code == "link.timeout");
  options.setup.reset.command = board.reset();
  device = Device::open(makeSerial(options), kImpatient);
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  CHECK((*device)->rescuedBy() == "the reset command");
}

TEST_CASE("A loader that fails at once is a load failure, at once") {
  LineBoard board;  // where nothing answers
  SerialOptions options = board.options();
  options.setup.command = "sh -c 'echo no debug probe found >&2; exit 1'";
  options.setup.seconds = 30;
  Stopwatch watch;
  auto device = Device::open(makeSerial(options), {.helloSeconds = 30});
  REQUIRE_FALSE(device);
  CHECK(watch.seconds() < 2);
  CHECK(device.error().code == "load.command");
  CHECK(device.error().text().find("exit status 1") != std::string::npos);
  CHECK(device.error().text().find("no debug probe found") != std::string::npos);
}

TEST_CASE("A loader that ends well leaves the device to speak") {
  LineBoard board;
  board.start();
  SerialOptions options = board.options();
  options.setup.command = "sh -c 'sleep 0.2; echo flashed'";
  auto device = Device::open(makeSerial(options), {.helloSeconds = 5});
  INFO((device ? "" : device.error().text()));
  CHECK(device);
}

TEST_CASE("Lines and addresses that aren't there are named") {
  SerialOptions serial;
  serial.device = "/dev/no-such-line";
  auto device = Device::open(makeSerial(serial));
  REQUIRE_FALSE(device);
  CHECK(device.error().code == "link.start");
  CHECK(device.error().message.find("/dev/no-such-line") != std::string::npos);
  serial.device = "/dev/null";
  device = Device::open(makeSerial(serial));
  REQUIRE_FALSE(device);
  CHECK(device.error().message.find("no serial line") != std::string::npos);
}

}  // namespace dojo::transport
