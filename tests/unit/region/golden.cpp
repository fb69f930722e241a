// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files in golden/ hold a program and the assembly of its region, or why it is refused.
// DOJO_GOLDEN=update writes what comes out.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "region/region.h"

namespace dojo {
namespace {

const std::string kFolder = std::string(DOJO_SOURCE_DIR) + "/tests/unit/region/golden";
const std::string kBetween = "----\n";

bool updating() {
  const char* value = std::getenv("DOJO_GOLDEN");
  return value != nullptr && std::string_view(value) == "update";
}

std::string name(const region::Input& input, const ir::Program& program) {
  if (const auto* base = std::get_if<region::Base>(&input.what)) {
    return program.buffer(base->buffer).name;
  }
  if (const auto* number = std::get_if<region::Number>(&input.what)) {
    std::string text = number->index.isGather() ? program.buffer(number->index.gather).name
                                                : ir::printAffine(number->index.affine);
    if (number->index.isGather()) {
      for (const ir::Affine& each : number->index.gatherIndices) {
        text += fmt::format("[{}]", ir::printAffine(each));
      }
    }
    return number->fold > 0 ? fmt::format("({}) mod {}", text, number->fold) : text;
  }
  if (const auto* real = std::get_if<region::Real>(&input.what)) {
    return fmt::format("{}", real->value);
  }
  return "scratch";
}

std::string compiled(const ir::Program& program, const target::Target& target) {
  std::string out;
  for (const ir::Path& path : region::regions(program, target)) {
    const Result<region::Code> code = region::compile(program, path, target);
    if (!code) return code.error().text() + "\n";
    for (const region::Input& input : code->inputs) {
      out += fmt::format("# {} = {}\n", input.reg, name(input, program));
    }
    out += code->text;
  }
  return out;
}

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("regions become the assembly that golden files hold") {
  const Result<target::Target> target = target::load("snitch");
  REQUIRE(target.ok());
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    INFO(file.string());
    const std::string text = read(file);
    const std::size_t between = text.find(kBetween);
    const std::string source = text.substr(0, between);
    const auto parsed = ir::parse(source);
    CHECK((parsed.ok() ? "" : parsed.error().text()) == std::string());
    if (!parsed) continue;
    const Status valid = ir::check(parsed->program);
    CHECK((valid.ok() ? "" : valid.error().text()) == std::string());
    const std::string got = compiled(parsed->program, *target);
    if (updating()) {
      std::ofstream(file) << ir::print(parsed->program) << kBetween << got;
      continue;
    }
    REQUIRE(between != std::string::npos);
    CHECK(text.substr(between + kBetween.size()) == got);
  }
}

}  // namespace dojo
