// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where target descriptions are, and merging them with what they are based on.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "target/reader.h"
#include "target/target.h"

namespace dojo::target {

namespace {

namespace fs = std::filesystem;

constexpr int kMostBases = 8;

/// $DOJO_TARGETS, then targets/ beside the program's folder, then the source tree's.
std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  if (const char* chosen = std::getenv("DOJO_TARGETS")) out.emplace_back(chosen);
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  if (!self.empty()) out.push_back(self.parent_path().parent_path() / "targets");
  out.emplace_back(DOJO_TARGETS_DIR);
  return out;
}

bool isPath(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

Result<std::string> locate(const std::string& nameOrPath) {
  if (isPath(nameOrPath)) return nameOrPath;
  for (const fs::path& folder : folders()) {
    const fs::path file = folder / (nameOrPath + ".json");
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  const std::vector<std::string> known = shipped();
  return Error{"target.not-found",
               fmt::format("no target '{}'; there are: {}{}; or give the path of a .json file",
                           nameOrPath, fmt::join(known, ", "), didYouMean(nameOrPath, known)),
               "", ""};
}

/// Keys of `over` replace those of `base`, objects are merged key by key, lists are replaced.
void merge(nlohmann::json& base, const nlohmann::json& over) {
  for (const auto& [key, value] : over.items()) {
    if (value.is_object() && base.contains(key) && base[key].is_object()) {
      merge(base[key], value);
    } else {
      base[key] = value;
    }
  }
}

Result<nlohmann::json> readMerged(const std::string& file, int depth) {
  if (depth > kMostBases) {
    return Error{"target.base",
                 fmt::format("more than {} descriptions are based on each other", kMostBases), file,
                 ""};
  }
  Result<std::string> text = readFile(file, std::size_t{1} << 20);
  if (!text) return text.error();
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(*text);
  } catch (const nlohmann::json::exception& problem) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string_view what = problem.what();
    if (const std::size_t at = what.find("] "); at != what.npos) what.remove_prefix(at + 2);
    return Error{"target.syntax", fmt::format("not JSON: {}", what), file, ""};
  }
  if (!json.is_object()) {
    return Error{"target.syntax", "expected one JSON object", file, ""};
  }
  if (!json.contains("base")) return json;
  if (!json["base"].is_string()) {
    return Error{"target.base", "key 'base': expected the name or path of a target", file, ""};
  }
  const std::string baseName = json["base"];
  json.erase("base");
  Result<std::string> baseFile =
      isPath(baseName) ? Result<std::string>((fs::path(file).parent_path() / baseName).string())
                       : locate(baseName);
  if (!baseFile) {
    return Error{"target.base", "key 'base': " + baseFile.error().message, file, ""};
  }
  Result<nlohmann::json> base = readMerged(*baseFile, depth + 1);
  if (!base) return base;
  merge(*base, json);
  return base;
}

}  // namespace

Result<Document> readDocument(const std::string& nameOrPath) {
  Result<std::string> file = locate(nameOrPath);
  if (!file) return file.error();
  Result<nlohmann::json> json = readMerged(*file, 0);
  if (!json) return json.error();
  Document out;
  out.hash = hex(contentHash(json->dump()));
  out.json = std::move(*json);
  out.file = *file;
  return out;
}

std::vector<std::string> shipped() {
  std::vector<std::string> out;
  for (const fs::path& folder : folders()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".json" && entry.path().stem() != "schema") {
        out.push_back(entry.path().stem().string());
      }
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace dojo::target
