// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vendors' instructions in target files: what is read, and what is refused with file and key.
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "target/target.h"

namespace {

namespace fs = std::filesystem;
using dojo::target::load;

/// A description with these instructions, loaded.
dojo::Result<dojo::target::Target> described(const std::string& instructions) {
  const fs::path file =
      fs::temp_directory_path() / ("dojo-instructions-test" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << R"({"name": "x", "triple": "riscv32-unknown-elf", "tried_on": "nothing",
  "features": "+m,+f", "runner": {"port": "linux", "transport": "command"},
  "instructions": [)" << instructions
                      << "]}";
  auto out = load(file.string());
  fs::remove(file);
  return out;
}

const std::string kFragment =
    R"("fragment": "kernel dot\ninout s i32 []\nin a i8 [4]\nin b i8 [4]\n4\n| s[] += a[{0}] * b[{0}]\n")";
const std::string kAssembly = R"("assembly": ".insn r 0x5b, 0, 0, {s}, {a}, {b}")";

std::string dot(const std::string& rest, const std::string& fragment = kFragment,
                const std::string& assembly = kAssembly) {
  return R"({"name": "dot", )" + fragment + ", " + assembly + rest + "}";
}

}  // namespace

TEST_CASE("an instruction is read with its operands, those that are written first") {
  const auto target = described(dot(R"(, "constraints": {"a": "r"}, "cost": 2)"));
  INFO((target ? "" : target.error().text()));
  REQUIRE(target.ok());
  const auto* made = target->instruction("dot");
  REQUIRE(made != nullptr);
  CHECK(target->instruction("dop") == nullptr);
  REQUIRE(made->fragment.operands.size() == 3);
  CHECK(made->fragment.operands[0].name == "s");
  CHECK(made->constraints == std::vector<std::string>{"r", "r", "r"});
  CHECK(made->cost == 2);
}

TEST_CASE("an instruction that needs what the target doesn't have isn't there") {
  const auto target = described(dot(R"(, "needs": ["m", "xvendor"])"));
  REQUIRE(target.ok());
  CHECK(target->instructions.empty());
  CHECK(described(dot(R"(, "needs": ["m"])"))->instructions.size() == 1);
}

TEST_CASE("wrong instructions say file, key and what was expected") {
  struct Row {
    std::string text, key, part;
  };
  const auto fragment = [](const std::string& text) { return R"("fragment": ")" + text + '"'; };
  const std::vector<Row> rows = {
      {R"({"name": "dot"})", "instructions[0].fragment", "text"},
      {dot("", fragment("kernel dot")), "instructions[0].fragment", "no tree"},
      {dot("", fragment(R"(kernel dot\nin x i8 []\nout y i8 []\ny[] = x[] if 0 in [0, 1)\n)")),
       "instructions[0].fragment", "guards"},
      {dot("", fragment(R"(kernel dot\nin x i8 []\nout y i8 []\ny[] += x[]\n)")),
       "instructions[0].fragment", "y"},
      {dot("", fragment(R"(kernel other\nin x i8 []\nout y i8 []\ny[] = x[]\n)")),
       "instructions[0].fragment", "kernel dot"},
      {dot("", kFragment, R"("assembly": "dot {s}, {a}")"), "instructions[0].assembly", "{b}"},
      {dot("", kFragment, R"("assembly": "dot {s}, {a}, {b}, {c}")"), "instructions[0].assembly",
       "{c}"},
      {dot("", kFragment, R"("assembly": "dot {s}, {a}, {b")"), "instructions[0].assembly",
       "twice"},
      {dot(R"(, "constraints": {"c": "r"})"), "instructions[0].constraints.c", "operand"},
      {dot(R"(, "constraints": {"a": "q"})"), "instructions[0].constraints.a", "one of r, f"},
      {dot(R"(, "constraints": {"s": "m"})"), "instructions[0].constraints.s", "written"},
      {dot(R"(, "constraints": {"a": "v"})"), "instructions[0].constraints.a", "power of two"},
      {dot("", fragment(R"(kernel dot\nin x i8 [8]\nout y i8 [8]\n8\n| y[{0}] = x[{0}]\n)"),
           R"("assembly": "mv {y}, {x}")"),
       "instructions[0].constraints.y", "at most 4 bytes"},
      {dot("") + ", " + dot(""), "instructions[1].name", "distinct"},
      {dot(R"(, "price": 3)"), "instructions[0].price", "no such key"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto target = described(row.text);
    REQUIRE_FALSE(target.ok());
    INFO(target.error().text());
    CHECK(target.error().where.find(".json") != std::string::npos);
    CHECK(target.error().text().find(row.key) != std::string::npos);
    CHECK(target.error().text().find(row.part) != std::string::npos);
  }
}
