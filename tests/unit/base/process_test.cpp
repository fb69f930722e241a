// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process.h"

#include <cstring>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

#include "base/clock.h"

namespace dojo {
namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// All that the process prints until it ends.
std::string output(Process& process) {
  std::string text;
  std::vector<std::byte> chunk(100);
  while (true) {
    auto got = process.read(chunk, 5);
    if (!got || *got == 0) return text;
    for (std::size_t i = 0; i < *got; ++i) text += static_cast<char>(chunk[i]);
  }
}

}  // namespace

TEST_CASE("Commands split into words as in a shell") {
  using Words = std::vector<std::string>;
  CHECK(splitWords("a  b\tc\n").value() == Words{"a", "b", "c"});
  CHECK(splitWords("").value().empty());
  CHECK(splitWords("'a b' \"c d\" e\\ f ''").value() == Words{"a b", "c d", "e f", ""});
  CHECK(splitWords("--x='1 2'\"'\"").value() == Words{"--x=1 2'"});
  CHECK(splitWords("'\\n' \"\\\"\"").value() == Words{"\\n", "\""});
  CHECK(splitWords("'a").error().code == "process.quote");
  CHECK(splitWords("a\\").error().code == "process.quote");
}

TEST_CASE("A process gets what is written and gives what it prints") {
  auto cat = Process::start({"cat"});
  REQUIRE(cat);
  REQUIRE(cat->write(bytes("hello"), 1));
  std::vector<std::byte> into(5);
  auto got = cat->read(into, 5);
  REQUIRE(got);
  CHECK(*got == 5);
  CHECK(std::memcmp(into.data(), "hello", 5) == 0);
  Stopwatch watch;
  got = cat->read(into, 0.05);
  REQUIRE(got);
  CHECK(*got == 0);
  CHECK(watch.seconds() >= 0.05);
  CHECK(cat->ending(0) == "still running");

  auto shell = Process::start({"sh", "-c", "echo out; echo wrong >&2; exit 3"});
  REQUIRE(shell);
  CHECK(output(*shell) == "out\n");
  CHECK(shell->ending(5) == "exit status 3");
  CHECK(shell->complaints() == "wrong\n");
  CHECK(shell->write(bytes("x"), 1).error().code == "process.closed");
}

TEST_CASE("What can't be executed is an error at the start") {
  CHECK(Process::start({}).error().code == "process.start");
  const Error missing = Process::start({"/nowhere/at-all"}).error();
  CHECK(missing.code == "process.start");
  CHECK(missing.message == "can't start '/nowhere/at-all': No such file or directory");
}

TEST_CASE("A process that doesn't read is a time-out, one that is killed says so") {
  auto sleeper = Process::start({"sleep", "60"});
  REQUIRE(sleeper);
  const std::string much(1 << 20, 'x');
  CHECK(sleeper->write(bytes(much), 0.05).error().code == "process.timeout");
  auto killed = Process::start({"sh", "-c", "kill -9 $$"});
  REQUIRE(killed);
  CHECK(killed->ending(5) == "killed by signal 9 (Killed)");
}

TEST_CASE("Complaints never hold a process up, and endless ones don't hold us") {
  auto chatty = Process::start({"sh", "-c", "yes | head -c 1000000 >&2; echo done"});
  REQUIRE(chatty);
  CHECK(output(*chatty) == "done\n");
  CHECK(chatty->complaints().size() <= 4096);
  auto endless = Process::start({"sh", "-c", "exec yes >&2"});
  REQUIRE(endless);
  Stopwatch watch;
  CHECK(endless->complaints().size() <= 4096);
  CHECK(watch.seconds() < 5);
}

TEST_CASE("What a process started ends with it") {
  auto shell = Process::start({"sh", "-c", "sleep 1000 & echo $!; wait"});
  REQUIRE(shell);
  std::vector<std::byte> into(32);
  auto got = shell->read(into, 5);
  REQUIRE(got);
  const std::string pid(reinterpret_cast<const char*>(into.data()), *got - 1);
  const auto alive = [&] {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string number, name, state;
    return (stat >> number >> name >> state) && state != "Z";
  };
  CHECK(alive());
  shell->kill();
  Stopwatch watch;
  while (alive() && watch.seconds() < 5) systemClock().sleep(0.01);
  CHECK_FALSE(alive());
}

TEST_CASE("Keeping off cores leaves one, and children get them all") {
  const int cores = usableCores();
  std::thread([&] {
    std::vector<int> all(1024);
    for (int i = 0; i < 1024; ++i) all[static_cast<std::size_t>(i)] = i;
    CHECK(keepOff(all) == (cores > 1));
    CHECK(usableCores() == 1);
    auto child = Process::start({"nproc"});
    REQUIRE(child);
    CHECK(std::stoi(output(*child)) == cores);
  }).join();
  CHECK(usableCores() == cores);
}

}  // namespace dojo
