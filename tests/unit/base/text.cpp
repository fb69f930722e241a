// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text.h"

#include <cstdio>

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
}

TEST_CASE("errors and stages have names") {
  const dojo::Error error{"a.b", "it broke", "f:1", "  ^"};
  CHECK(error.text() == "f:1: it broke [a.b]\n  ^");
  CHECK(dojo::name(dojo::Stage::verify) == "verify");
}
