// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of the tree, as tests: who may include whom, what every file says, how it looks.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DOJO_SOURCE_DIR;

struct File {
  std::string name;  ///< From the root, with '/'.
  std::string text;
  [[nodiscard]] bool endsWith(const std::string& ending) const { return name.ends_with(ending); }
  [[nodiscard]] bool under(const std::string& folder) const {
    return name.starts_with(folder + "/");
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
};

const std::vector<File>& files() {
  static const std::vector<File> all = [] {
    std::vector<File> out;
    for (const char* folder : {"host", "runner", "targets", "toolchains", "scripts", "tests"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        out.push_back({fs::relative(entry.path(), kRoot).generic_string(), text.str()});
      }
    }
    std::sort(out.begin(), out.end(), [](const File& a, const File& b) { return a.name < b.name; });
    return out;
  }();
  return all;
}

bool isCode(const File& file) {
  return file.endsWith(".cpp") || file.endsWith(".h") || file.endsWith(".c") || file.endsWith(".S");
}

/// "host/ir/tree.h" -> "ir"; "" outside host/.
std::string library(const File& file) {
  if (!file.under("host")) return "";
  const std::string rest = file.name.substr(5);
  const std::size_t slash = rest.find('/');
  return slash == std::string::npos ? "" : rest.substr(0, slash);
}

/// What follows #include on a line: with its quotes or brackets; empty for other lines.
std::string included(const std::string& line) {
  if (!line.starts_with("#include ")) return "";
  return line.substr(9);
}

/// The libraries that each may include, besides itself: the arrows of the architecture.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> allowed = [] {
    std::map<std::string, std::set<std::string>> out;
    const std::set<std::string> ground = {"base", "ir", "target"};
    out["base"] = {};
    out["ir"] = {"base"};
    out["target"] = {"base", "ir"};
    out["kernels"] = {"base", "ir"};
    out["region"] = ground;
    out["moves"] = ground;
    out["moves"].insert("region");
    for (const char* name : {"codegen", "search", "log", "proof"}) {
      out[name] = ground;
      out[name].insert({"moves", "region"});
    }
    out["agent"] = {"base", "ir", "target", "kernels", "moves", "search", "proof"};
    out["link"] = {"base"};
    out["transport"] = {"base", "target", "protocol"};
    out["measure"] = {"base", "ir", "target", "protocol", "transport"};
    out["tune"] = {"base",   "ir",    "target", "kernels", "moves",   "codegen",   "link",
                   "search", "agent", "log",    "proof",   "measure", "transport", "protocol"};
    out["bringup"] = out["tune"];
    out["bringup"].insert("tune");
    out["cli"] = out["bringup"];
    out["cli"].insert("bringup");
    return out;
  }();
  return allowed;
}

/// Headers of others that stay within a few libraries.
const std::map<std::string, std::set<std::string>>& confined() {
  static const std::map<std::string, std::set<std::string>> where = {
      {"<llvm/", {"codegen", "link"}},
      {"<sqlite3", {"log"}},
      {"<nlohmann/", {"target", "log", "agent", "cli"}},
      {"<CLI/", {"cli"}},
      {"<mpfr", {"proof"}},
      {"<isl/", {"ir"}},
      {"<dnnl", {"agent"}},
      {"<curl/", {"agent"}},
  };
  return where;
}

}  // namespace

TEST_CASE("libraries include only what the architecture lets them") {
  for (const File& file : files()) {
    const std::string own = library(file);
    if (own.empty() || !isCode(file)) continue;
    INFO(file.name);
    REQUIRE(arrows().contains(own));
    for (const std::string& line : file.lines()) {
      const std::string what = included(line);
      if (what.starts_with('"')) {
        const std::string other = what.substr(1, what.find('/') - 1);
        INFO(line);
        CHECK((other == own || arrows().at(own).contains(other)));
      }
      for (const auto& [header, libraries] : confined()) {
        INFO(line);
        if (what.starts_with(header)) CHECK(libraries.contains(own));
      }
    }
  }
}

TEST_CASE("the runner includes nothing of the host") {
  for (const File& file : files()) {
    // What writes a port's files from a description runs on the host.
    if (!file.under("runner") || file.under("runner/generate") || !isCode(file)) continue;
    for (const std::string& line : file.lines()) {
      const std::string what = included(line);
      INFO(file.name << ": " << line);
      if (!what.starts_with('"')) continue;
      for (const auto& [name, unused] : arrows()) CHECK_FALSE(what.starts_with("\"" + name + "/"));
    }
  }
}

TEST_CASE("every source says its licence, and every header what it is") {
  for (const File& file : files()) {
    const bool script = file.endsWith(".sh") || file.endsWith(".py") || file.endsWith(".cmake") ||
                        file.endsWith("CMakeLists.txt");
    if (!isCode(file) && !script) continue;
    INFO(file.name);
    CHECK(file.text.substr(0, 200).find(
              "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception") != std::string::npos);
    if (file.endsWith(".h")) CHECK(file.text.substr(0, 400).find("\\file") != std::string::npos);
  }
}

// CMake takes a list of the names: what such a character joins or cuts isn't run.
TEST_CASE("every case of the tests has a name that can be asked for") {
  const std::string begin = std::string("TEST_CASE") + "(\"";
  for (const File& file : files()) {
    for (const std::string& line : file.lines()) {
      if (!file.endsWith(".cpp") || !line.starts_with(begin)) continue;
      INFO(file.name << ": " << line);
      const std::size_t end = line.find('"', begin.size());
      CHECK(line.substr(0, end).find_first_of("[];") == std::string::npos);
    }
  }
}

TEST_CASE("files stay short enough to read") {
  for (const File& file : files()) {
    if (!isCode(file)) continue;
    INFO(file.name);
    CHECK(file.lines().size() <= 700);
  }
}

TEST_CASE("every waiver of a lint names the check and gives a reason") {
  const std::string word = std::string("NO") + "LINT";
  for (const File& file : files()) {
    if (!isCode(file)) continue;
    for (const std::string& line : file.lines()) {
      const std::size_t at = line.find(word);
      if (at == std::string::npos) continue;
      INFO(file.name << ": " << line);
      const std::size_t reason = line.find("): ", at);
      CHECK(reason != std::string::npos);
    }
  }
}

TEST_CASE("every shipped kernel has its reference in the tests, every move its golden file") {
  std::string support;
  for (const File& file : files()) {
    if (file.under("tests/support") || file.under("tests/unit/kernels")) support += file.text;
  }
  for (const File& file : files()) {
    if (file.under("host/kernels") && file.endsWith(".dojo")) {
      INFO(file.name);
      CHECK(support.find('"' + fs::path(file.name).stem().string() + '"') != std::string::npos);
    }
    if (file.under("host/moves/rules") && file.endsWith(".cpp")) {
      std::size_t at = 0;
      const std::string key = ".name = \"";
      while ((at = file.text.find(key, at)) != std::string::npos) {
        at += key.size();
        const std::string move = file.text.substr(at, file.text.find('"', at) - at);
        INFO(file.name << ": " << move);
        CHECK(fs::exists(kRoot / "tests" / "golden" / (move + ".txt")));
      }
    }
  }
}

TEST_CASE("every source is formatted") {
  std::string list;
  for (const File& file : files()) {
    if (file.endsWith(".cpp") || file.endsWith(".h") || file.endsWith(".c")) {
      list += " '" + (kRoot / file.name).string() + "'";
    }
  }
  const std::string command = "clang-format --dry-run --ferror-limit=1 -Werror" + list + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char chunk[4096];
  while (std::fgets(chunk, sizeof chunk, pipe) != nullptr) output += chunk;
  INFO(output);
  CHECK(pclose(pipe) == 0);
}
