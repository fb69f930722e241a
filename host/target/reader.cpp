// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace dojo::target {

namespace {

std::string kindOf(const nlohmann::json& value) { return value.type_name(); }

}  // namespace

Reader::Reader(const nlohmann::json& object, std::string file, std::string key, Problems& problems)
    : json_(&object), file_(std::move(file)), key_(std::move(key)), problems_(&problems) {
  if (!object.is_object()) {
    report("target.kind", "", fmt::format("expected an object, not {}", kindOf(object)));
  }
}

std::string Reader::place(const std::string& key) const {
  if (key_.empty() || key.empty()) return key_ + key;
  return key_ + "." + key;
}

void Reader::report(const std::string& code, const std::string& key, const std::string& message) {
  // A key that isn't known is mostly the one that is missing, misspelt.
  const bool tellsMore = code == "target.unknown-key" && problems_->first &&
                         problems_->first->code == "target.missing-key";
  if (problems_->first && !tellsMore) return;
  const std::string at = place(key);
  problems_->first =
      Error{code, at.empty() ? message : fmt::format("key '{}': {}", at, message), file_, ""};
}

void Reader::fail(const std::string& key, const std::string& expected) {
  report("target.value", key, "expected " + expected);
}

bool Reader::has(const std::string& key) {
  asked_.insert(key);
  return json_->is_object() && json_->contains(key);
}

const nlohmann::json* Reader::take(const std::string& key) {
  return has(key) ? &(*json_)[key] : nullptr;
}

std::string Reader::requiredText(const std::string& key) {
  if (!has(key)) {
    report("target.missing-key", key, "expected a text, but the key is missing");
    return "";
  }
  std::string out = text(key, "");
  if (out.empty()) fail(key, "a text that is not empty");
  return out;
}

std::string Reader::text(const std::string& key, const std::string& fallback) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    fail(key, "a text, not " + kindOf(*value));
    return fallback;
  }
  return value->get<std::string>();
}

std::string Reader::oneOf(const std::string& key, const std::vector<std::string>& allowed) {
  std::string out = text(key, allowed.front());
  if (std::find(allowed.begin(), allowed.end(), out) == allowed.end()) {
    fail(key, fmt::format("one of: {}, not '{}'", fmt::join(allowed, ", "), out));
  }
  return out;
}

std::vector<std::string> Reader::texts(const std::string& key,
                                       const std::vector<std::string>& allowed) {
  std::vector<std::string> out;
  const nlohmann::json* value = take(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(key, "a list of texts, not " + kindOf(*value));
    return out;
  }
  for (const nlohmann::json& item : *value) {
    if (!item.is_string()) {
      fail(key, "a list of texts, but one is " + kindOf(item));
      return out;
    }
    out.push_back(item.get<std::string>());
    if (!allowed.empty() &&
        std::find(allowed.begin(), allowed.end(), out.back()) == allowed.end()) {
      fail(key, fmt::format("only: {}; not '{}'{}", fmt::join(allowed, ", "), out.back(),
                            didYouMean(out.back(), allowed)));
    }
  }
  return out;
}

std::int64_t Reader::number(const std::string& key, std::int64_t fallback, std::int64_t minimum) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return fallback;
  std::int64_t out = fallback;
  if (value->is_number_integer()) {
    out = value->get<std::int64_t>();
  } else if (value->is_string() && value->get<std::string>().starts_with("0x")) {
    const std::string digits = value->get<std::string>();
    char* end = nullptr;
    out = static_cast<std::int64_t>(std::strtoull(digits.c_str(), &end, 16));
    if (end == nullptr || *end != '\0' || digits.size() < 3 || digits.size() > 18) {
      fail(key, "a hexadecimal number such as \"0x80000000\", not '" + digits + "'");
    }
    return out;
  } else {
    fail(key, "an integer, not " + value->dump());
    return fallback;
  }
  if (out < minimum) fail(key, fmt::format("an integer of at least {}, not {}", minimum, out));
  return out;
}

std::int64_t Reader::numberOrNative(const std::string& key, std::int64_t fallback,
                                    std::int64_t native) {
  if (has(key) && (*json_)[key].is_string() && (*json_)[key] == "native") return native;
  return number(key, fallback, 0);
}

double Reader::real(const std::string& key, double fallback) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return fallback;
  if (!value->is_number() || value->get<double>() <= 0) {
    fail(key, "a positive number, not " + value->dump());
    return fallback;
  }
  return value->get<double>();
}

bool Reader::flag(const std::string& key, bool fallback) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    fail(key, "true or false, not " + value->dump());
    return fallback;
  }
  return value->get<bool>();
}

std::map<std::string, double> Reader::numbers(const std::string& key) {
  std::map<std::string, double> out;
  const nlohmann::json* value = take(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    fail(key, "an object of numbers, not " + kindOf(*value));
    return out;
  }
  for (const auto& [name, item] : value->items()) {
    if (!item.is_number() || item.get<double>() <= 0) {
      fail(key + "." + name, "a positive number, not " + item.dump());
      return out;
    }
    out[name] = item.get<double>();
  }
  return out;
}

std::map<std::string, std::string> Reader::textsByName(const std::string& key) {
  std::map<std::string, std::string> out;
  const nlohmann::json* value = take(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    fail(key, "an object of texts, not " + kindOf(*value));
    return out;
  }
  for (const auto& [name, item] : value->items()) {
    if (!item.is_string()) {
      fail(key + "." + name, "a text, not " + item.dump());
      return out;
    }
    out[name] = item.get<std::string>();
  }
  return out;
}

Reader Reader::object(const std::string& key) {
  static const nlohmann::json kEmpty = nlohmann::json::object();
  const nlohmann::json* value = take(key);
  return Reader(value == nullptr ? kEmpty : *value, file_, place(key), *problems_);
}

void Reader::each(const std::string& key, const std::function<void(Reader&)>& fn) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_array()) {
    fail(key, "a list of objects, not " + kindOf(*value));
    return;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    Reader item((*value)[i], file_, fmt::format("{}[{}]", place(key), i), *problems_);
    fn(item);
  }
}

void Reader::finish() {
  if (!json_->is_object()) return;
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : json_->items()) {
    if (!asked_.contains(key)) {
      report("target.unknown-key", key,
             fmt::format("no such key here; expected one of: {}{}", fmt::join(known, ", "),
                         didYouMean(key, known)));
    }
  }
}

}  // namespace dojo::target
