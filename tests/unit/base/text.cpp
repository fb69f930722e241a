// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text.h"

#include <cstdio>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/outcome.h"

TEST_CASE("nearest finds likely slips only") {
  const std::vector<std::string> names = {"split_scope", "swap_scopes", "hoist", "sink"};
  CHECK(dojo::nearest("split_scop", names) == "split_scope");
  CHECK(dojo::nearest("hosit", names) == "hoist");
  CHECK_FALSE(dojo::nearest("vectorize", names).has_value());
  CHECK_FALSE(dojo::nearest("x", names).has_value());
  CHECK(dojo::didYouMean("sinc", names) == "; did you mean 'sink'?");
}

TEST_CASE("files are read whole and written whole or not at all") {
  const std::string path = std::string(DOJO_BINARY_DIR) + "/text-test.txt";
  REQUIRE(dojo::writeFile(path, "abc\n").ok());
  CHECK(dojo::readFile(path).value() == "abc\n");
  CHECK(dojo::readFile(path, 2).error().code == "file.too-large");
  CHECK(dojo::readFile("/").error().code == "file.unreadable");
  CHECK(dojo::readFile("/no/such").error().code == "file.missing");
  CHECK(dojo::writeFile("/no/such/place", "x").error().code == "file.unwritable");
  std::remove(path.c_str());
  // What isn't a file stays what it is.
  CHECK(dojo::writeFile("/dev/null", "x").ok());
  CHECK(dojo::writeFile("/dev/full", "x").error().code == "file.unwritable");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(std::filesystem::is_character_file("/dev/full"));
  // Where it fails in the middle, nothing is left.
  const auto failing = [](std::FILE* file) -> dojo::Status {
    std::fputs("half", file);
    return dojo::Error{"a.b", "no"};
  };
  CHECK(dojo::writeFile(path, failing).error().code == "a.b");
  CHECK(dojo::readFile(path).error().code == "file.missing");
}

TEST_CASE("what is quoted can be printed and is short") {
  CHECK(dojo::printable("a\tb\n") == "a\tb\n");
  CHECK(dojo::printable(std::string_view("\x1b[2J\0", 5)) == "\\x1b[2J\\x00");
  const std::string cut = dojo::printable(std::string(1 << 20, 'x') + "end");
  CHECK(cut.size() < 1100);
  CHECK(cut.find(" ... ") != std::string::npos);
  CHECK(cut.substr(cut.size() - 3) == "end");
}

TEST_CASE("errors and stages have names") {
  const dojo::Error error{"a.b", "it broke", "f:1", "  ^"};
  CHECK(error.text() == "f:1: it broke [a.b]\n  ^");
  CHECK(dojo::name(dojo::Stage::verify) == "verify");
}
