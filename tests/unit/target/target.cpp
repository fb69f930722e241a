// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/target.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using dojo::target::load;

/// A folder that is removed again, to write descriptions into.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / fs::path("dojo-target-test" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

const std::string kGood = R"("name": "x", "triple": "riscv64-unknown-elf", "tried_on": "nothing",
  "runner": {"port": "linux", "transport": "command"})";

}  // namespace

TEST_CASE("the host target loads and resolves native values") {
  const auto host = load("host");
  REQUIRE(host.ok());
  CHECK(host->name == "host");
  CHECK(host->harts >= 1);
  CHECK(host->vector.bits >= 128);
  CHECK(host->lanes(4) == host->vector.bits / 32);
  CHECK(host->offersMapping("vector"));
  CHECK_FALSE(host->offersMapping("stream"));
  CHECK(host->hash.size() == 16);
}

TEST_CASE("every shipped target loads under its own name") {
  const auto names = dojo::target::shipped();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    const auto target = load(name);
    INFO((target ? "" : target.error().text()));
    REQUIRE(target.ok());
    CHECK(target->name == name);
  }
}

TEST_CASE("an unknown target names the nearest") {
  const auto missing = load("hots");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == "target.not-found");
  CHECK(missing.error().message.find("did you mean 'host'") != std::string::npos);
}

TEST_CASE("wrong descriptions say file, key and what was expected") {
  const Folder folder;
  struct Row {
    std::string text, code, part;
  };
  const std::vector<Row> rows = {
      {"{", "target.syntax", "not JSON"},
      {"[]", "target.syntax", "expected one JSON object"},
      {std::string("\x00\xff\x7f", 3), "target.syntax", "not JSON"},
      {"{}", "target.missing-key", "key 'name'"},
      {"{" + kGood + R"(, "vectr": 1})", "target.unknown-key", "did you mean 'vector'"},
      {R"({"name": "x", "triplet": "t"})", "target.unknown-key", "did you mean 'triple'"},
      {"{" + kGood + R"(, "vector": 3})", "target.kind", "expected an object, not number"},
      {"{" + kGood + R"(, "vector": {"bits": 100}})", "target.value", "key 'vector.bits'"},
      {"{" + kGood + R"(, "vector": {"bits": "128"}})", "target.value", "an integer, not \"128\""},
      {"{" + kGood + R"(, "harts": -1})", "target.value", "at least 0"},
      {"{" + kGood + R"(, "mappings": ["vektor"]})", "target.value", "did you mean 'vector'"},
      {"{" + kGood + R"(, "memories": [{"origin": 0}]})", "target.missing-key", "memories[0].name"},
      {"{" + kGood + R"(, "memories": [{"name": "a", "origin": 0, "length": 16},
          {"name": "b", "origin": "0x8", "length": 16}]})",
       "target.value", "'a' and 'b'"},
      {"{" + kGood + R"(, "base": "nowhere"})", "target.base", "no target 'nowhere'"},
      {"{" + kGood + R"(, "base": "./bad.json"})", "target.base", "based on each other"},
      {R"({"name": "x", "triple": "t", "tried_on": "nothing"})", "target.value", "key 'runner'"},
  };
  for (const Row& row : rows) {
    const std::string file = folder.write("bad.json", row.text);
    const auto bad = load(file);
    INFO(row.text);
    REQUIRE_FALSE(bad.ok());
    INFO(bad.error().text());
    CHECK(bad.error().code == row.code);
    CHECK(bad.error().message.find(row.part) != std::string::npos);
    CHECK(bad.error().where.find("bad.json") != std::string::npos);
  }
  CHECK(load("/no/such/file.json").error().code == "file.missing");
}

TEST_CASE("a target may extend another, key by key") {
  const Folder folder;
  folder.write("base.json", "{" + kGood + R"(, "vector": {"bits": 128, "fma": true}, "harts": 4})");
  const auto derived = load(folder.write(
      "derived.json", R"({"base": "./base.json", "name": "y", "vector": {"bits": 256}})"));
  REQUIRE(derived.ok());
  CHECK(derived->name == "y");
  CHECK(derived->vector.bits == 256);
  CHECK(derived->vector.fma);
  CHECK(derived->harts == 4);
}
