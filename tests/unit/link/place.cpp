// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>

#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "link/link.h"
#include "run_here/run_here.h"

namespace dojo::test {
namespace {

struct Compiled {
  ir::Program program;
  codegen::Object object;
};

Compiled compiled(std::string_view text) {
  Compiled result;
  result.program = ir::parse(text).value().program;
  result.object = codegen::compile(result.program, target::load("host").value()).value();
  return result;
}

/// Has constants in memory: lane numbers, and coefficients.
constexpr std::string_view kConstants = R"(kernel constants
in  x f32 [40]
out y f32 [40]
out z i64 [40]

40:vector
| y[{0}] = exp(x[{0}]) * 0.7
| z[{0}] = 3*{0} + 5
)";

constexpr std::string_view kParallel = R"(kernel parallel
in  x f32 [9]
out y f32 [9]

9:parallel
| y[{0}] = x[{0}] + 1
)";

constexpr std::uint64_t kRoom = 1 << 16;

}  // namespace

TEST_CASE("code and its constants run where they were placed") {
  const Compiled kernel = compiled(kConstants);
  const auto inputs = ir::makeInputs(kernel.program, ir::InputSet::uniform, 7);
  const auto expected = ir::interpret(kernel.program, inputs).value();
  const auto loaded = Loaded::load(kernel.object.bytes);
  REQUIRE(loaded.ok());
  const CallBuffers buffers(kernel.program, inputs);
  loaded->call(buffers.pointers());
  CHECK(buffers.guardsIntact());
  CHECK(buffers.arguments()[2] == expected[2]);
  for (std::int64_t i = 0; i < 40; ++i) {
    CHECK(ir::loadAsDouble(buffers.arguments()[1], i) ==
          Approx(ir::loadAsDouble(expected[1], i)).epsilon(1e-6));
  }
}

TEST_CASE("an image starts at its base and holds its entry") {
  const Compiled kernel = compiled(kConstants);
  for (const std::uint64_t base : {std::uint64_t{0x10000}, std::uint64_t{0x7f1234560000}}) {
    const auto image = link::place(kernel.object.bytes, codegen::kEntry, base, kRoom, {});
    REQUIRE(image.ok());
    CHECK(image->base == base);
    CHECK(image->entry >= base);
    CHECK(image->entry < base + image->bytes.size());
    CHECK(image->bytes.size() < kRoom);
  }
}

TEST_CASE("the same object gives the same image") {
  const Compiled kernel = compiled(kConstants);
  const auto once = link::place(kernel.object.bytes, codegen::kEntry, 0x10000, kRoom, {});
  const auto again = link::place(kernel.object.bytes, codegen::kEntry, 0x10000, kRoom, {});
  REQUIRE((once.ok() && again.ok()));
  CHECK(once->bytes == again->bytes);
}

TEST_CASE("services may be anywhere") {
  const Compiled kernel = compiled(kParallel);
  for (const std::uint64_t service : {std::uint64_t{0x2000}, std::uint64_t{0x7fffffff0000}}) {
    const auto image = link::place(kernel.object.bytes, codegen::kEntry, 0x10000, kRoom,
                                   {{"dojo_parallel_for", service}});
    CHECK(image.ok());
  }
}

TEST_CASE("RISC-V calls go straight to a service that they reach") {
  const ir::Program program = ir::parse(kParallel).value().program;
  const target::Target target = target::load("snitch").value();
  const codegen::Object object = codegen::compile(program, target).value();
  constexpr std::uint64_t kBase = 0x80010000;
  constexpr std::uint64_t kService = 0x800003e0;
  const link::Image image =
      link::place(object.bytes, codegen::kEntry, kBase, kRoom, {{"dojo_parallel_for", kService}})
          .value();
  std::vector<std::uint32_t> words(image.bytes.size() / 4);
  std::memcpy(words.data(), image.bytes.data(), words.size() * 4);
  int calls = 0;
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    // auipc and jalr by one register, the return address in ra
    if ((words[k] & 0x7f) != 0x17 || (words[k + 1] & 0x707f) != 0x67) continue;
    if ((words[k + 1] >> 7 & 31) != 1) continue;
    const auto high = static_cast<std::int32_t>(words[k] & 0xfffff000);
    const auto low = static_cast<std::int32_t>(words[k + 1]) >> 20;
    CHECK(static_cast<std::uint32_t>(kBase + 4 * k) + static_cast<std::uint32_t>(high + low) ==
          kService);
    ++calls;
  }
  CHECK(calls == 1);
}

TEST_CASE("what can't be placed") {
  const Compiled kernel = compiled(kParallel);
  const auto missing = link::place(kernel.object.bytes, codegen::kEntry, 0x10000, kRoom, {});
  REQUIRE(!missing.ok());
  CHECK(missing.error().code == "link.undefined");
  CHECK_THAT(missing.error().message, Catch::Contains("dojo_parallel_for"));

  const auto noEntry =
      link::place(kernel.object.bytes, "nothing", 0x10000, kRoom, {{"dojo_parallel_for", 0x2000}});
  REQUIRE(!noEntry.ok());
  CHECK(noEntry.error().code == "link.undefined");
  CHECK_THAT(noEntry.error().message, Catch::Contains("nothing"));

  const auto small =
      link::place(compiled(kConstants).object.bytes, codegen::kEntry, 0x10000, 16, {});
  REQUIRE(!small.ok());
  CHECK(small.error().code == "link.size");
  CHECK_THAT(small.error().message, Catch::Contains("16"));

  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{200}}) {
    const std::vector<std::byte> garbage(size, std::byte{0x7f});
    const auto broken = link::place(garbage, codegen::kEntry, 0x10000, kRoom, {});
    REQUIRE(!broken.ok());
    CHECK(broken.error().code == "link.object");
  }
  std::vector<std::byte> cut = kernel.object.bytes;
  cut.resize(cut.size() / 2);
  const auto truncated = link::place(cut, codegen::kEntry, 0x10000, kRoom, {});
  REQUIRE(!truncated.ok());
  CHECK(truncated.error().code == "link.object");
}

}  // namespace dojo::test
