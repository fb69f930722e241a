// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What candidates do to a real runner, and that the next one runs.
#include <filesystem>
#include <fstream>
#include <thread>

#include <signal.h>

#include "base/clock.h"
#include "support.h"

namespace dojo::transport {
namespace {

std::vector<int> children() {
  std::vector<int> pids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (int pid = 0; list >> pid;) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

TEST_CASE("The runner says what it is") {
  Bench bench(nativeTransport());
  const Hello& hello = bench.device->hello();
  CHECK(hello.version == 1);
  CHECK(hello.port == "linux");
  CHECK(hello.isa.starts_with("x86-64"));
  CHECK(hello.harts >= 1);
  CHECK(hello.cores.size() == static_cast<std::size_t>(hello.harts));
  CHECK(hello.timerHz > 1e8);
  CHECK(hello.chainCycles > 0);
  CHECK(hello.services.contains("dojo_parallel_for"));
  REQUIRE(hello.counter(0) != nullptr);
  CHECK(hello.counter(0)->name == "tsc");
  CHECK(hello.counter(0)->width == 64);
  for (const CounterInfo& counter : hello.counters) {
    INFO(counter.name);
    CHECK((counter.width > 0) == counter.remark.empty());
  }
}

TEST_CASE("Memory is the same through frames and through a shared file") {
  const std::string command = GENERATE(kShared, kPrivate);
  Bench bench(nativeTransport(command));
  std::vector<std::byte> data(200001), back(200001);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * i >> 3);
  const std::uint64_t at = bench.buffer + 3;
  REQUIRE(bench.device->write(at, data));
  REQUIRE(bench.device->read(at, back));
  CHECK(back == data);
  auto first = bench.device->crc(at, data.size());
  REQUIRE(first);
  REQUIRE(bench.device->fill(at + 100, 5, std::byte{0xee}));
  auto second = bench.device->crc(at, data.size());
  REQUIRE(second);
  CHECK(*first != *second);
  CHECK(bench.device->view(at, 8).empty() == (command == kPrivate));
  const Status outside = bench.device->write(0x1000, data);
  REQUIRE_FALSE(outside);
  CHECK(outside.error().code == "load.memory");
  CHECK(bench.device->ping());
}

TEST_CASE("A kernel is called as often as asked") {
  Bench bench(nativeTransport(GENERATE(kShared, kPrivate)));
  Call call;
  call.warmup = 3;
  call.calls = 10;
  call.samples = 200;  // more than the window
  call.chain = true;
  std::vector<Sample> samples;
  auto done = bench.run(kIncrement, call, [&](const Sample& sample) {
    samples.push_back(sample);
    return Device::More::yes;
  });
  INFO((done ? "" : done.error().text()));
  REQUIRE(done);
  CHECK(done->samples == 200);
  CHECK(done->end == CallEnd::complete);
  CHECK(counterOf(bench) == 3 + 10 * 200);
  REQUIRE(samples.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) {
    CHECK(samples[i].index == i);
    CHECK(samples[i].calls == 10);
    CHECK(samples[i].ticks > 0);
    CHECK(samples[i].chain > 1000);
  }
}

TEST_CASE("The runner finds the calls that fill a sample, stops by budget and by request") {
  Bench bench(nativeTransport());
  Call call;
  call.calls = 0;
  call.minTicks = static_cast<std::uint32_t>(20e-6 * bench.device->hello().timerHz);
  call.samples = 10;
  auto done = bench.run(kIncrement, call, [&](const Sample& sample) {
    CHECK(sample.ticks > call.minTicks / 4);
    return Device::More::yes;
  });
  REQUIRE(done);
  CHECK(done->calls > 1000);

  call.samples = 60000;
  call.minSamples = 3;
  call.budgetSeconds = 0.02;
  done = bench.run(kIncrement, call);
  REQUIRE(done);
  CHECK(done->end == CallEnd::budget);
  CHECK(done->samples >= 3);

  call.budgetSeconds = 0;
  std::uint32_t seen = 0;
  done = bench.run(kIncrement, call, [&](const Sample&) {
    return ++seen == 5 ? Device::More::no : Device::More::yes;
  });
  REQUIRE(done);
  CHECK(done->end == CallEnd::aborted);
  CHECK(done->samples < 60000);
  CHECK(done->samples == seen);
}

TEST_CASE("inout buffers are restored before every sample") {
  Bench bench(nativeTransport(GENERATE(kShared, kPrivate)));
  const std::uint64_t pristine = bench.buffer + 64, list = bench.buffer + 128;
  REQUIRE(bench.device->fill(pristine, 8, std::byte{1}));
  std::vector<std::byte> entry;
  for (const std::uint64_t word : {bench.buffer, pristine, std::uint64_t{8}}) {
    for (int i = 0; i < 8; ++i) entry.push_back(static_cast<std::byte>(word >> (8 * i)));
  }
  REQUIRE(bench.device->write(list, entry));
  Call call;
  call.restore = list;
  call.restores = 1;
  call.calls = 7;
  call.samples = 5;
  REQUIRE(bench.run(kIncrement, call));
  CHECK(counterOf(bench) == 0x0101010101010101 + 7);
  call.restore = 16;
  CHECK(bench.verdict(kIncrement, call) == "run.refused");
}

TEST_CASE("Kernels that misbehave end in their class, and the next one runs") {
  struct Case {
    const char* name;
    Code kernel;
    std::string code;
    std::string says;
    bool restart;
  };
  const std::vector<Case> cases = {
      {"illegal", code({0x0f, 0x0b}), "run.fault", "illegal instruction", false},
      {"null", code({0x31, 0xc0, 0xc6, 0x00, 0x01, 0xc3}), "run.fault", "bad memory access", false},
      {"divide", code({0x31, 0xc9, 0x31, 0xd2, 0xf7, 0xf1, 0xc3}), "run.fault", "arithmetic",
       false},
      {"breakpoint", code({0xcc, 0xc3}), "run.fault", "trap", false},
      {"forever", kForever, "run.timeout", "didn't return within 0.1 s", false},
      // mov rax, [rdi]; jmp rax: into its data
      {"data", code({0x48, 0x8b, 0x07, 0xff, 0xe0}), "run.fault", "bad memory access", false},
      // 4 KiB of 0xff from the stack pointer up: its caller's frames, and its own return address
      {"smash",
       code({0x48, 0x89, 0xe0, 0xb9, 0x00, 0x10, 0x00, 0x00, 0xc6, 0x00, 0xff, 0x48, 0xff, 0xc0,
             0xff, 0xc9, 0x75, 0xf6, 0xc3}),
       "run.crash", "canary", true},
      // mov dword [rsp+24], 0; ret
      {"canary", code({0xc7, 0x44, 0x24, 0x18, 0, 0, 0, 0, 0xc3}), "run.crash", "canary", true},
      // pop rax; sub rsp, 64; jmp rax
      {"moved", code({0x58, 0x48, 0x83, 0xec, 0x40, 0xff, 0xe0}), "run.fault",
       "stack pointer moved", false},
      // endless recursion
      {"recursion", code({0xe8, 0xfb, 0xff, 0xff, 0xff}), "run.fault", "bad memory access", false},
      // getpid
      {"system call", code({0xb8, 0x27, 0, 0, 0, 0x0f, 0x05, 0xc3}), "run.fault", "system call",
       false},
      // xor esp, esp; push rax
      {"no stack", code({0x31, 0xe4, 0x50, 0xc3}), "run.fault", "bad memory access", false},
      // every register that must survive is lost, direction flag set, and it returns
      {"registers",
       code({0x31, 0xdb, 0x31, 0xed, 0x4d, 0x31, 0xe4, 0x4d, 0x31, 0xed, 0x4d, 0x31, 0xf6, 0x4d,
             0x31, 0xff, 0xfd, 0xc3}),
       "ok", "", false},
      // mov byte [0x401000], 0: the runner's own code
      {"code", code({0xc6, 0x04, 0x25, 0x00, 0x10, 0x40, 0x00, 0x00, 0xc3}), "run.fault",
       "bad memory access", false},
  };
  const std::string command = GENERATE(kShared, kPrivate);
  Bench bench(nativeTransport(command));
  for (const Case& c : cases) {
    INFO(c.name);
    Call call;
    call.limitSeconds = c.kernel == kForever ? 0.1 : 2;
    const int before = bench.device->generation();
    CHECK(bench.verdict(c.kernel, call) == c.code);
    INFO(bench.message);
    CHECK(bench.message.find(c.says) != std::string::npos);
    CHECK((bench.device->generation() != before) == c.restart);
    REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
    CHECK(bench.verdict(kIncrement, call) == "ok");
    CHECK(counterOf(bench) == 1);
  }
}

TEST_CASE("A fault names the call it came from, and the samples before it are kept") {
  Bench bench(nativeTransport());
  REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
  // mov rax, [rdi]; inc qword [rax]; cmp qword [rax], 25; jne +2; ud2; ret
  const Code at25 = code(
      {0x48, 0x8b, 0x07, 0x48, 0xff, 0x00, 0x48, 0x83, 0x38, 0x19, 0x75, 0x02, 0x0f, 0x0b, 0xc3});
  Call call;
  call.calls = 10;
  call.samples = 10;
  std::size_t samples = 0;
  auto done = bench.run(at25, call, [&](const Sample&) {
    ++samples;
    return Device::More::yes;
  });
  REQUIRE_FALSE(done);
  CHECK(samples == 2);
  CHECK(done.error().message.find("sample 2, call 4") != std::string::npos);
}

TEST_CASE("Parallel work is spread, and a fault in any hart is the kernel's") {
  Bench bench(nativeTransport());
  const Hello& hello = bench.device->hello();
  const std::uint64_t service = hello.services.at("dojo_parallel_for");
  // Body at +64: (context, i): lock inc qword [rdi]; ret, or a fault where i is 7.
  const auto kernel = [&](Code body) {
    // mov rsi, [rdi]; lea rdi, [rip+X]; mov edx, 64; mov rax, service; jmp rax
    Code out =
        code({0x48, 0x8b, 0x37, 0x48, 0x8d, 0x3d, 64 - 10, 0, 0, 0, 0xba, 64, 0, 0, 0, 0x48, 0xb8});
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(service >> (8 * i)));
    out.push_back(std::byte{0xff});
    out.push_back(std::byte{0xe0});
    out.resize(64, std::byte{0xcc});
    out.insert(out.end(), body.begin(), body.end());
    return out;
  };
  const Code count = code({0xf0, 0x48, 0xff, 0x07, 0xc3});
  for (int harts = 1; harts <= hello.harts; ++harts) {
    Call call;
    call.harts = harts;
    call.calls = 50;
    call.samples = 20;
    call.limitSeconds = 5;
    REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
    INFO(harts);
    CHECK(bench.verdict(kernel(count), call) == "ok");
    INFO(bench.message);
    CHECK(counterOf(bench) == 64 * 50 * 20);
    for (const int bad : {0, 7, 63}) {
      // cmp esi, bad; jne +2; ud2; ret
      CHECK(bench.verdict(kernel(code({0x83, 0xfe, bad, 0x75, 0x02, 0x0f, 0x0b, 0xc3})), call) ==
            "run.fault");
      CHECK(bench.message.find("illegal") != std::string::npos);
      // cmp esi, bad; je -5 (for ever)
      call.limitSeconds = 0.1;
      CHECK(bench.verdict(kernel(code({0x83, 0xfe, bad, 0x74, 0xfb, 0xc3})), call) ==
            "run.timeout");
      call.limitSeconds = 5;
      CHECK(bench.verdict(kernel(count), call) == "ok");
    }
    CHECK(bench.device->generation() == 0);
  }
  Call call;
  call.harts = hello.harts + 1;
  CHECK(bench.verdict(kIncrement, call) == "run.refused");
}

TEST_CASE("A runner killed in mid-call costs that call alone") {
  Bench bench(nativeTransport(GENERATE(kShared, kPrivate)));
  Call call;
  call.limitSeconds = 5;
  const std::vector<int> pids = children();
  REQUIRE(pids.size() == 1);
  std::thread killer([&] {
    systemClock().sleep(0.1);
    kill(pids[0], SIGKILL);
  });
  Stopwatch watch;
  CHECK(bench.verdict(kForever, call) == "run.crash");
  killer.join();
  CHECK(watch.seconds() < 2);
  CHECK(bench.message.find("signal 9") != std::string::npos);
  CHECK(bench.device->generation() == 1);
  REQUIRE(bench.device->fill(bench.buffer, 8, std::byte{0}));
  CHECK(bench.verdict(kIncrement) == "ok");
  CHECK(counterOf(bench) == 1);

  // Between calls.
  kill(children().at(0), SIGKILL);
  systemClock().sleep(0.02);
  CHECK(bench.verdict(kIncrement) != "ok");
  CHECK(bench.verdict(kIncrement) == "ok");
}

TEST_CASE("A runner that stops answering is replaced after the limit") {
  Bench bench(nativeTransport(), {.graceSeconds = 0.2});
  const int pid = children().at(0);
  kill(pid, SIGSTOP);
  Call call;
  call.limitSeconds = 0.2;
  Stopwatch watch;
  CHECK(bench.verdict(kIncrement, call) == "run.timeout");
  CHECK(watch.seconds() < 2);
  CHECK(bench.verdict(kIncrement, call) == "ok");
}

namespace {

/// This process is stopped for longer than any limit, just after it sent something.
class Stopped : public Transport, public Clock {
 public:
  explicit Stopped(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  double now() override { return systemClock().now() + slept_; }
  void sleep(double seconds) override { systemClock().sleep(seconds); }
  Status open() override { return inner_->open(); }
  Status send(std::span<const std::byte> bytes, double seconds) override {
    Status sent = inner_->send(bytes, seconds);
    if (stop) {
      systemClock().sleep(0.3);
      slept_ += 1000;
    }
    return sent;
  }
  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    return inner_->receive(into, seconds);
  }
  Status recover() override { return inner_->recover(); }
  SharedMemory shared() override { return inner_->shared(); }
  std::string describe() const override { return inner_->describe(); }

  bool stop = false;

 private:
  std::unique_ptr<Transport> inner_;
  double slept_ = 0;
};

}  // namespace

TEST_CASE("An answer that came while we were stopped counts") {
  auto owned = std::make_unique<Stopped>(nativeTransport());
  Stopped& stopped = *owned;
  auto device = Device::open(std::move(owned), {}, stopped);
  REQUIRE(device);
  stopped.stop = true;
  CHECK((*device)->ping());
  Call call;
  call.entry = (*device)->hello().services.at("dojo_empty_kernel");
  call.tables = (*device)->hello().region("data")->base;
  call.samples = 3;
  call.nonce = 1;
  auto done = (*device)->call(call, {});
  INFO((done ? "" : done.error().text()));
  REQUIRE(done);
  CHECK(done->samples == 3);
  CHECK((*device)->generation() == 0);
}

TEST_CASE("The first error is the error shown, at once") {
  struct Case {
    std::string command;
    std::string code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"/nowhere/dojo-runner --x", "link.start",
       "can't start '/nowhere/dojo-runner': No such file or directory"},
      {DOJO_SOURCE_DIR "/CMakeLists.txt", "link.start", "Permission denied"},
      {"", "link.start", "empty"},
      {"'unclosed", "link.start", "never closed"},
      {"sh -c 'echo no such board >&2; exit 3'", "link.closed", "exit status 3"},
      {"sh -c 'echo no such board >&2; exit 3'", "link.closed", "no such board"},
      {"{runner} --bogus", "link.closed", "unknown option"},
      {"sleep 60", "link.timeout", "waited 0.5 s for the answer to HELLO"},
      {"sh -c 'while echo booting; do sleep 0.01; done'", "link.timeout", "HELLO"},
  };
  for (const Case& c : cases) {
    INFO(c.command);
    Stopwatch watch;
    auto device = Device::open(nativeTransport(c.command), {.helloSeconds = 0.5});
    REQUIRE_FALSE(device);
    INFO(device.error().text());
    CHECK(device.error().code == c.code);
    CHECK(device.error().text().find(c.says) != std::string::npos);
    CHECK(watch.seconds() < 2);
  }
}

TEST_CASE("Console text before and around the runner doesn't matter") {
  Bench bench(nativeTransport(
      "sh -c 'printf \"U-Boot 2024\\r\\nStarting\\0kernel...\\n\"; exec \"$0\" \"$@\"' " +
      kPrivate));
  CHECK(bench.verdict(kIncrement) == "ok");
}

}  // namespace dojo::transport
