// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file: version, key, arrays as counts and elements, and a hash of all of that.
#include "measure/verification_cache.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace dojo::measure {
namespace {

/// Counts changes of the reference's arithmetic and of this format.
constexpr std::string_view kVersion = "dojo-reference 2\n";
constexpr std::size_t kLargestFile = std::size_t{1} << 30;
constexpr std::uintmax_t kMostKept = kLargestFile;
constexpr const char* kExtension = ".reference";

std::string pathOf(const std::string& folder, const std::string& key) {
  return (std::filesystem::path(folder) / (hex(contentHash(key)) + kExtension)).string();
}

template <class T>
void put(std::string& out, const T& value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  bool take(T& out) {
    if (bytes_.size() < sizeof out) return false;
    std::memcpy(&out, bytes_.data(), sizeof out);
    bytes_.remove_prefix(sizeof out);
    return true;
  }
  bool expect(std::string_view text) {
    if (!bytes_.starts_with(text)) return false;
    bytes_.remove_prefix(text.size());
    return true;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string referenceKey(const std::string& programText, ir::InputSet set, std::uint64_t seed) {
  return programText + "set " + std::string(ir::name(set)) + " seed " + std::to_string(seed) + "\n";
}

std::optional<References> readReferences(const std::string& folder, const std::string& key) {
  if (folder.empty()) return std::nullopt;
  const Result<std::string> file = readFile(pathOf(folder, key), kLargestFile);
  if (!file || file->size() < sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view body(file->data(), file->size() - sizeof(std::uint64_t));
  std::uint64_t hash = 0;
  std::memcpy(&hash, file->data() + body.size(), sizeof hash);
  if (hash != contentHash(body)) return std::nullopt;
  Reader reader(body);
  std::uint64_t arrays = 0;
  if (!reader.expect(kVersion) || !reader.expect(key) || !reader.take(arrays)) return std::nullopt;
  References out;
  for (; arrays > 0; --arrays) {
    std::uint64_t count = 0;
    if (!reader.take(count) || count > reader.left() / sizeof(ir::Bounded)) return std::nullopt;
    auto& array = out.emplace_back(count);
    for (ir::Bounded& element : array) {
      if (!reader.take(element)) return std::nullopt;
    }
  }
  return out;
}

namespace {

void removeOldest(const std::string& folder) {
  struct File {
    std::filesystem::file_time_type time;
    std::uintmax_t size;
    std::filesystem::path path;
  };
  std::error_code error;
  std::vector<File> files;
  std::uintmax_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != kExtension) continue;
    files.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
    if (error) return;
    sum += files.back().size;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.time < b.time; });
  for (std::size_t k = 0; k < files.size() && sum > kMostKept; ++k) {
    std::filesystem::remove(files[k].path, error);
    sum -= files[k].size;
  }
}

}  // namespace

void writeReferences(const std::string& folder, const std::string& key,
                     const References& references) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::string out = std::string(kVersion) + key;
  put(out, static_cast<std::uint64_t>(references.size()));
  for (const std::vector<ir::Bounded>& array : references) {
    put(out, static_cast<std::uint64_t>(array.size()));
    for (const ir::Bounded& element : array) put(out, element);
  }
  put(out, contentHash(out));
  if (writeFile(pathOf(folder, key), out)) removeOldest(folder);
}

}  // namespace dojo::measure
