// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose packed arguments moves have laid out anew: run, tune, replay; what can't be held.
#include "unit/cli/run_dojo.h"

using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::runDojo;

namespace {

constexpr const char* kKernel = R"(kernel projected
in a f32 [16, 24]
in b f32 [24, 32] packed
out y f32 [16, 32]

16
| 32
| | y[{0}, {1}] = 0
| | 24
| | | y[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)";
constexpr const char* kTrace = "split_scope @0.0 8\nsplit_dim b 1 8\nreorder_dims b 1 0\n";
constexpr const char* kNote =
    "the caller packs b, which isn't counted: in b f32 [4, 24, 8] packed [8, 32, 1]\n";

}  // namespace

TEST_CASE("a packed argument in another layout is measured, and what its caller does is said") {
  Folder folder;
  folder.write("k.dojo", kKernel);
  folder.write("k.trace", kTrace);
  const std::string file = folder / "k.dojo";
  const auto plain = runDojo({"run", file});
  CHECK(plain.code == 0);
  CHECK(plain.out.find("packs") == std::string::npos);
  const auto text = runDojo({"run", file, "--trace", folder / "k.trace"});
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(text.out.find("verified") != std::string::npos);
  CHECK(text.out.find(kNote) != std::string::npos);
  const auto lines = jsonLines(runDojo({"run", file, "--trace", folder / "k.trace", "--json"}).out);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["packed"]["b"] == "in b f32 [4, 24, 8] packed [8, 32, 1]");
  CHECK(lines[0]["compared"].get<int>() >= 2 * 16 * 32);

  // From a start where it is packed already: all trials have the layout.
  const std::string log = folder / "log.db";
  const auto tuned = runDojo(
      {"tune", file, "--trace", folder / "k.trace", "--trials", "12", "--no-expert", "--log", log});
  INFO(tuned.out << tuned.err);
  CHECK(tuned.code == 0);
  CHECK(tuned.out.find("the caller packs b") != std::string::npos);
  const auto again = runDojo({"replay", "2", "--log", log, "--json"});
  const auto replayed = jsonLines(again.out);
  INFO(again.out << again.err);
  REQUIRE(replayed.size() == 1);
  CHECK(replayed[0]["packed"].contains("b"));
  CHECK(replayed[0].contains("measured"));
}

TEST_CASE("what the device can't hold is refused before references are computed") {
  Folder folder;
  // 4 TB, which fit no device; the interpreter would take days.
  folder.write("big.dojo", R"(kernel big
out y f32 [64]
tmp t f32 [1048576, 262144]

1048576
| 16384
| | t[{0}, {1}] = 0
64
| y[{0}] = t[{0}, {0}]
)");
  const auto big = runDojo({"run", folder / "big.dojo"});
  CHECK(big.code == 1);
  CHECK(big.err.find("need at least 1099511") != std::string::npos);
  CHECK(big.err.find("and there are ") != std::string::npos);
  std::string many = "kernel many\nout y f32 []\n", body;
  for (int i = 0; i < 140; ++i) {
    const std::string name = "b" + std::to_string(i);
    many += "tmp " + name + " f32 []\n";
    body += name + " = 1\ny = " + name + "\n";
  }
  folder.write("many.dojo", many + body);
  const auto refused = runDojo({"run", folder / "many.dojo"});
  CHECK(refused.code == 1);
  CHECK(refused.err.find("the kernel has 141 buffers, and 128 can be passed") != std::string::npos);
}
