// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Strict reading of JSON objects: every key is asked for once, leftovers and wrong kinds are
/// errors that name the file, the key and what was expected.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace dojo::target {

/// A description with its bases merged in.
struct Document {
  nlohmann::json json;
  std::string file;
  std::string hash;  ///< FNV-1a of the merged text, as 16 hex digits.
};
/// Finds a description by name or path, reads it and what it is based on. Errors:
/// "target.not-found" (with the nearest name), "target.syntax", "target.base".
[[nodiscard]] Result<Document> readDocument(const std::string& nameOrPath);

/// The first problem met while reading; later ones are consequences.
struct Problems {
  std::optional<Error> first;
};

class Reader {
 public:
  /// `key`: where the object stands in the file ("" for the whole, "vector", "memories[1]").
  Reader(const nlohmann::json& object, std::string file, std::string key, Problems& problems);

  [[nodiscard]] bool has(const std::string& key);
  std::string requiredText(const std::string& key);
  std::string text(const std::string& key, const std::string& fallback);
  /// A text from a list; the first stands where the key is missing.
  std::string oneOf(const std::string& key, const std::vector<std::string>& allowed);
  /// A list of texts, each from `allowed` (anything where that is empty); missing: empty.
  std::vector<std::string> texts(const std::string& key, const std::vector<std::string>& allowed);
  /// An integer of at least `minimum`; numbers may also be written as "0x..." texts.
  std::int64_t number(const std::string& key, std::int64_t fallback, std::int64_t minimum);
  /// The same, or the text "native".
  std::int64_t numberOrNative(const std::string& key, std::int64_t fallback, std::int64_t native);
  double real(const std::string& key, double fallback);
  bool flag(const std::string& key, bool fallback);
  /// An object of positive numbers by name.
  std::map<std::string, double> numbers(const std::string& key);
  /// An object of texts by name.
  std::map<std::string, std::string> textsByName(const std::string& key);
  Reader object(const std::string& key);
  void each(const std::string& key, const std::function<void(Reader&)>& fn);
  /// Reports keys that nobody asked for.
  void finish();
  /// Reports that `key` is not what was expected.
  void fail(const std::string& key, const std::string& expected);

 private:
  const nlohmann::json* take(const std::string& key);
  void report(const std::string& code, const std::string& key, const std::string& message);
  [[nodiscard]] std::string place(const std::string& key) const;

  const nlohmann::json* json_;
  std::string file_;
  std::string key_;
  Problems* problems_;
  std::set<std::string> asked_;
};

}  // namespace dojo::target
