// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// targets/schema.json says what the loader takes: no more and no less.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "target/target.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

Json read(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

fs::path folder() { return fs::path(DOJO_SOURCE_DIR) / "targets"; }

/// "" where the document is as the schema says.
std::string judge(const Json& document) {
  static const Json text = read(folder() / "schema.json");
  static const auto schema = [] {
    auto made = std::make_unique<valijson::Schema>();
    valijson::SchemaParser parser;
    const Adapter adapter(text);
    parser.populateSchema(adapter, *made);
    return made;
  }();
  valijson::Validator validator;
  valijson::ValidationResults results;
  const Adapter adapter(document);
  if (validator.validate(*schema, adapter, &results)) return "";
  valijson::ValidationResults::Error error;
  std::string out = "refused";
  while (results.popError(error)) {
    out += ": ";
    for (const std::string& part : error.context) out += part;
    out += " " + error.description;
  }
  return out;
}

dojo::Result<dojo::target::Target> load(const Json& document) {
  const fs::path path = fs::temp_directory_path() / "dojo-schema-test.json";
  std::ofstream(path) << document.dump();
  auto loaded = dojo::target::load(path.string());
  fs::remove(path);
  return loaded;
}

/// A document with every key that the schema knows.
Json everything(const Json& schema, const Json& definitions) {
  if (schema.contains("$ref")) {
    const std::string ref = schema["$ref"];
    return everything(definitions[ref.substr(ref.rfind('/') + 1)], definitions);
  }
  if (schema.contains("allOf")) {
    Json out;
    for (const Json& part : schema["allOf"]) {
      const Json piece = everything(part, definitions);
      if (piece.is_object()) out.update(piece);
    }
    return out;
  }
  if (schema.contains("anyOf")) return everything(schema["anyOf"][0], definitions);
  if (schema.contains("enum")) return schema["enum"].back();
  if (schema.contains("properties")) {
    Json out = Json::object();
    for (const auto& [key, value] : schema["properties"].items()) {
      out[key] = everything(value, definitions);
    }
    return out;
  }
  const std::string type = schema["type"];
  if (type == "array") return Json::array({everything(schema["items"], definitions)});
  if (type == "object") return {{"f32", 2.0}};
  if (type == "boolean") return true;
  if (type == "integer") return 64;
  if (type == "number") return 1.5;
  return schema.value("pattern", "").starts_with("^r?w") ? "rw" : "text";
}

Json complete() {
  const Json schema = read(folder() / "schema.json");
  Json all = everything(schema, schema["definitions"]);
  all.erase("base");
  all["runner"]["frame_bytes"] = 256;
  // Its texts mean something.
  Json& instruction = all["instructions"][0];
  instruction["name"] = "copy";
  instruction["fragment"] = "kernel copy\nout d i32 []\nin s i32 []\nd[] = s[]\n";
  instruction["assembly"] = "mv {d}, {s}";
  instruction["constraints"] = {{"d", "r"}, {"s", "r"}};
  return all;
}

}  // namespace

TEST_CASE("target: every description that ships is as the schema says and loads") {
  for (const std::string& name : dojo::target::shipped()) {
    INFO(name);
    CHECK(judge(read(folder() / (name + ".json"))) == "");
    const auto loaded = dojo::target::load(name);
    INFO((loaded.ok() ? std::string() : loaded.error().text()));
    CHECK(loaded.ok());
    if (loaded.ok()) CHECK(loaded->name == name);
  }
}

TEST_CASE("target: the loader takes every key of the schema") {
  const Json all = complete();
  CHECK(judge(all) == "");
  const auto loaded = load(all);
  INFO((loaded.ok() ? std::string() : loaded.error().text()));
  CHECK(loaded.ok());
}

TEST_CASE("target: schema and loader refuse the same") {
  const auto refused = [](const Json& document) {
    CHECK(judge(document) != "");
    CHECK_FALSE(load(document).ok());
  };
  for (const char* where : {"", "/vector", "/runner", "/runner/reset", "/runner/console",
                            "/memories/0", "/counters/0", "/peak"}) {
    INFO(where);
    Json document = complete();
    document[Json::json_pointer(where)]["unheard_of"] = 1;
    refused(document);
  }
  for (const char* where : {"/triple", "/harts", "/vector/bits", "/runner/baud", "/runner/window",
                            "/memories/0/origin", "/cycles_are_time", "/mappings/0",
                            "/memories/0/roles/0", "/runner/transport", "/runner/timer/kind"}) {
    INFO(where);
    Json document = complete();
    document[Json::json_pointer(where)] = Json::array({7});
    refused(document);
  }
  for (const char* key : {"name", "triple", "runner", "tried_on"}) {
    INFO(key);
    Json document = complete();
    document.erase(key);
    refused(document);
  }
}
