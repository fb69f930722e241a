// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.h"

#include <sstream>

namespace dojo::test {

namespace {

bool startsWith(const std::string& line, const std::string& prefix) {
  return line.rfind(prefix, 0) == 0;
}

}  // namespace

Result<GoldenFile> parseGolden(const std::string& text) {
  GoldenFile file;
  std::string* part = &file.header;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (startsWith(line, "== ")) {
      file.cases.emplace_back();
      file.cases.back().title = line.substr(3);
      part = &file.cases.back().program;
    } else if (startsWith(line, "-- ")) {
      if (file.cases.empty()) return Error{"golden.syntax", "a part before the first case", "", ""};
      GoldenCase& last = file.cases.back();
      const std::string word = line.substr(3);
      if (word == "moves") {
        part = &last.moves;
      } else if (word == "gives" || word == "refuses") {
        last.outcome = word;
        part = &last.expected;
      } else {
        return Error{"golden.syntax", "unknown part '" + word + "'", last.title, ""};
      }
    } else {
      *part += line + "\n";
    }
  }
  return file;
}

std::string toString(const GoldenFile& file) {
  std::string out = file.header;
  for (const GoldenCase& one : file.cases) {
    out += "== " + one.title + "\n" + one.program + "-- moves\n" + one.moves + "-- " + one.outcome +
           "\n" + one.expected;
  }
  return out;
}

}  // namespace dojo::test
