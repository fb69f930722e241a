// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runner on the model of the Snitch cluster: harts, transfers, faults, both ways in.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/text.h"
#include "link/link.h"
#include "target/target.h"
#include "transport/device.h"

namespace {

using namespace dojo;
using transport::Call;
using transport::Device;
using transport::Sample;

/// A device and what it is described as.
struct Board {
  target::Target target;
  std::unique_ptr<Device> device;

  explicit Board(const std::string& name) {
    auto loaded = target::load(name);
    REQUIRE(loaded.ok());
    target = *loaded;
    auto way = transport::make(target);
    REQUIRE(way.ok());
    transport::LinkOptions options;
    options.helloSeconds = target.runner.helloSeconds;
    options.answerSeconds = target.runner.answerSeconds;
    options.retrySeconds = 2;
    options.graceSeconds = 5;
    auto opened = Device::open(std::move(*way), options);
    INFO((opened ? std::string() : opened.error().text()));
    REQUIRE(opened.ok());
    device = std::move(*opened);
  }
  std::uint64_t base(const char* region) const {
    const transport::Region* found = device->hello().region(region);
    REQUIRE(found != nullptr);
    return found->base;
  }
};

struct Ran {
  std::string code, text;  ///< Of the error; empty: none.
  std::vector<std::uint64_t> ticks;
};

/// Assembly of the kernel `dojo_kernel`, whose argument points to the data region's base + 256,
/// called with `harts`.
Ran run(Board& board, const std::string& assembly, int harts, double limit = 0.5) {
  std::string module = "declare void @dojo_kernel(ptr)\n";
  module += "module asm \".globl dojo_kernel\"\nmodule asm \".p2align 6\"\n";
  std::size_t at = 0;
  while (at < assembly.size()) {
    const std::size_t end = std::min(assembly.find('\n', at), assembly.size());
    module += "module asm \"" + assembly.substr(at, end - at) + "\"\n";
    at = end + 1;
  }
  const auto object = codegen::compileText(module, board.target);
  INFO((object ? std::string() : object.error().text()));
  REQUIRE(object.ok());
  const auto image = link::place(object->bytes, "dojo_kernel", board.base("code"), 8192,
                                 board.device->hello().services);
  INFO((image ? std::string() : image.error().text()));
  REQUIRE(image.ok());
  const std::uint64_t data = board.base("data");
  const std::array<std::uint32_t, 1> table = {static_cast<std::uint32_t>(data + 256)};
  const Status code = board.device->write(board.base("code"), image->bytes);
  REQUIRE(code.ok());
  REQUIRE(board.device->write(data, std::as_bytes(std::span(table))).ok());
  static std::uint64_t nonce = 0;
  Call call;
  call.nonce = ++nonce;
  call.entry = image->entry;
  call.tables = data;
  call.warmup = 1;
  call.samples = 2;
  call.harts = harts;
  call.limitSeconds = limit;
  Ran out;
  const auto done = board.device->call(call, [&out](const Sample& sample) {
    out.ticks.push_back(sample.ticks);
    return Device::More::yes;
  });
  if (!done) {
    out.code = done.error().code;
    out.text = done.error().text();
  }
  return out;
}

std::vector<std::uint32_t> words(Board& board, std::uint64_t address, std::size_t count) {
  std::vector<std::uint32_t> out(count);
  REQUIRE(board.device->read(address, std::as_writable_bytes(std::span(out))).ok());
  return out;
}

void put(Board& board, std::uint64_t address, const std::vector<std::uint32_t>& values) {
  REQUIRE(board.device->write(address, std::as_bytes(std::span(values))).ok());
}

/// 24 iterations; each stores which hart ran it, and adds a double to its own.
const std::string kParallel = R"(dojo_kernel:
  addi sp, sp, -16
  sw ra, 12(sp)
  lw a1, 0(a0)
  la a0, body
  li a2, 24
  li a3, 0
  call dojo_parallel_for
  lw ra, 12(sp)
  addi sp, sp, 16
  ret
body:
  csrr t0, mhartid
  slli t1, a1, 2
  add t1, a0, t1
  sw t0, 0(t1)
  slli t1, a1, 3
  add t1, a0, t1
  fcvt.d.w ft0, a1
  fsd ft0, 128(t1)
  ret
)";

/// Hart `hart` does what `part` says, the others nothing.
std::string onHart(int hart, const std::string& part) {
  return "dojo_kernel:\n  addi sp, sp, -16\n  sw ra, 12(sp)\n  lw a1, 0(a0)\n  la a0, body\n"
         "  li a2, 8\n  li a3, 0\n  call dojo_parallel_for\n  lw ra, 12(sp)\n  addi sp, sp, 16\n"
         "  ret\nbody:\n  csrr t0, mhartid\n  li t1, " +
         std::to_string(hart) + "\n  bne t0, t1, 9f\n" + part + "9:\n  ret\n";
}

const std::string kNothing = "dojo_kernel:\n  ret\n";
const std::string kLoop =
    "dojo_kernel:\n  li t0, 100\n1:\n  addi t0, t0, -1\n  bnez t0, 1b\n  ret\n";

void runsOn(Board& board, int harts) {
  const std::uint64_t work = board.base("data") + 256;
  put(board, work, std::vector<std::uint32_t>(64, 0xffffffff));
  const Ran ran = run(board, kParallel, harts);
  INFO(ran.text);
  REQUIRE(ran.code.empty());
  const std::vector<std::uint32_t> seen = words(board, work, 24);
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i] == i % static_cast<std::uint32_t>(harts));
  }
  std::array<double, 24> doubles{};
  REQUIRE(board.device->read(work + 128, std::as_writable_bytes(std::span(doubles))).ok());
  for (std::size_t i = 0; i < doubles.size(); ++i) CHECK(doubles[i] == static_cast<double>(i));
}

}  // namespace

TEST_CASE("one core: what is said in HELLO, memory through the back door, cycles") {
  Board board("snitch1");
  CHECK(board.device->hello().harts == 1);
  CHECK(board.device->hello().isa.find("riscv32 m a f d") == 0);
  CHECK(board.device->hello().isa.find("xssr") != std::string::npos);
  const Ran first = run(board, kLoop, 1);
  INFO(first.text);
  REQUIRE(first.ticks.size() == 2);
  CHECK(first.ticks[0] == first.ticks[1]);
  const Ran nothing = run(board, kNothing, 1);
  REQUIRE(nothing.ticks.size() == 2);
  CHECK(first.ticks[1] - nothing.ticks[1] >= 199);
  CHECK(first.ticks[1] - nothing.ticks[1] <= 215);
  const auto frames = board.device->statistics().framesSent;
  put(board, board.base("dram"), {1, 2, 3});
  CHECK(words(board, board.base("dram"), 3) == std::vector<std::uint32_t>{1, 2, 3});
  REQUIRE(board.device->fill(board.base("dram"), 8, std::byte{0x11}).ok());
  CHECK(words(board, board.base("dram"), 3) ==
        std::vector<std::uint32_t>{0x11111111, 0x11111111, 3});
  REQUIRE(board.device->crc(board.base("data"), 4096).ok());
  CHECK(board.device->statistics().framesSent == frames);
  CHECK_FALSE(board.device->write(board.base("stack"), std::as_bytes(std::span(kLoop))).ok());
  runsOn(board, 1);
}

TEST_CASE("eight cores run parts of a loop") {
  Board board("snitch");
  CHECK(board.device->hello().harts == 8);
  for (const int harts : {1, 2, 5, 8}) runsOn(board, harts);
  // The first one also fetches code.
  const std::string again = "  la a0, body\n  li a2, 8\n  li a3, 0\n  call dojo_parallel_for\n";
  std::string twice = onHart(9, "");
  twice.insert(twice.find("  lw ra, 12(sp)"), again);
  const Ran one = run(board, onHart(9, ""), 8);
  const Ran two = run(board, twice, 8);
  REQUIRE(one.ticks.size() == 2);
  REQUIRE(two.ticks.size() == 2);
  INFO("an empty section over 8 harts takes " << two.ticks[1] - one.ticks[1] << " cycles");
  CHECK(two.ticks[1] - one.ticks[1] < 120);
}

TEST_CASE("the DMA engine copies rows between DRAM and TCDM") {
  Board board("snitch1");
  const std::uint64_t dram = board.base("dram") + 1024;
  const std::uint64_t work = board.base("data") + 4096;
  std::vector<std::uint32_t> values(4096);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761U;
  put(board, dram, values);
  put(board, work, std::vector<std::uint32_t>(1024, 0));
  // Five rows of 48 bytes, 256 bytes apart there and 64 here.
  const std::string kernel = "dojo_kernel:\n  addi sp, sp, -16\n  sw ra, 12(sp)\n  li a0, " +
                             std::to_string(work) + "\n  li a1, " + std::to_string(dram) +
                             "\n  li a2, 48\n  li a3, 64\n  li a4, 256\n  li a5, 5\n"
                             "  call dojo_dma_copy2d\n  li a0, " +
                             std::to_string(work + 1024) + "\n  li a1, " +
                             std::to_string(dram + 8192) +
                             "\n  li a2, 100\n  li a5, 1\n  call dojo_dma_copy2d\n"
                             "  call dojo_dma_wait\n  lw ra, 12(sp)\n  addi sp, sp, 16\n  ret\n";
  const Ran ran = run(board, kernel, 1);
  INFO(ran.text);
  REQUIRE(ran.code.empty());
  const std::vector<std::uint32_t> seen = words(board, work, 384);
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(seen[16 * row + i] == (i < 12 ? values[64 * row + i] : 0));
    }
  }
  for (std::size_t i = 0; i < 26; ++i) {
    CHECK(seen[256 + i] == (i < 25 ? values[2048 + i] : 0));
  }
}

TEST_CASE("faults on any hart end the call and leave the device usable") {
  Board board("snitch");
  const Ran before = run(board, kLoop, 1);
  REQUIRE(before.ticks.size() == 2);
  const Ran third = run(board, onHart(3, "  .4byte 0\n"), 8);
  INFO(third.text);
  CHECK(third.code == "run.fault");
  CHECK(third.text.find("an illegal instruction") != std::string::npos);
  CHECK(third.text.find("hart 3") != std::string::npos);
  runsOn(board, 8);
  const Ran bad = run(board, onHart(5, "  li t0, 0x30000001\n  lw t0, 0(t0)\n"), 8);
  INFO(bad.text);
  CHECK(bad.code == "run.fault");
  CHECK(bad.text.find("hart 5") != std::string::npos);
  const Ran own = run(board, onHart(0, "  .4byte 0\n"), 8);
  INFO(own.text);
  CHECK(own.code == "run.fault");
  CHECK(own.text.find("hart 0") != std::string::npos);
  runsOn(board, 8);
  const int restarts = board.device->generation();
  const Ran endless = run(board, onHart(3, "1:\n  j 1b\n"), 8, 0.05);
  INFO(endless.text);
  CHECK(endless.code == "run.timeout");
  CHECK(endless.text.find("hart 3") != std::string::npos);
  CHECK(board.device->generation() == restarts);
  runsOn(board, 8);
  CHECK(run(board, kLoop, 1).ticks == before.ticks);
}

TEST_CASE("a kernel that leaves streams under way costs a restart, not the next kernel") {
  Board board("snitch1");
  const Ran before = run(board, kLoop, 1);
  REQUIRE(before.ticks.size() == 2);
  // A stream of 100 elements of which none is taken, then an illegal instruction.
  const std::string left =
      "  li t0, 99\n  .insn i 0x2b, 2, x0, t0, 64\n  li t0, 8\n  .insn i 0x2b, 2, x0, t0, 192\n"
      "  lw t0, 0(a0)\n  .insn i 0x2b, 2, x0, t0, 768\n  csrsi 0x7c0, 1\n";
  int restarts = board.device->generation();
  const Ran fault = run(board, "dojo_kernel:\n" + left + "  .4byte 0\n", 1);
  INFO(fault.text);
  CHECK(fault.code == "run.fault");
  CHECK(board.device->generation() == ++restarts);
  CHECK(run(board, kLoop, 1).ticks == before.ticks);
  // It asks for more elements than there are: nothing but a restart ends it.
  const std::string wait = left +
                           "  li t1, 199\n  .insn i 0x0b, 0, x1, t1, 0\n"
                           "  fadd.d ft3, ft0, ft0\n  fmv.x.w t0, ft3\n  mv t0, t0\n  ret\n";
  const Ran hung = run(board, "dojo_kernel:\n" + wait, 1, 0.05);
  INFO(hung.text);
  CHECK(hung.code == "run.timeout");
  CHECK(run(board, kLoop, 1).ticks == before.ticks);
}

TEST_CASE("the same kernel takes as many cycles through every way in") {
  std::vector<std::string> ways = {"snitch", "snitch-batch"};
  if (std::system("command -v openocd >/dev/null") == 0) {
    ways.emplace_back("snitch-openocd");
  } else {
    WARN("skipped: openocd isn't installed");
  }
  std::vector<std::uint64_t> loop, fork;
  for (const std::string& way : ways) {
    INFO(way);
    Board board(way);
    const std::uint64_t work = board.base("data") + 256;
    put(board, work, std::vector<std::uint32_t>(96, 0xffffffff));
    const Ran first = run(board, kLoop, 1, 5);
    INFO(first.text);
    REQUIRE(first.ticks.size() == 2);
    const Ran second = run(board, kParallel, 8, 5);
    INFO(second.text);
    REQUIRE(second.ticks.size() == 2);
    CHECK(words(board, work, 24)[23] == 7);
    loop.push_back(first.ticks[0]);
    fork.push_back(second.ticks[0]);
  }
  for (std::size_t i = 1; i < ways.size(); ++i) {
    INFO(ways[i]);
    // A batch runs other code of the runner's between the calls, which leaves other lines of code.
    const std::uint64_t code = ways[i] == "snitch-batch" ? 20 : 0;
    CHECK(loop[i] <= loop[0] + code);
    CHECK(loop[0] <= loop[i] + code);
    CHECK(fork[i] <= fork[0] + code);
    CHECK(fork[0] <= fork[i] + code);
  }
}

TEST_CASE("a model that dies is told apart from a kernel that hangs") {
  Board board("snitch1");
  board.target.runner.command += " --max-cycles 1000";
  auto way = transport::make(board.target);
  REQUIRE(way.ok());
  const auto opened = Device::open(std::move(*way), {.helloSeconds = 2});
  REQUIRE_FALSE(opened.ok());
  INFO(opened.error().text());
  CHECK(opened.error().text().find("exit status 3") != std::string::npos);
}
